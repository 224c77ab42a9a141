package regulate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"voltbus/regulation"
	"voltbus/regulation/master"
	"voltbus/regulation/member"
	"voltbus/regulation/quorum"
	"voltbus/regulation/share"
)

// The times of members.
const (
	beat    = 10 * time.Second
	silence = 30 * time.Second
	away    = time.Minute // of a leader that was killed
)

// Campus is a run without a master: nodes with some units each elect a leader.
type Campus struct {
	Config // Period is that of the leader; Report does not count: nodes report each 10 seconds

	Nodes int           // over which the units are distributed
	Kill  time.Duration // between two kills of the leader; 0: none
	Raft  bool          // a majority elects the leader, not the smallest address
}

// building is a node: its process, and its units, which outlive it.
type building struct {
	address  string
	process  *member.Member // nil while it is killed
	back     int            // tick at which it starts again
	places   []*place
	names    map[string]*place
	outside  float64
	capacity float64 // kW, where each node has its own
	token    regulation.Token
	refused  int          // orders of old leaders
	kept     *quorum.Kept // on its disk, of elections by a majority

	others *share.Exchange // what leaders of all campuses offer, as the process knows; nil without other campuses
}

// Reports returns the states of the units.
func (b *building) Reports(now time.Time) []regulation.Report {
	out := make([]regulation.Report, len(b.places))
	for i, p := range b.places {
		out[i] = p.Unit.Report(now, b.outside)
	}
	return out
}

// Order carries an order out, or says why not.
func (b *building) Order(now time.Time, o *regulation.Order) regulation.Answer {
	p, ok := b.names[o.Unit]
	if !ok {
		return regulation.Answer{Number: o.Number, Code: regulation.NoSuchUnit, Report: regulation.Report{Unit: o.Unit}}
	}
	code := p.Order(now, o)
	p.switches.Observe(now, p.On(), p.Lockout())
	if code == regulation.OldTerm {
		b.refused++
	} else if o.Token.Term > b.token.Term {
		b.token = o.Token
	}
	return regulation.Answer{Number: o.Number, Code: code, Token: p.Token(), Report: p.Unit.Report(now, b.outside)}
}

// Token returns the newest that an order to any of the units had.
func (b *building) Token() regulation.Token { return b.token }

// Led is what a run without a master measured.
type Led struct {
	Outcome

	Kills int
	Terms uint64 // that began
	Old   int    // orders of old leaders that units refused
}

// campus is the world of such a run.
type campus struct {
	*world

	c     Campus
	nodes []*building
	inbox [][]member.Message // by node, for this tick
	next  [][]member.Message
	said  [][]member.Message // by node, in this tick
	led   Led
}

// RunCampus runs a campus whose nodes elect a leader. It ends early with ctx.
func RunCampus(ctx context.Context, c Campus) (*Led, error) {
	began := time.Now()
	w := newCampus(c)
	if err := w.through(ctx, w.pass); err != nil {
		return nil, err
	}
	w.led.Outcome, w.led.Old = w.out, w.old()
	w.led.Took = time.Since(began)
	for _, b := range w.nodes {
		w.led.Terms = max(w.led.Terms, b.token.Term)
	}
	return &w.led, nil
}

func newCampus(c Campus) *campus {
	w := &campus{world: newWorld(c.Config), c: c}
	w.c.Config = w.world.c                      // with the defaults
	w.random = rand.New(rand.NewPCG(c.Seed, 2)) //nolint:gosec // a model, the same for a seed
	w.inbox, w.next, w.said = make([][]member.Message, c.Nodes), make([][]member.Message, c.Nodes), make([][]member.Message, c.Nodes)
	for i := range c.Nodes {
		b := w.settle(i, c.Nodes)
		w.nodes = append(w.nodes, b)
		w.start(b)
	}
	return w
}

