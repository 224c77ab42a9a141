package node_test

import (
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/operation/children"
	parentop "voltbus/operation/parent"
	"voltbus/point"
	"voltbus/testing/link"
)

// pair is a parent and its child, with a network between them that can fail.
type pair struct {
	t             *testing.T
	parent, child *running
	way           *link.Link
	sent          int // samples that the child acknowledged
}

// newPair runs both. extra are sections of the child's configuration.
func newPair(t *testing.T, extra string) *pair {
	t.Helper()
	return newPairOf(t, "", extra)
}

// newPairOf is newPair with sections for the parent, too.
func newPairOf(t *testing.T, above, extra string) *pair {
	t.Helper()
	p := &pair{t: t, way: link.New(t)}
	p.parent = run(t, nodeOf(t, t.TempDir(), "campus", listenAnywhere+above))
	p.way.Lead(p.parent.BusAddr())
	p.child = run(t, nodeOf(t, t.TempDir(), "plant", listenNowhere+extra))
	below(t, p.parent, p.child, p.way.Addr(), "campus/plant")
	return p
}

// record lets the child acknowledge n samples more.
func (p *pair) record(n int) {
	p.t.Helper()
	p.child.record(numbers("p", p.sent, n))
	p.sent += n
}

// equal waits until the parent has stored what the child acknowledged, each sample once.
func (p *pair) equal() {
	p.t.Helper()
	eventually(p.t, "the parent has what the child acknowledged", func() bool {
		n, balanced := stored(p.parent, "plant")
		return n >= uint64(p.sent) && balanced
	})
	if n := p.parent.stored("campus/plant/p"); n != p.sent {
		p.t.Errorf("the parent has %d samples, the child acknowledged %d: %+v", n, p.sent, p.parent.ledger().Origins)
	}
	if u := p.uplink(); u.Waiting != 0 {
		eventually(p.t, "nothing waits at the child", func() bool { return p.uplink().Waiting == 0 })
	}
}

func (p *pair) uplink() *answer.Uplink {
	p.t.Helper()
	a, err := client.Do(wait(p.t), p.child.Client, parentop.Get, struct{}{})
	if err != nil || a.Uplink == nil {
		p.t.Fatalf("the child's parent is %+v, %v", a, err)
	}
	return a.Uplink
}

func (p *pair) connected() {
	p.t.Helper()
	eventually(p.t, "the child is connected", func() bool { return p.uplink().State == "connected" })
}

func TestNothingIsLostOnALinkThatFails(t *testing.T) {
	t.Parallel()
	p := newPair(t, "")
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"cut for a moment, again and again", func() {
			for range 5 {
				p.record(500)
				p.way.Cut()
			}
		}},
		{"down while much is recorded", func() {
			p.way.Lead("")
			p.way.Cut()
			for range 40 {
				p.record(500)
			}
			p.way.Lead(p.parent.BusAddr())
		}},
		{"flapping", func() {
			p.way.Flap(24 << 10)
			p.way.Cut()
			for range 100 {
				p.record(500)
			}
			p.equal()
			p.way.Flap(0)
		}},
		{"far", func() {
			p.way.Delay(150 * time.Millisecond)
			for range 20 {
				p.record(500)
			}
			p.equal()
			p.way.Delay(0)
		}},
		{"nothing comes up for a while", func() {
			p.connected()
			p.way.Hold(link.Up, true)
			for range 20 {
				p.record(500)
			}
			eventually(t, "blocks are under way", func() bool { return p.uplink().Lanes[0].Frames+p.uplink().Lanes[1].Frames > 0 })
			p.way.Hold(link.Up, false)
		}},
		{"nothing comes back for a while", func() {
			p.connected()
			p.way.Hold(link.Down, true)
			for range 20 {
				p.record(500)
			}
			eventually(t, "the parent has blocks", func() bool {
				n, _ := stored(p.parent, "plant")
				return n == uint64(p.sent)
			})
			if p.uplink().Waiting == 0 {
				t.Error("the child takes for acknowledged what nobody answered")
			}
			p.way.Hold(link.Down, false)
		}},
		{"nothing comes back, and then it is cut", func() {
			p.connected()
			p.way.Hold(link.Down, true)
			for range 20 {
				p.record(500)
			}
			eventually(t, "the parent has blocks", func() bool {
				n, _ := stored(p.parent, "plant")
				return n == uint64(p.sent)
			})
			p.way.Cut()
			p.way.Hold(link.Down, false)
		}},
	} {
		c.do()
		p.equal()
		if t.Failed() {
			t.Fatalf("the link was %s", c.name)
		}
	}
}

