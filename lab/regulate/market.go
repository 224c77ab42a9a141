package regulate

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"voltbus/regulation/market"
)

// trader is a node that buys and sells.
type trader struct {
	*building

	process *market.Site // nil while it is killed
	paid    float64      // by processes that ended
}

// marketplace is the world of nodes that trade.
type marketplace struct {
	*world

	c           Campus
	nodes       []*trader
	numbers     map[string]int
	inbox, next [][]market.Message
	traded      []float64 // kW at each tick, by all sites
	prices      []float64 // per kWh at each tick
	led         Led
}

// RunMarket runs a campus whose nodes trade in a double auction. Kill ends the process of the auctioneer. It ends early with ctx.
func RunMarket(ctx context.Context, c Campus) (*Led, error) {
	began := time.Now()
	w := newMarketplace(c)
	if err := w.through(ctx, w.pass); err != nil {
		return nil, err
	}
	w.led.Outcome = w.out
	w.led.Took = time.Since(began)
	return &w.led, nil
}

func newMarketplace(c Campus) *marketplace {
	w := &marketplace{world: newWorld(c.Config), c: c, numbers: map[string]int{}}
	w.c.Config = w.world.c                      // with the defaults
	w.random = rand.New(rand.NewPCG(c.Seed, 2)) //nolint:gosec // a model, the same for a seed
	w.inbox, w.next = make([][]market.Message, c.Nodes), make([][]market.Message, c.Nodes)
	for i := range c.Nodes {
		b := w.settle(i, c.Nodes)
		w.numbers[b.address] = i
		w.nodes = append(w.nodes, &trader{building: b})
	}
	for _, b := range w.nodes {
		w.start(b)
	}
	return w
}

func (w *marketplace) start(b *trader) {
	all := make([]string, len(w.nodes))
	for i, other := range w.nodes {
		all[i] = other.address
	}
	b.process = market.New(market.Config{
		Address: b.address, Sites: all, Period: w.c.Period, Wait: tick, Capacity: b.capacity,
	}, b.building)
}

// pass lets a tick pass.
func (w *marketplace) pass(i int) {
	at := time.Duration(i) * tick
	now, out := w.begin.Add(at), outside(at)
	power, hold := w.live(now, out)
	if at%time.Hour == 0 {
		w.offer(out)
	}
	w.measure(power, hold)
	if w.c.Kill > 0 && i > 0 && at%w.c.Kill == 0 {
		w.kill(i)
	}
	w.inbox, w.next = w.next, w.inbox
	traded, price := 0.0, 0.0
	for k, b := range w.nodes {
		b.outside = out
		if b.process == nil && i >= b.back {
			w.start(b)
		}
		if b.process != nil && (len(w.inbox[k]) > 0 || !now.Before(b.process.Next())) {
			w.post(b.process.Step(now, w.signal.Values[i], w.inbox[k]))
		}
		if b.process != nil && b.process.Status().Traded > 0 {
			traded, price = b.process.Status().Traded, b.process.Status().Price
		}
		w.inbox[k] = w.inbox[k][:0]
	}
	w.traded, w.prices = append(w.traded, traded), append(w.prices, price)
}

// offer tells each site the capacity of the next hour, a share of what holds its own temperatures.
func (w *marketplace) offer(out float64) {
	w.capacity = 0
	for _, b := range w.nodes {
		hold := 0.0
		for _, p := range b.places {
			hold += p.Hold(out)
		}
		b.capacity = w.c.Share * hold
		w.capacity += b.capacity
		if b.process != nil {
			b.process.SetCapacity(b.capacity)
		}
	}
}

// auctioneer returns the node that collects the bids of most, nil while that one is killed.
func (w *marketplace) auctioneer() *trader {
	votes, most := map[string]int{}, 0
	var found *trader
	for _, b := range w.nodes {
		if b.process == nil {
			continue
		}
		a := b.process.Auctioneer()
		votes[a]++
		if votes[a] > most {
			most, found = votes[a], w.nodes[w.numbers[a]]
		}
	}
	if found == nil || found.process == nil {
		return nil
	}
	return found
}

// kill ends the process of the auctioneer.
func (w *marketplace) kill(i int) {
	b := w.auctioneer()
	if b == nil {
		return
	}
	b.paid += b.process.Status().Paid
	b.process, b.back = nil, i+int(away/tick)
	w.led.Kills++
}

// post gives messages to the network, which delivers them in the next tick, or never.
func (w *marketplace) post(messages []market.Message) {
	for _, msg := range messages {
		w.out.Messages++
		if c := msg.Cleared; c != nil {
			for _, kw := range c.Awards {
				if math.Abs(kw) > 0 {
					w.out.Orders++
				}
			}
		}
		if w.arrives() {
			k := w.numbers[msg.To]
			w.next[k] = append(w.next[k], msg)
		}
	}
}
