package field

import (
	"context"
	"fmt"
	"time"

	"voltbus/lab/experiment"
	"voltbus/lab/regulate"
)

// regulationLeaders studies a campus without a master.
func regulationLeaders() experiment.Experiment {
	return experiment.Experiment{
		Name:     "regulation-leaders",
		Title:    "A campus without a master: its leader is killed again and again",
		Question: "How well does a campus follow a signal whose nodes elect a leader, if messages are lost and each leader is killed?",
		Source:   "PNNL FY17, Appendix A: nodes elect the smallest address, and elect anew when it is down; no score is published",
		Method: regulationMethod(
			"Nodes with units each say every 10 seconds that they are there, and how their units are. A node that has been silent for 30 seconds is taken for absent; the smallest address that is heard leads, and decides each 2 seconds.",
			"At each kill the process of the leader ends at once, without a hand-over. It starts again a minute later, knows nothing, and takes over as the smallest address. Its units outlive it, with their thermostats.",
		),
		Limits: regulationLimits(),
		Metric: experiment.Metric{Name: "composite score", Unit: "of 1", Axis: "% of messages lost", Higher: true},
		Settings: []experiment.Setting{
			{Name: "nodes", Default: "50", Quick: "20", Doc: "nodes of the campus"},
			{Name: "units", Default: "1000", Quick: "200", Doc: "air conditioners of all nodes"},
			{Name: "length", Default: "24h", Quick: "2h", Doc: "virtual time"},
			{Name: "losses", Default: "0,1,5,20", Quick: "5", Doc: "messages that are lost, in %"},
			{Name: "kill", Default: "10m", Doc: "between two kills of the leader, at least 2m"},
			{Name: "share", Default: "20", Doc: "capacity that is offered, in % of the need"},
		},
		Run: func(ctx context.Context, b *experiment.Bench) error {
			losses, err := percents("losses", b.Text("losses"))
			if err != nil {
				return err
			}
			for _, kill := range []time.Duration{0, max(2*time.Minute, b.Duration("kill"))} {
				for _, loss := range losses {
					if err := lead(ctx, b, kill, loss); err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
}

// lead measures a case.
func lead(ctx context.Context, b *experiment.Bench, kill time.Duration, loss int) error {
	line := "leader lives"
	if kill > 0 {
		line = "leader killed each " + kill.String()
	}
	c := experiment.Case{Name: fmt.Sprintf("%s, %d %% lost", line, loss), X: float64(loss), Line: line}
	return b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) error {
		o, err := regulate.RunCampus(ctx, regulate.Campus{Nodes: max(1, b.Int("nodes")), Kill: kill, Config: regulate.Config{
			Units: b.Int("units"), Length: b.Duration("length"), Loss: float64(loss) / 100, Share: float64(b.Int("share")) / 100,
			Seed: uint64(b.Seed()) + uint64(t.Repeat), //nolint:gosec // a seed is any number
		}})
		if err != nil {
			return err
		}
		tellRegulation(t, &o.Outcome, b.Duration("length"))
		t.Also("kills", "", float64(o.Kills))
		t.Also("terms", "", float64(o.Terms))
		t.Also("orders of old leaders refused", "", float64(o.Old))
		return nil
	})
}