func TestOnASlowLinkUrgentReadingsPassTheBacklog(t *testing.T) {
	t.Parallel()
	p := newPair(t, "uplink: {urgent: [alarm]}\n")
	p.connected()
	p.way.Lead("")
	p.way.Cut()
	const rate = 64 << 10
	for i := range 100 { // some four megabytes that do not pack
		s := numbers("p", i, 1)
		s[0].Value = point.TextOf(noise(50_000))
		p.child.record(s)
	}
	p.way.Rate(rate)
	p.way.Lead(p.parent.BusAddr())
	eventually(t, "the backlog is under way", func() bool { return p.way.Carried(link.Up) > 2*rate })
	p.child.record(numbers("alarm", 0, 1))
	before := p.way.Carried(link.Up)
	eventually(t, "the alarm is at the parent", func() bool { return p.parent.stored("campus/plant/alarm") == 1 })
	if octets := p.way.Carried(link.Up) - before; octets > 1<<20 {
		t.Errorf("%d bytes of the backlog went before the alarm", octets)
	}
	if n, _ := stored(p.parent, "plant"); n >= 100 {
		t.Error("the backlog was there before")
	}
	p.way.Rate(0)
	eventually(t, "all is there", func() bool { return p.parent.stored("campus/plant/p") == 100 })
	if o := p.parent.ledger().Origins; len(o) < 2 || o[0].Missing+o[1].Missing != 0 {
		t.Errorf("the ledger: %+v", o)
	}
	if latest, err := p.parent.Latest(wait(t), client.Span{Points: []string{"campus/plant/alarm"}, Local: true}); err != nil || len(latest.Samples) != 1 {
		t.Errorf("the alarm: %+v, %v", latest, err)
	}
}

// Each connection carries a seventh of the block, as on a slow link that is cut each minute.
func TestABlockAsLargeAsTheLogTakesComesOverALinkThatIsCutAgainAndAgain(t *testing.T) {
	t.Parallel()
	p := newPair(t, "uplink: {urgent: [alarm]}\n")
	p.connected()
	p.way.Lead("")
	p.way.Cut()
	const texts, each = 17, 64 << 10 // a block is closed when it has a mebibyte
	s := numbers("p", 0, texts)
	for i := range s {
		s[i].Value = point.TextOf(noise(each))
	}
	p.child.record(s)
	p.sent += texts
	const size = texts * each
	before := p.way.Carried(link.Up)
	p.way.Flap(size / 7)
	p.way.Lead(p.parent.BusAddr())
	eventually(t, "a part of it is there", func() bool { return p.way.Carried(link.Up)-before > size/7 })
	p.child.record(numbers("alarm", 0, 1))
	eventually(t, "the alarm is at the parent", func() bool { return p.parent.stored("campus/plant/alarm") == 1 })
	p.record(10)
	eventually(t, "all is there", func() bool { return p.parent.stored("campus/plant/p") == p.sent })
	if octets := p.way.Carried(link.Up) - before; octets > 2*size {
		t.Errorf("%d bytes went up for a block of %d", octets, size)
	}
	p.way.Flap(0)
	p.child.record(numbers("alarm", 1, 1))
	eventually(t, "the urgent lane goes on", func() bool { return p.parent.stored("campus/plant/alarm") == 2 })
	for _, o := range p.parent.ledger().Origins {
		if o.Missing+o.Repeated != 0 || !o.Balanced {
			t.Errorf("the ledger: %+v", o)
		}
	}
}

// seen reports whether the parent takes the child for connected.
func (p *pair) seen() bool {
	p.t.Helper()
	c, err := client.Do(wait(p.t), p.parent.Client, children.Get, children.Node{Name: "plant"})
	if err != nil {
		p.t.Fatal(err)
	}
	return c.Online != nil
}

// Neither end hears that the other one is gone: no packet says so. Each notices it by the silence.
func TestBothEndsNoticeThatNothingComesAnyMore(t *testing.T) {
	for _, c := range []struct {
		name     string
		up, down bool
	}{
		{"nothing comes up", true, false},
		{"nothing comes down", false, true},
		{"nothing comes in either direction", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const silence = "uplink: {silence: 1s}\n"
			p := newPairOf(t, silence, silence)
			p.record(100)
			p.equal()
			p.way.Hold(link.Up, c.up)
			p.way.Hold(link.Down, c.down)
			p.record(100)
			eventually(t, "the child says that it has no connection, and why", func() bool {
				a, err := client.Do(wait(t), p.child.Client, parentop.Get, struct{}{})
				return err == nil && a.Uplink != nil && a.Uplink.State == "connecting" && a.Uplink.Reason != ""
			})
			eventually(t, "the parent shows that it is gone", func() bool { return !p.seen() })
			if u := p.uplink(); u.Waiting == 0 {
				t.Errorf("the child takes for acknowledged what nobody answered: %+v", u)
			}
			p.record(100)
			p.way.Hold(link.Up, false)
			p.way.Hold(link.Down, false)
			p.equal()
			p.connected()
			eventually(t, "the parent shows that it is there", p.seen)
			if o := of(p.parent, "plant"); o.Missing != 0 || !o.Balanced {
				t.Errorf("the ledger: %+v", o)
			}
		})
	}
}
