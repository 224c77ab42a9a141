package member_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"voltbus/regulation"
	"voltbus/regulation/master"
	"voltbus/regulation/member"
	"voltbus/regulation/unit"
)

const (
	tick    = time.Second
	silence = 10 * time.Second
)

// node is a member with three units; units outlive its process, as controllers of devices do.
type node struct {
	address string
	process *member.Member // nil: killed
	units   []*unit.Unit
	names   []string
	world   *world
}

func (n *node) Reports(now time.Time) (out []regulation.Report) {
	for _, u := range n.units {
		out = append(out, u.Report(now, 30))
	}
	return out
}

func (n *node) Order(now time.Time, o *regulation.Order) regulation.Answer {
	i := slices.Index(n.names, o.Unit)
	if i < 0 {
		return regulation.Answer{Number: o.Number, Code: regulation.NoSuchUnit, Report: regulation.Report{Unit: o.Unit}}
	}
	before := n.units[i].Token()
	code := n.units[i].Order(now, o)
	n.world.watch(o, before, code)
	return regulation.Answer{Number: o.Number, Code: code, Token: n.units[i].Token(), Report: n.units[i].Report(now, 30)}
}

func (n *node) Token() (newest regulation.Token) {
	for _, u := range n.units {
		if t := u.Token(); t.Term > newest.Term {
			newest = t
		}
	}
	return newest
}

// letter is a message on its way.
type letter struct {
	due time.Time
	msg member.Message
	to  *node
}

// world delivers messages by a seed: some never, some twice, some late and out of order, none between sides that are cut.
type world struct {
	t       *testing.T
	random  *rand.Rand
	now     time.Time
	nodes   []*node
	letters []letter
	loss    float64
	delay   int
	side    map[string]int     // of a division of the network
	deaf    map[[2]string]bool // the second hears nothing of the first

	carried map[string]regulation.Token // the last token by which a unit was moved
	obeyed  int                         // orders that were carried out
	old     int                         // orders refused because of their term
}

func newWorld(t *testing.T, seed uint64, n int) *world {
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 7)), now: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC), side: map[string]int{}, carried: map[string]regulation.Token{}}
	for i := range n {
		nd := &node{address: fmt.Sprintf("10.0.0.%d", i+1), world: w}
		for k := range 3 {
			name := fmt.Sprintf("campus/b%d/ac%d", i, k)
			nd.names = append(nd.names, name)
			nd.units = append(nd.units, unit.New(unit.Config{Name: name, R: 2, C: 2, COP: 2.5, Rated: 5, Set: 22, Band: 1, Lockout: 10 * time.Second}, 21.7+0.6*w.random.Float64(), k == 0))
		}
		w.nodes = append(w.nodes, nd)
		w.start(nd)
	}
	return w
}

func (w *world) start(n *node) {
	n.process = member.New(member.Config{Address: n.address, Silence: silence, Master: master.Config{Capacity: 15}}, n)
}

// watch holds what must always hold: a unit that was moved in a term is moved neither in an earlier one, nor by another leader in the same.
func (w *world) watch(o *regulation.Order, before regulation.Token, code regulation.Code) {
	last := w.carried[o.Unit]
	if code == regulation.OldTerm {
		w.old++
		if o.Token.Term > before.Term {
			w.t.Errorf("%s refused the later term %v after %v", o.Unit, o.Token, before)
		}
		return
	}
	if o.Token.Term < last.Term || o.Token.Term == last.Term && last.Leader != "" && o.Token.Leader != last.Leader {
		w.t.Errorf("%s follows %v after %v", o.Unit, o.Token, last)
	}
	w.carried[o.Unit] = o.Token
	if code == regulation.Done {
		w.obeyed++
	}
}

// step lets a second pass.
func (w *world) step() {
	w.now = w.now.Add(tick)
	inbox := map[*node][]member.Message{}
	w.letters = slices.DeleteFunc(w.letters, func(l letter) bool {
		if l.due.After(w.now) {
			return false
		}
		inbox[l.to] = append(inbox[l.to], l.msg)
		return true
	})
	signal := 0.8
	if w.now.Unix()/20%2 == 0 {
		signal = -0.8
	}
	for _, n := range w.nodes {
		for _, u := range n.units {
			u.Step(w.now, tick, 30)
		}
		if n.process != nil {
			w.post(n, n.process.Step(w.now, signal, inbox[n]))
		}
	}
}

