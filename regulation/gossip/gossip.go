// Package gossip lets the nodes of a campus regulate without a leader: each node passes on to a few others, drawn by lot, what it has heard of all
// units, and each decides for itself what all units should do, by the rules of package master. It orders only its own units. Nodes that know the
// same decide the same; what differs for a few seconds is made good by the next decision. It is a state machine: whoever runs it hands it messages
// and the time, and sends the messages that it returns.
//
// No node is needed by the others, and no election leaves a gap. The price is that each node knows all units, and that the clocks of nodes agree
// to a fraction of the period. Nodes trust each other: one that reports what is false is believed.
package gossip

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"

	"voltbus/regulation"
	"voltbus/regulation/master"
)

// Message is what a node tells another one.
type Message struct {
	From    string              `json:"from"`
	To      string              `json:"to"`
	Peers   []string            `json:"peers"`   // some that the sender knows
	Reports []regulation.Report `json:"reports"` // of units of any node
}

// Units are the units of a node.
type Units interface {
	// Reports returns their states, in the same order each time.
	Reports(now time.Time) []regulation.Report
	// Order carries an order out, or says why not. Its token is zero.
	Order(now time.Time, o *regulation.Order) regulation.Answer
}

// Config of a node.
type Config struct {
	Address string
	Peers   []string      // addresses of some others; by them the node gets to know all
	Seed    uint64        // of the lots; nodes have different ones
	Beat    time.Duration // between two rounds of messages; 0: 2 seconds
	Fan     int           // to how many others a round goes; 0: 2
	Most    int           // reports in a message; 0: 250
	Refresh time.Duration // a unit without a change is told anew after it; 0: 30 seconds
	Period  time.Duration // all nodes decide at the multiples of it since the year 1; 0: 2 seconds
	// Master decides. Its Wait is at least the time that news need to reach all.
	Master master.Config
}

// news is the newest report of a unit.
type news struct {
	report regulation.Report
	rounds int // in which it is still passed on
	own    bool
}

// Node is the state. It is for one goroutine.
type Node struct {
	c      Config
	units  Units
	random *rand.Rand
	peers  []string
	known  map[string]bool // of the peers
	index  map[string]int
	list   []news
	told   int // reports of the last message
	beat   time.Time
	next   time.Time // decision
	master *master.Master
	status master.Status
}

// New returns a node that has heard nothing.
func New(c Config, units Units) *Node {
	c.Beat, c.Fan, c.Most = cmp.Or(c.Beat, 2*time.Second), cmp.Or(c.Fan, 2), cmp.Or(c.Most, 250)
	c.Refresh, c.Period = cmp.Or(c.Refresh, 30*time.Second), cmp.Or(c.Period, 2*time.Second)
	c.Master.Wait = max(c.Master.Wait, 3*c.Beat)
	n := &Node{
		c: c, units: units, random: rand.New(rand.NewPCG(c.Seed, 3)), //nolint:gosec // lots, the same for a seed
		known: map[string]bool{c.Address: true}, index: map[string]int{}, master: master.New(c.Master),
	}
	for _, p := range c.Peers {
		n.meet(p)
	}
	return n
}

// Status returns what the last decision knew of all units.
func (n *Node) Status() master.Status { return n.status }

// SetCapacity changes the power that the signal 1 asks of the campus, kW.
func (n *Node) SetCapacity(kw float64) { n.master.SetCapacity(kw) }

// Next returns when Step has to be called at the latest, if no message arrives.
func (n *Node) Next() time.Time {
	if n.next.Before(n.beat) {
		return n.next
	}
	return n.beat
}

