package regulate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"time"

	"voltbus/regulation/score"
	"voltbus/regulation/share"
	"voltbus/regulation/signal"
)

// stale is how long an offer of another campus counts.
const stale = 3 * beat

// Group is several campuses that meet one need together: each elects a leader, and the leaders tell each other what they can contribute.
type Group struct {
	Campus // each one; Units does not count

	Units []int   // of each campus
	Need  float64 // that the signal 1 asks of all, as a share of the baseline of the hour's begin; 0: 0.15
}

// Met is what a run of several campuses measured.
type Met struct {
	Led // of all together

	Parts   []float64 // kW of each campus, the mean amount of what its leader took on
	Offers  []float64 // kW of each campus, the mean of what it offered in the direction of the need
	Missing float64   // share of the need that nobody offered to meet, the mean
}

// group is the world of such a run.
type group struct {
	c        Group
	campuses []*campus
	signal   *signal.Signal
	need     float64 // kW that the signal 1 asks for in this hour
	answer   []float64
	asked    float64 // sum of the amounts of the need
	met      Met
}

// RunGroup runs several campuses. It ends early with ctx.
func RunGroup(ctx context.Context, c Group) (*Met, error) {
	began := time.Now()
	if c.Need == 0 {
		c.Need = 0.15
	}
	g := &group{c: c, signal: signal.Generate(c.Seed, c.Length)}
	for i, units := range c.Units {
		one := c.Campus
		one.Units, one.Seed = units, c.Seed+uint64(i) //nolint:gosec // not negative
		w := newCampus(one)
		for _, b := range w.nodes {
			b.others = share.NewExchange(stale)
		}
		g.campuses = append(g.campuses, w)
	}
	g.met.Parts, g.met.Offers = make([]float64, len(c.Units)), make([]float64, len(c.Units))
	n := int(c.Length / tick)
	if err := each(ctx, n, g.pass); err != nil {
		return nil, err
	}
	if err := g.account(n); err != nil {
		return nil, err
	}
	g.met.Took = time.Since(began)
	return &g.met, nil
}

func campusName(i int) string { return fmt.Sprintf("campus-%d", i+1) }

// pass lets a tick pass on all campuses.
func (g *group) pass(i int) {
	at := time.Duration(i) * tick
	hour := at%time.Hour == 0
	var power, hold float64
	for _, w := range g.campuses {
		p, h := w.live(w.begin.Add(at), outside(at))
		if hour {
			w.offer(w.c.Share * h)
		}
		w.measure(p, h)
		power, hold = power+p, hold+h
	}
	if hour {
		g.need = g.c.Need * hold
	}
	g.answer = append(g.answer, (hold-power)/g.need)
	need := -g.signal.Values[i] * g.need // positive: consume more
	g.asked += math.Abs(need)
	for k, w := range g.campuses {
		g.tell(i, k, need)
		w.serve(i, func(b *building) float64 {
			part, _ := b.others.Part(w.begin.Add(at), campusName(k), need)
			return -part / w.capacity
		})
	}
}

// tell has the leader of a campus say each beat what it offers, and notes its part.
func (g *group) tell(i, k int, need float64) {
	at := time.Duration(i) * tick
	w := g.campuses[k]
	now := w.begin.Add(at)
	for _, b := range w.nodes {
		if b.process == nil || !b.process.Leads() {
			continue
		}
		st := b.process.Status()
		o := share.Offer{Campus: campusName(k), Term: b.process.Leader().Term, At: now}
		most := w.c.Share * st.Baseline
		o.More = min(most, max(0, st.Expected+st.More-st.Baseline))
		o.Less = min(most, max(0, st.Baseline-st.Expected+st.Less))
		if at%beat == 0 {
			b.others.Hear(&o)
			g.spread(b, &o)
		}
		part, missing := b.others.Part(now, o.Campus, need)
		g.met.Parts[k] += math.Abs(part)
		if need > 0 {
			g.met.Offers[k] += o.More
		} else {
			g.met.Offers[k] += o.Less
		}
		if k == 0 {
			g.met.Missing += math.Abs(missing)
		}
		return
	}
}

// spread sends an offer to the nodes of all campuses, so that whoever leads next knows it.
func (g *group) spread(from *building, o *share.Offer) {
	for _, w := range g.campuses {
		for _, b := range w.nodes {
			if b == from {
				continue
			}
			w.out.Messages++
			if b.process != nil && w.arrives() {
				b.others.Hear(o)
			}
		}
	}
}

// account sums up.
func (g *group) account(ticks int) error {
	report, err := score.Judge(g.signal, &signal.Signal{Step: tick, Values: g.answer})
	if err != nil {
		return err
	}
	units, digest := 0, sha256.New()
	for k, w := range g.campuses {
		w.account(report, ticks)
		n := float64(len(w.places))
		units += len(w.places)
		all, one := &g.met.Outcome, &w.out
		all.Comfort.Mean += n * one.Comfort.Mean
		all.Comfort.Worst = max(all.Comfort.Worst, one.Comfort.Worst)
		all.Switches += n * one.Switches
		all.Natural += n * one.Natural
		all.Early += one.Early
		all.Refused += one.Refused
		all.Orders += one.Orders
		all.Messages += one.Messages
		all.Baseline += one.Baseline
		_, _ = io.WriteString(digest, one.Digest) // a hash takes everything
		g.met.Kills += w.led.Kills
		g.met.Old += w.old()
		for _, b := range w.nodes {
			g.met.Terms = max(g.met.Terms, b.token.Term)
		}
		g.met.Parts[k] /= float64(ticks)
		g.met.Offers[k] /= float64(ticks)
	}
	g.met.Missing /= max(g.asked, 1e-9)
	g.met.Comfort.Mean /= float64(units)
	g.met.Switches /= float64(units)
	g.met.Natural /= float64(units)
	g.met.Capacity = g.c.Need * g.met.Baseline
	g.met.Score, g.met.Digest = report, hex.EncodeToString(digest.Sum(nil))
	return nil
}