// old counts the orders of old leaders that units refused.
func (w *campus) old() int {
	n := 0
	for _, b := range w.nodes {
		n += b.refused
	}
	return n
}

func addressOf(i int) string { return fmt.Sprintf("10.0.%03d.%03d", i/250, i%250) }

// settle makes one of some nodes, with its part of the units.
func (w *world) settle(i, nodes int) *building {
	b := &building{address: addressOf(i), names: map[string]*place{}}
	for k := i; k < len(w.places); k += nodes {
		p := &w.places[k]
		b.places = append(b.places, p)
		b.names[p.Name()] = p
	}
	return b
}

func (w *campus) start(b *building) {
	b.process = member.New(member.Config{
		Address: b.address, Beat: beat, Silence: silence, Period: max(w.c.Period, tick), Master: master.Config{Capacity: w.capacity, Wait: 2 * tick}, Elector: w.elector(b),
	}, b)
	if b.others != nil {
		b.others = share.NewExchange(stale) // the process before has taken with it what it knew
	}
}

// elector returns what elects by a majority, or nil.
func (w *campus) elector(b *building) member.Elector {
	if !w.c.Raft {
		return nil
	}
	all := make([]string, w.c.Nodes)
	for i := range all {
		all[i] = addressOf(i)
	}
	e, err := quorum.New(quorum.Config{Address: b.address, Members: all, Beat: beat, Silence: silence, Seed: w.c.Seed, Kept: b.kept, Keep: func(k *quorum.Kept) error {
		b.kept = new(*k)
		return nil
	}})
	if err != nil {
		panic(err) // what it kept itself cannot be wrong
	}
	return e
}

// pass lets a tick pass.
func (w *campus) pass(i int) {
	at := time.Duration(i) * tick
	power, hold := w.live(w.begin.Add(at), outside(at))
	if at%time.Hour == 0 {
		w.offer(w.c.Share * hold)
	}
	w.measure(power, hold)
	w.serve(i, func(*building) float64 { return w.signal.Values[i] })
}

// serve lets the network deliver, and the processes do what is due. asked is the signal that a process follows if it leads.
func (w *campus) serve(i int, asked func(b *building) float64) {
	at := time.Duration(i) * tick
	now := w.begin.Add(at)
	if w.c.Kill > 0 && i > 0 && at%w.c.Kill == 0 {
		w.kill(i)
	}
	w.inbox, w.next = w.next, w.inbox
	for _, b := range w.nodes {
		b.outside = outside(at)
		if b.process == nil && i >= b.back {
			w.start(b)
		}
	}
	abreast(len(w.nodes), func(k int) {
		b := w.nodes[k]
		w.said[k] = nil
		if b.process != nil && (len(w.inbox[k]) > 0 || !now.Before(b.process.Next())) {
			w.said[k] = b.process.Step(now, asked(b), w.inbox[k])
		}
		w.inbox[k] = w.inbox[k][:0]
	})
	for k, messages := range w.said {
		w.post(k, messages)
	}
}

// offer tells the capacity of the next hour.
func (w *campus) offer(kw float64) {
	w.capacity = kw
	for _, b := range w.nodes {
		if b.process != nil {
			b.process.SetCapacity(kw)
		}
	}
}

// kill ends the process of the leader.
func (w *campus) kill(i int) {
	for _, b := range w.nodes {
		if b.process != nil && b.process.Leads() {
			b.process, b.back = nil, i+int(away/tick)
			w.led.Kills++
			return
		}
	}
}

// post gives messages to the network, which delivers them in the next tick, or never.
func (w *campus) post(from int, messages []member.Message) {
	for _, msg := range messages {
		for k, b := range w.nodes {
			if k == from || msg.To != member.Everybody && msg.To != b.address {
				continue
			}
			w.out.Messages++
			w.out.Orders += len(msg.Orders)
			if w.arrives() {
				w.next[k] = append(w.next[k], msg)
			}
		}
	}
}