func (w *world) post(from *node, messages []member.Message) {
	for _, msg := range messages {
		for _, to := range w.nodes {
			if to == from || msg.To != member.Everybody && msg.To != to.address || w.side[from.address] != w.side[to.address] || w.deaf[[2]string{from.address, to.address}] {
				continue
			}
			for copies := 1 + w.random.IntN(20)/19; copies > 0; copies-- {
				if w.random.Float64() >= w.loss {
					w.letters = append(w.letters, letter{w.now.Add(time.Duration(w.random.IntN(w.delay+1)) * tick), msg, to})
				}
			}
		}
	}
	slices.SortStableFunc(w.letters, func(a, b letter) int { return cmp.Compare(a.due.UnixNano(), b.due.UnixNano()) })
}

// trouble kills, starts and divides at random.
func (w *world) trouble() {
	switch n := w.nodes[w.random.IntN(len(w.nodes))]; w.random.IntN(40) {
	case 0:
		n.process = nil
	case 1, 2:
		if n.process == nil {
			w.start(n)
		}
	case 3:
		w.side[n.address] = w.random.IntN(3)
	case 4:
		w.side = map[string]int{}
	case 5: // the leader dies at any moment
		for _, n := range w.nodes {
			if n.process != nil && n.process.Leads() {
				n.process = nil
				break
			}
		}
	}
}

// settled checks that the smallest address leads, and that all know it.
func (w *world) settled() {
	w.t.Helper()
	var leader *node
	for _, n := range w.nodes {
		if n.process == nil {
			continue
		}
		if leader == nil {
			leader = n
		}
		if n.process.Leads() != (n == leader) || n.process.Leader() != leader.process.Leader() || n.process.Leader().Leader != leader.address {
			w.t.Errorf("%s knows %v as the leader, leads: %v; %s is the smallest address", n.address, n.process.Leader(), n.process.Leads(), leader.address)
		}
	}
	if leader == nil {
		return
	}
	if st := leader.process.Status(); st.Units < 3*len(leader.process.Members()) {
		w.t.Errorf("the leader regulates %d units of %d members", st.Units, len(leader.process.Members()))
	}
}