// Step takes messages, and does what is due. The signal is the one that holds now; positive: consume less. It returns messages to send.
func (n *Node) Step(now time.Time, signal float64, in []Message) []Message {
	for i := range in {
		if in[i].From == n.c.Address || in[i].To != n.c.Address {
			continue
		}
		n.meet(in[i].From)
		for _, p := range in[i].Peers {
			n.meet(p)
		}
		for k := range in[i].Reports {
			n.hear(&in[i].Reports[k], false)
		}
	}
	if !now.Before(n.next) {
		first := n.next.IsZero()
		n.next = now.Truncate(n.c.Period).Add(n.c.Period)
		n.look(now)
		if !first { // who has just started has heard nobody
			n.decide(now, signal)
		}
	}
	if now.Before(n.beat) {
		return nil
	}
	n.beat = now.Add(n.c.Beat)
	n.look(now)
	return n.tell()
}

// meet learns of another node.
func (n *Node) meet(address string) {
	if address != "" && !n.known[address] {
		n.known[address] = true
		n.peers = append(n.peers, address)
	}
}

// look hears the own units, as far as they have news.
func (n *Node) look(now time.Time) {
	for _, r := range n.units.Reports(now) {
		if i, ok := n.index[r.Unit]; !ok || !n.list[i].own || n.changed(&n.list[i].report, &r) {
			n.hear(&r, true)
		}
	}
}

// noticed is by how much a temperature has to change to be news, K.
const noticed = 0.05

func (n *Node) changed(old, now *regulation.Report) bool {
	return old.On != now.On || old.Speed != now.Speed || (old.Free > 0) != (now.Free > 0) ||
		max(old.Temperature, now.Temperature)-min(old.Temperature, now.Temperature) >= noticed || now.At.Sub(old.At) >= n.c.Refresh
}

// hear takes a report that is newer than the one that is known. A wrong one is dropped, and what others say of an own unit.
func (n *Node) hear(r *regulation.Report, own bool) {
	i, ok := n.index[r.Unit]
	if ok {
		e := &n.list[i]
		if e.own && !own {
			return
		}
		e.own = own
		if !r.At.After(e.report.At) {
			return
		}
	}
	if _, err := n.master.Hear(r); err != nil {
		return
	}
	if !ok {
		i = len(n.list)
		n.index[r.Unit] = i
		n.list = append(n.list, news{})
	}
	n.list[i] = news{report: *r, rounds: n.rounds(), own: own}
}

// rounds is in how many rounds a report is passed on: so many that with some losses all hear of it.
func (n *Node) rounds() int { return bits.Len(uint(len(n.peers))) + 3 }

// old is how many reports a message has that are no news. They mend what was lost, and tell those who have just started.
const old = 8

// told is how many nodes a message names beside those that get it.
const told = 4

// tell makes the messages of a round.
func (n *Node) tell() []Message {
	reports := make([]regulation.Report, 0, n.told+old)
	for i := range n.list {
		if e := &n.list[i]; e.rounds > 0 && len(reports) < n.c.Most {
			e.rounds--
			reports = append(reports, e.report)
		}
	}
	for range min(old, len(n.list), n.c.Most-len(reports)) {
		reports = append(reports, n.list[n.random.IntN(len(n.list))].report)
	}
	n.told = len(reports)
	n.shuffle(min(n.c.Fan+told, len(n.peers)))
	peers := slices.Clone(n.peers[:min(n.c.Fan+told, len(n.peers))])
	out := make([]Message, min(n.c.Fan, len(n.peers)))
	for i := range out {
		out[i] = Message{From: n.c.Address, To: n.peers[i], Peers: peers, Reports: reports}
	}
	return out
}

// shuffle draws so many peers to the front.
func (n *Node) shuffle(first int) {
	for i := range first {
		k := i + n.random.IntN(len(n.peers)-i)
		n.peers[i], n.peers[k] = n.peers[k], n.peers[i]
	}
}

// decide decides for all units, and orders the own ones.
func (n *Node) decide(now time.Time, signal float64) {
	orders, status := n.master.Decide(now, signal)
	n.status = status
	for i := range orders {
		if !n.list[n.index[orders[i].Unit]].own {
			continue // its node decides so, too
		}
		a := n.units.Order(now, &orders[i])
		n.master.Answered(now, &a)
		n.beat = now // all shall know
	}
}
