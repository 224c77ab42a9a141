package gossip_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"voltbus/regulation"
	"voltbus/regulation/gossip"
	"voltbus/regulation/master"
	"voltbus/regulation/unit"
)

const tick = 2 * time.Second

// node is one with a unit, which outlives its process.
type node struct {
	process *gossip.Node // nil: killed
	unit    *unit.Unit
	side    int // of a division of the network
	orders  int
}

func (n *node) Reports(now time.Time) []regulation.Report {
	return []regulation.Report{n.unit.Report(now, 30)}
}

func (n *node) Order(now time.Time, o *regulation.Order) regulation.Answer {
	n.orders++
	return regulation.Answer{Number: o.Number, Code: n.unit.Order(now, o), Token: n.unit.Token(), Report: n.unit.Report(now, 30)}
}

type world struct {
	now    time.Time
	random *rand.Rand
	nodes  []*node
	by     map[string]*node // address
	loss   float64
	moving []gossip.Message
}

func address(i int) string { return fmt.Sprintf("10.0.0.%d", i) }

func newWorld(seed uint64, n int, loss float64) *world {
	w := &world{now: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC), random: rand.New(rand.NewPCG(seed, 5)), by: map[string]*node{}, loss: loss}
	for i := range n {
		c := unit.Config{Name: fmt.Sprintf("campus/b%d/ac", i), R: 2, C: 2, COP: 2.5, Rated: 5, Set: 22, Band: 1, Lockout: time.Minute}
		w.nodes = append(w.nodes, &node{unit: unit.New(c, 21.6+0.8*w.random.Float64(), i%3 == 0)})
		w.by[address(i)] = w.nodes[i]
		w.start(i)
	}
	return w
}

// start starts a node that knows of one other.
func (w *world) start(i int) {
	n := w.nodes[i]
	peers := []string{address((i + 1) % len(w.nodes))}
	n.process = gossip.New(gossip.Config{Address: address(i), Peers: peers, Seed: uint64(i), Master: master.Config{Capacity: 20}}, n) //nolint:gosec // small
}

// step lets two seconds pass: messages arrive in the next step, once, twice or never, and not across a division.
func (w *world) step(signal float64) {
	w.now = w.now.Add(tick)
	arrived := map[*node][]gossip.Message{}
	for _, m := range w.moving {
		arrived[w.by[m.To]] = append(arrived[w.by[m.To]], m)
	}
	w.moving = nil
	for _, n := range w.nodes {
		n.unit.Step(w.now, tick, 30)
		if n.process == nil {
			continue
		}
		for _, m := range n.process.Step(w.now, signal, arrived[n]) {
			for range 1 + w.random.IntN(2) {
				if w.random.Float64() >= w.loss && w.by[m.To].side == n.side {
					w.moving = append(w.moving, m)
				}
			}
		}
	}
}

// until steps until all nodes that live know so many units.
func (w *world) until(t *testing.T, units int) (steps int) {
	t.Helper()
	for ; steps < 200; steps++ {
		all := true
		for _, n := range w.nodes {
			all = all && (n.process == nil || n.process.Status().Units == units)
		}
		if all {
			return steps
		}
		w.step(0)
	}
	t.Fatalf("after %d steps not all nodes know %d units", steps, units)
	return steps
}

func TestAllHearOfAllAlthoughMessagesAreLostAndDoubled(t *testing.T) {
	for _, loss := range []float64{0, 0.2, 0.5} {
		steps := newWorld(1, 40, loss).until(t, 40)
		t.Logf("%.0f %% lost: all know all after %d rounds", 100*loss, steps)
	}
}

func TestEachNodeOrdersOnlyItsOwnUnitsAndTogetherTheyFollow(t *testing.T) {
	w := newWorld(2, 40, 0.05)
	w.until(t, 40)
	missed, asked := 0.0, 0.0
	for i := range 450 { // a quarter of an hour
		signal := 0.8 * math.Sin(float64(i)/40)
		w.step(signal)
		power, hold := 0.0, 0.0
		for _, n := range w.nodes {
			power, hold = power+n.unit.Power(), hold+n.unit.Hold(30)
		}
		missed, asked = missed+math.Abs(hold-signal*20-power), asked+20
	}
	orders := 0
	for _, n := range w.nodes {
		orders += n.orders
	}
	t.Logf("the mean error is %.1f %% of the capacity, with %d orders", 100*missed/asked, orders)
	if missed/asked > 0.25 || orders == 0 {
		t.Errorf("the mean error is %.0f %% of the capacity, with %d orders", 100*missed/asked, orders)
	}
}

func TestWhatIsKilledOrCutOffIsMissedAndComesBack(t *testing.T) {
	w := newWorld(3, 12, 0.05)
	w.until(t, 12)
	for i, n := range w.nodes {
		n.side = i % 2
	}
	w.nodes[0].process = nil
	for range 400 { // beyond the age at which a unit that is silent counts as such
		w.step(0.5)
	}
	for i, n := range w.nodes[1:] {
		if s := n.process.Status(); s.Units != 12 || s.Silent < 6 {
			t.Errorf("node %d knows %d units, %d of them silent", i+1, s.Units, s.Silent)
		}
		n.side = 0
	}
	w.nodes[0].side = 0
	w.start(0)
	for range 30 {
		w.step(0.5)
	}
	for i, n := range w.nodes {
		if s := n.process.Status(); s.Units != 12 || s.Silent > 0 {
			t.Errorf("after the network is whole, node %d knows %d units, %d of them silent", i, s.Units, s.Silent)
		}
	}
}

func TestWhatIsFalseOrOldIsDropped(t *testing.T) {
	w := newWorld(4, 2, 0)
	w.until(t, 2)
	n := w.nodes[0]
	good := w.nodes[1].unit.Report(w.now, 30)
	wrong, old, own := good, good, n.unit.Report(w.now.Add(time.Hour), 30)
	wrong.At, wrong.Power = w.now.Add(time.Minute), math.NaN()
	old.At, old.On = w.now.Add(-time.Hour), !good.On
	own.Power = 4.9
	before := n.process.Status()
	out := n.process.Step(w.now.Add(tick), 0, []gossip.Message{
		{From: address(1), To: address(0), Reports: []regulation.Report{wrong, old, own}},
		{From: address(1), To: address(7), Reports: []regulation.Report{good}},
		{From: address(0), To: address(0), Reports: []regulation.Report{good}},
	})
	if s := n.process.Status(); math.Abs(s.Power-before.Power) > 5.1 || s.Units != 2 {
		t.Errorf("%+v after %+v", s, before)
	}
	for _, m := range out {
		for _, r := range m.Reports {
			if math.IsNaN(r.Power) || r.At.Equal(old.At) || r.Unit == own.Unit && r.At.Equal(own.At) {
				t.Errorf("%+v is passed on", r)
			}
		}
	}
}