func TestWhateverHappensOneLeaderIsFoundAndNoOldOneIsObeyed(t *testing.T) {
	refused, obeyed := 0, 0
	for seed := range uint64(150) {
		w := newWorld(t, seed, 3+int(seed%4))
		w.loss, w.delay = []float64{0, 0.05, 0.2, 0.5}[seed%4], int(seed%7)
		for range 400 {
			w.trouble()
			w.step()
		}
		refused += w.old
		// Then all is well. Late messages arrive, silence passes, and terms settle.
		w.loss, w.delay, w.side = 0, 0, map[string]int{}
		for range 40 {
			w.step()
		}
		w.old, w.obeyed = 0, 0
		for range 60 {
			w.step()
		}
		w.settled()
		if w.old > 0 {
			t.Errorf("%d orders of an old leader after all had settled", w.old)
		}
		obeyed += w.obeyed
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if refused == 0 || obeyed == 0 {
		t.Errorf("%d orders of old leaders refused, %d obeyed: the test shows nothing", refused, obeyed)
	}
}

func TestTheNextAddressLeadsAfterSilence(t *testing.T) {
	w := newWorld(t, 1, 3)
	for range 20 {
		w.step()
	}
	w.settled()
	first := w.nodes[0].process.Leader()
	w.nodes[0].process = nil
	for range int(silence/tick) + 5 {
		w.step()
	}
	w.settled()
	if second := w.nodes[1].process.Leader(); second.Term != first.Term+1 || second.Leader != "10.0.0.2" {
		t.Errorf("%v after %v", second, first)
	}
	w.start(w.nodes[0]) // returns, and takes over in a later term
	for range int(silence/tick) + 5 {
		w.step()
	}
	w.settled()
	if third := w.nodes[2].process.Leader(); third.Term != first.Term+2 || third.Leader != "10.0.0.1" {
		t.Errorf("%v after %v", third, first)
	}
}

func TestTheSecondOfTwoLeadersIsRefused(t *testing.T) {
	w := newWorld(t, 2, 4)
	for range 20 {
		w.step()
	}
	w.side["10.0.0.1"] = 1 // the leader is alone, and goes on
	for range 60 {
		w.step()
	}
	if !w.nodes[0].process.Leads() || !w.nodes[1].process.Leads() {
		t.Fatal("each side has a leader")
	}
	old := w.nodes[0].process.Leader()
	o := regulation.Order{Unit: w.nodes[2].names[0], Number: 9999, Token: old}
	if a := w.nodes[2].Order(w.now, &o); a.Code != regulation.OldTerm || a.Token != w.nodes[1].process.Leader() {
		t.Errorf("%+v", a)
	}
	w.side = map[string]int{}
	for range 10 {
		w.step()
	}
	w.settled()
}

func TestTheNextLeaderInheritsUnitsThatAreSilent(t *testing.T) {
	w := newWorld(t, 3, 3)
	for range 20 {
		w.step()
	}
	w.nodes[0].process = nil
	for range 20 {
		w.step()
	}
	w.nodes[2].process = nil // its units are known to the leader of now only
	w.start(w.nodes[0])
	for range 20 {
		w.step()
	}
	if st := w.nodes[0].process.Status(); !w.nodes[0].process.Leads() || st.Units != 9 {
		t.Errorf("%+v", st)
	}
}

// The smallest address hears the others and one of them does not hear it. Whoever begins, the terms come to rest.
func TestHearingThatIsNotMutualSettles(t *testing.T) {
	for _, first := range []int{0, 1, 2} {
		w := newWorld(t, 4, 3)
		w.deaf = map[[2]string]bool{{"10.0.0.1", "10.0.0.2"}: true}
		for i, n := range w.nodes {
			if i != first {
				n.process = nil
			}
		}
		for range 20 {
			w.step()
		}
		for i, n := range w.nodes {
			if i != first {
				w.start(n)
			}
		}
		for range 40 {
			w.step()
		}
		before := w.nodes[2].process.Leader()
		for range 300 {
			w.step()
		}
		if after := w.nodes[2].process.Leader(); after != before || after.Leader != "10.0.0.1" {
			t.Errorf("begun by %d: %v is followed by %v", first, before, after)
		}
		for i, n := range w.nodes {
			if n.process.Leads() != (i == 0) || n.process.Leader() != before {
				t.Errorf("begun by %d: %s knows %v, leads: %v", first, n.address, n.process.Leader(), n.process.Leads())
			}
		}
		if st := w.nodes[0].process.Status(); st.Units-st.Silent != 6 {
			t.Errorf("begun by %d: the leader regulates %d units, and those that do not hear it are not among them", first, st.Units-st.Silent)
		}
		w.nodes[0].process = nil // what others say of the leader ends with what they hear of it
		for range 2*int(silence/tick) + 5 {
			w.step()
		}
		if !w.nodes[1].process.Leads() || w.nodes[2].process.Leader().Leader != "10.0.0.2" {
			t.Errorf("begun by %d: nobody follows the leader", first)
		}
	}
}

func TestTwoThatHearEachOtherInOneDirectionLeadApart(t *testing.T) {
	w := newWorld(t, 5, 2)
	w.deaf = map[[2]string]bool{{"10.0.0.1", "10.0.0.2"}: true}
	for range 300 {
		w.step()
	}
	for _, n := range w.nodes {
		if st := n.process.Status(); !n.process.Leads() || n.process.Leader().Term > 3 || st.Units != 3 {
			t.Errorf("%s: %v, leads: %v, %d units", n.address, n.process.Leader(), n.process.Leads(), st.Units)
		}
	}
}
