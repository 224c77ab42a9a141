package regulate

import (
	"context"
	"math/rand/v2"
	"time"

	"voltbus/regulation/gossip"
	"voltbus/regulation/master"
)

// talker is a node that decides for itself.
type talker struct {
	*building

	process *gossip.Node // nil while it is killed
}

// crowd is the world of nodes that have no leader.
type crowd struct {
	*world

	c           Campus
	nodes       []*talker
	numbers     map[string]int
	inbox, next [][]gossip.Message // by node, for this tick and the next one
	said        [][]gossip.Message // by node, in this tick
	killed      int                // the node that is killed next
	led         Led
}

// RunGossip runs a campus whose nodes have no leader and tell each other what they hear. Kill ends the process of one node after another. It ends
// early with ctx.
func RunGossip(ctx context.Context, c Campus) (*Led, error) {
	began := time.Now()
	w := newCrowd(c)
	if err := w.through(ctx, w.pass); err != nil {
		return nil, err
	}
	w.led.Outcome = w.out
	w.led.Took = time.Since(began)
	return &w.led, nil
}

func newCrowd(c Campus) *crowd {
	w := &crowd{world: newWorld(c.Config), c: c, numbers: map[string]int{}}
	w.c.Config = w.world.c                      // with the defaults
	w.random = rand.New(rand.NewPCG(c.Seed, 2)) //nolint:gosec // a model, the same for a seed
	w.inbox, w.next = make([][]gossip.Message, c.Nodes), make([][]gossip.Message, c.Nodes)
	w.said = make([][]gossip.Message, c.Nodes)
	for i := range c.Nodes {
		b := w.settle(i, c.Nodes)
		w.numbers[b.address] = i
		w.nodes = append(w.nodes, &talker{building: b})
	}
	for i := range w.nodes {
		w.start(i)
	}
	return w
}

// start starts a node that knows of its neighbour only.
func (w *crowd) start(i int) {
	b := w.nodes[i]
	b.process = gossip.New(gossip.Config{
		Address: b.address, Peers: []string{w.nodes[(i+1)%len(w.nodes)].address}, Seed: w.c.Seed + uint64(i), //nolint:gosec // a small number
		Beat: tick, Period: max(w.c.Period, tick), Master: master.Config{Capacity: w.capacity},
	}, b.building)
}

// pass lets a tick pass.
func (w *crowd) pass(i int) {
	at := time.Duration(i) * tick
	now, out := w.begin.Add(at), outside(at)
	power, hold := w.live(now, out)
	if at%time.Hour == 0 {
		w.offer(w.c.Share * hold)
	}
	w.measure(power, hold)
	if w.c.Kill > 0 && i > 0 && at%w.c.Kill == 0 {
		w.kill(i)
	}
	w.inbox, w.next = w.next, w.inbox
	for k, b := range w.nodes {
		b.outside = out
		if b.process == nil && i >= b.back {
			w.start(k)
		}
	}
	abreast(len(w.nodes), func(k int) {
		b := w.nodes[k]
		w.said[k] = nil
		if b.process != nil && (len(w.inbox[k]) > 0 || !now.Before(b.process.Next())) {
			w.said[k] = b.process.Step(now, w.signal.Values[i], w.inbox[k])
		}
		w.inbox[k] = w.inbox[k][:0]
	})
	for _, messages := range w.said {
		w.post(messages)
	}
}

// kill ends the process of the next node.
func (w *crowd) kill(i int) {
	w.nodes[w.killed].process, w.nodes[w.killed].back = nil, i+int(away/tick)
	w.killed = (w.killed + 1) % len(w.nodes)
	w.led.Kills++
}

// offer tells the capacity of the next hour.
func (w *crowd) offer(kw float64) {
	w.capacity = kw
	for _, b := range w.nodes {
		if b.process != nil {
			b.process.SetCapacity(kw)
		}
	}
}

// post gives messages to the network, which delivers them in the next tick, or never.
func (w *crowd) post(messages []gossip.Message) {
	for _, msg := range messages {
		w.out.Messages++
		if w.arrives() {
			k := w.numbers[msg.To]
			w.next[k] = append(w.next[k], msg)
		}
	}
}
