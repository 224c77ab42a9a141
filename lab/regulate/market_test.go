package regulate_test

import (
	"testing"
	"time"

	"voltbus/lab/regulate"
)

func trade(t *testing.T, c regulate.Campus) *regulate.Led {
	t.Helper()
	l, err := regulate.RunMarket(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("composite %.3f, precision %.3f, RMS %.3f, worst comfort %.4f, switches %.0f (%.0f by themselves), %d kills, %.1f messages/s, %s",
		l.Score.Composite, l.Score.Precision, l.Score.RMS, l.Comfort.Worst, l.Switches, l.Natural, l.Kills, float64(l.Messages)/c.Length.Seconds(), l.Took)
	return l
}

func TestSitesThatTradeFollowTheSignalAlsoWithLossAndWithoutTheirAuctioneer(t *testing.T) {
	c := regulate.Campus{Config: regulate.Config{Units: 100, Seed: 1, Length: time.Hour}, Nodes: 10}
	for name, change := range map[string]func(*regulate.Campus){
		"nothing happens": func(*regulate.Campus) {},
		"5 % are lost":    func(c *regulate.Campus) { c.Loss = 0.05 },
		"20 % are lost":   func(c *regulate.Campus) { c.Loss = 0.2 },
		"each auctioneer is killed": func(c *regulate.Campus) {
			c.Loss, c.Kill = 0.05, 10*time.Minute
		},
		"fans": func(c *regulate.Campus) { c.Fans = 0.3 },
	} {
		t.Run(name, func(t *testing.T) {
			c := c
			change(&c)
			l := trade(t, c)
			if !(l.Score.Composite >= 0.85-c.Loss) || l.Comfort.Worst > 0.5 || l.Early > 0 {
				t.Errorf("%+v", l)
			}
			if c.Kill > 0 && l.Kills == 0 {
				t.Error("nobody was killed")
			}
			if c.Loss == 0 {
				return
			}
			if again := trade(t, c); again.Digest != l.Digest {
				t.Error("two runs with one seed differ")
			}
		})
	}
}
