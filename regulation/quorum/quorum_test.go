package quorum_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/regulation"
	"voltbus/regulation/quorum"
)

const beat = 2 * time.Second

var members = []string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5"}

// node is a member of a campus. What it kept outlives its process.
type node struct {
	address string
	process *quorum.Elector // nil: killed
	kept    *quorum.Kept
	full    bool // its disk
	side    int
}

type world struct {
	t       *testing.T
	now     time.Time
	random  *rand.Rand
	loss    float64
	nodes   map[string]*node
	moving  []regulation.Ballot
	leaders map[uint64]string // of each term
	seed    uint64
	said    hash.Hash // all ballots, with their times
}

func newWorld(t *testing.T, loss float64) *world { return seeded(t, loss, 1) }

// seeded is a world whose nodes draw their lots from a seed.
func seeded(t *testing.T, loss float64, seed uint64) *world {
	w := &world{seed: seed, t: t, now: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC), random: rand.New(rand.NewPCG(1, 1)), loss: loss, nodes: map[string]*node{}, leaders: map[uint64]string{}, said: sha256.New()}
	for _, a := range members {
		w.nodes[a] = &node{address: a}
		w.start(a)
	}
	return w
}

func (w *world) start(address string) {
	n := w.nodes[address]
	e, err := quorum.New(quorum.Config{Address: address, Members: members, Beat: beat, Seed: w.seed, Kept: n.kept, Keep: func(k *quorum.Kept) error {
		if n.full {
			return fault.E("disk", fault.Unavailable, address, errors.New("no room"))
		}
		n.kept = new(*k)
		return nil
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	n.process = e
}

// step lets a second pass, and holds that no term has two leaders.
func (w *world) step() {
	w.now = w.now.Add(time.Second)
	arrived := w.moving
	w.moving = nil
	for _, address := range members {
		n := w.nodes[address]
		if n.process == nil {
			continue
		}
		var in []regulation.Ballot
		for _, b := range arrived {
			if b.To == address {
				in = append(in, b)
			}
		}
		for _, b := range n.process.Step(w.now, in) {
			fmt.Fprintln(w.said, w.now.Unix(), b.From, b.To, string(b.Raft))
			if w.random.Float64() >= w.loss && w.nodes[b.To].side == n.side {
				w.moving = append(w.moving, b)
			}
		}
		if l := n.process.Leader(); l.Leader == address {
			if other := w.leaders[l.Term]; other != "" && other != address {
				w.t.Fatalf("%s and %s lead in term %d", other, address, l.Term)
			}
			w.leaders[l.Term] = address
		}
	}
}

// until steps until so many nodes agree on a leader that lives and is none of those named, and returns it.
func (w *world) until(agree int, but ...*node) *node {
	w.t.Helper()
	for range 1000 {
		w.step()
		votes := map[string]int{}
		for _, n := range w.nodes {
			if n.process != nil {
				votes[n.process.Leader().Leader]++
			}
		}
		for _, address := range members {
			count := votes[address]
			if n := w.nodes[address]; n != nil && n.process != nil && count >= agree && !slices.Contains(but, n) && n.process.Leader().Leader == address {
				return n
			}
		}
	}
	w.t.Fatalf("%d nodes do not agree on a leader", agree)
	return nil
}

func TestALeaderIsElectedAgainWhenItIsKilledAndNoTermHasTwo(t *testing.T) {
	w := newWorld(t, 0.1)
	for range 200 { // more than the log keeps
		leader := w.until(4)
		leader.process = nil
		if next := w.until(3); next == leader {
			t.Fatal("who is killed leads")
		}
		w.start(leader.address)
	}
	for range 2 { // what terms that were short did not commit, a longer one does; the next one puts it on disk
		leader := w.until(5)
		for range 30 {
			w.step()
		}
		leader.process = nil
		w.until(4)
		w.start(leader.address)
	}
	w.until(5)
	for range 30 {
		w.step()
	}
	if len(w.leaders) < 200 {
		t.Errorf("%d terms", len(w.leaders))
	}
	for _, n := range w.nodes {
		if len(n.kept.Begins) > 70 {
			t.Errorf("%s keeps %d entries", n.address, len(n.kept.Begins))
		}
	}
}

// The leader is killed at each moment of its term: before it has said that it leads, between two beats, and when the others have just heard it.
func TestTheLeaderIsKilledAtEachMoment(t *testing.T) {
	for moment := range 40 {
		w := seeded(t, 0.1, uint64(moment))
		leader := w.until(1)
		for range moment / 2 {
			w.step()
		}
		leader.process = nil
		w.until(3, leader)
		w.start(leader.address)
		w.until(5)
	}
}

// Which leaders there are, and each ballot, follows from the seed; so do runs of the lab.
func TestElectionsAreRepeatedByTheirSeed(t *testing.T) {
	run := func(seed uint64) string {
		w := seeded(t, 0.2, seed)
		for range 20 {
			leader := w.until(4)
			leader.process = nil
			w.until(3)
			w.start(leader.address)
		}
		return hex.EncodeToString(w.said.Sum(nil))
	}
	first := run(1)
	if again := run(1); again != first {
		t.Errorf("two runs with one seed differ: %s, %s", first, again)
	}
	if other := run(2); other == first {
		t.Error("another seed elects the same")
	}
}

func TestOnlyASideWithAMajorityHasALeader(t *testing.T) {
	w := newWorld(t, 0)
	first := w.until(5)
	other := members[0]
	if other == first.address {
		other = members[1]
	}
	first.side, w.nodes[other].side = 1, 1
	second := w.until(3, first)
	for range 60 {
		w.step()
	}
	if l := first.process.Leader(); l.Leader == first.address {
		t.Errorf("%s still leads two of five", first.address)
	}
	first.side, w.nodes[other].side = 0, 0
	if third := w.until(5); third != second {
		t.Errorf("%s leads after the network is whole, %s before", third.address, second.address)
	}
}

func TestWhoCannotKeepItsStateTakesNoPart(t *testing.T) {
	w := newWorld(t, 0)
	first := w.until(5)
	first.full = true
	first.side = 1 // so that a term begins which it would have to keep
	w.until(4, first)
	first.side = 0
	for range 60 {
		w.step()
	}
	if err := first.process.Err(); !fault.Is(err, fault.Unavailable) || first.process.Leader().Leader != "" {
		t.Errorf("%v, and %v leads", err, first.process.Leader())
	}
	first.full = false
	w.until(5)
	if err := first.process.Err(); err != nil {
		t.Error(err)
	}
}

func TestBallotsOfStrangersAndNoiseAreDropped(t *testing.T) {
	w := newWorld(t, 0)
	leader := w.until(5)
	genuine := w.moving
	noise := []regulation.Ballot{{From: "10.9.9.9", To: leader.address, Raft: []byte{8, 1}}, {From: members[0], To: leader.address, Raft: []byte("nonsense")}, {}}
	for _, b := range genuine {
		b.From = "10.9.9.9"
		noise = append(noise, b)
	}
	for i := range 2000 {
		b := make([]byte, i%40)
		for k := range b {
			b[k] = byte(w.random.IntN(256))
		}
		noise = append(noise, regulation.Ballot{From: members[i%5], To: leader.address, Raft: b})
	}
	leader.process.Step(w.now, noise)
	w.until(5)
}

func TestAListWithoutTheOwnAddressIsRefused(t *testing.T) {
	if _, err := quorum.New(quorum.Config{Address: "10.0.0.9", Members: members}); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
	if _, err := quorum.New(quorum.Config{Address: members[0], Members: members, Kept: &quorum.Kept{Term: 2, Commit: 9, First: 2, Before: 1}}); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a state that contradicts itself: %v", err)
	}
}
