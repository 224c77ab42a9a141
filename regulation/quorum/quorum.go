// Package quorum elects the leader of a campus by Raft (Ongaro and Ousterhout, USENIX ATC 2014): a leader is only where a majority of the nodes hear
// each other, so a divided campus has at most one, and its smaller side none. The list of nodes is fixed. The log of Raft is used for elections only.
//
// It is a state machine: whoever runs it hands it ballots and the time, and sends the ballots that it returns. The lots that decide when a node
// stands for election are drawn here, not by the library, so that runs with one seed are equal.
package quorum

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"voltbus/fault"
	"voltbus/regulation"
)

// Config of an elector.
type Config struct {
	Address string
	Members []string      // addresses of all nodes, with the own one: the same at each
	Beat    time.Duration // 0: 2 seconds
	Silence time.Duration // of a leader after which another one is elected, at least 2 beats; 0: 5 beats
	Seed    uint64        // of the lots; the address is mixed in, so all nodes may have the same one
	Kept    *Kept         // what Keep got last; nil at the first start ever
	// Keep puts the state on disk. What follows from it is said only then.
	Keep func(*Kept) error
}

// Kept is what an elector must not forget: whom it voted for, and when terms began.
type Kept struct {
	Term   uint64   `json:"term"`
	Vote   uint64   `json:"vote,omitempty"` // number of a member from 1 on; 0: nobody
	Commit uint64   `json:"commit"`
	First  uint64   `json:"first"`  // index of the first of Begins
	Before uint64   `json:"before"` // term of the entry before it
	Begins []uint64 `json:"begins"` // terms of the entries of the log
}

// Elector is the state. It is for one goroutine.
type Elector struct {
	c       Config
	members []string // sorted; their numbers begin with 1
	state   *raft.RawNode
	storage *raft.MemoryStorage
	kept    Kept
	tick    time.Time
	lots    lots
	applied uint64      // index of the last entry that Raft gave out as committed
	undone  *raft.Ready // what Keep could not keep
	broken  error
}

// New returns an elector. What is wrong with the configuration is fault.Invalid.
func New(c Config) (*Elector, error) {
	e := &Elector{c: c, members: slices.Compact(slices.Sorted(slices.Values(c.Members)))}
	e.c.Beat = cmp.Or(c.Beat, 2*time.Second)
	e.c.Silence = max(cmp.Or(c.Silence, 5*e.c.Beat), 2*e.c.Beat)
	if e.number(c.Address) == 0 {
		return nil, fault.E("quorum.New", fault.Invalid, c.Address, errors.New("members: add the own address to the list"))
	}
	e.kept = Kept{Term: 1, Commit: 1, First: 2, Before: 1}
	if c.Kept != nil {
		e.kept = *c.Kept
	}
	return e, e.open()
}

// number is that of a member, 0 for a stranger.
func (e *Elector) number(address string) uint64 {
	i, ok := slices.BinarySearch(e.members, address)
	if !ok {
		return 0
	}
	return uint64(i) + 1 //nolint:gosec // a small number
}

// open makes Raft's state from what is kept.
func (e *Elector) open() (err error) {
	defer recovered("quorum.New", &err)
	e.storage = raft.NewMemoryStorage()
	all := make([]uint64, len(e.members))
	for i := range all {
		all[i] = uint64(i) + 1 //nolint:gosec // a small number
	}
	k := &e.kept
	e.applied, e.lots = k.First-1, newLots(e.c.Seed+k.Term, e.c.Address, int(e.c.Silence/e.c.Beat))
	snapshot := &raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{
		Index: new(k.First - 1), Term: new(k.Before), ConfState: &raftpb.ConfState{Voters: all},
	}}
	entries := make([]*raftpb.Entry, len(k.Begins))
	for i, term := range k.Begins {
		entries[i] = &raftpb.Entry{Index: new(k.First + uint64(i)), Term: new(term)} //nolint:gosec // a small number
	}
	hard := &raftpb.HardState{Term: new(k.Term), Vote: new(k.Vote), Commit: new(k.Commit)}
	if err := errors.Join(e.storage.ApplySnapshot(snapshot), e.storage.Append(entries), e.storage.SetHardState(hard)); err != nil {
		return fault.E("quorum.New", fault.Corrupt, e.c.Address, err)
	}
	e.state, err = raft.NewRawNode(&raft.Config{
		ID: e.number(e.c.Address), ElectionTick: int(e.c.Silence / e.c.Beat), HeartbeatTick: 1, Storage: e.storage, Applied: k.First - 1,
		MaxSizePerMsg: 1 << 16, MaxInflightMsgs: 16, CheckQuorum: true, PreVote: true, Logger: silent{},
	})
	return err
}

// recovered makes an error of a panic: the library has it for states that cannot be.
func recovered(op string, err *error) {
	if r := recover(); r != nil {
		*err = fault.E(op, fault.Corrupt, "", fmt.Errorf("the state of the election contradicts itself: %v", r))
	}
}

// Leader returns who leads, and in which term. Its address is "" while nobody does, as far as the node knows.
func (e *Elector) Leader() regulation.Token {
	if e.undone != nil || e.broken != nil {
		return regulation.Token{Term: e.kept.Term}
	}
	s := e.state.BasicStatus()
	t := regulation.Token{Term: s.GetTerm()}
	if s.Lead != raft.None {
		t.Leader = e.members[s.Lead-1]
	}
	return t
}

// Err returns why the elector takes no part: its state cannot be kept, or contradicts what others say. It goes on when that is over.
func (e *Elector) Err() error { return e.broken }

// Step takes ballots, and does what is due. It returns ballots to send. A ballot that cannot be read is dropped.
func (e *Elector) Step(now time.Time, in []regulation.Ballot) (out []regulation.Ballot) {
	if err := e.step(now, in, &out); err != nil {
		e.broken = err
		if e.undone == nil { // Raft's own state is void
			_ = e.open()
		}
		return nil
	}
	e.broken = nil
	return out
}

func (e *Elector) step(now time.Time, in []regulation.Ballot, out *[]regulation.Ballot) (err error) {
	defer recovered("quorum.Step", &err)
	if e.undone != nil {
		if err := e.settle(e.undone, out); err != nil {
			return err
		}
		e.undone = nil
	}
	for i := range in {
		var m raftpb.Message
		if proto.Unmarshal(in[i].Raft, &m) == nil && m.GetFrom() != 0 && m.GetFrom() == e.number(in[i].From) && m.GetTo() == e.number(e.c.Address) {
			e.hear(&m)
		}
	}
	if e.tick.IsZero() {
		e.tick = now
	}
	for ; !now.Before(e.tick); e.tick = e.tick.Add(e.c.Beat) {
		e.pass()
		if now.Sub(e.tick) > e.c.Silence { // the program stood still
			e.tick = now
		}
	}
	for e.state.HasReady() {
		ready := e.state.Ready()
		if err := e.settle(&ready, out); err != nil {
			e.undone = &ready
			return err
		}
	}
	return nil
}

// settle keeps what is to be kept, and hands out what is to be said.
func (e *Elector) settle(ready *raft.Ready, out *[]regulation.Ballot) error {
	kept := e.kept
	kept.Begins = slices.Clone(kept.Begins)
	if s := ready.Snapshot; !raft.IsEmptySnap(s) {
		kept.First, kept.Before, kept.Begins = s.GetMetadata().GetIndex()+1, s.GetMetadata().GetTerm(), nil
	}
	for _, entry := range ready.Entries {
		kept.Begins = append(kept.Begins[:entry.GetIndex()-kept.First], entry.GetTerm())
	}
	if h := ready.HardState; h != nil && !raft.IsEmptyHardState(h) {
		kept.Term, kept.Vote, kept.Commit = h.GetTerm(), h.GetVote(), h.GetCommit()
	}
	if ready.MustSync && e.c.Keep != nil {
		if err := e.c.Keep(&kept); err != nil {
			return fault.E("quorum.Step", fault.KindOf(err), e.c.Address, err)
		}
	}
	e.kept = kept
	if err := e.store(ready); err != nil {
		return fault.E("quorum.Step", fault.Corrupt, e.c.Address, err)
	}
	for _, m := range ready.Messages {
		data, err := proto.Marshal(m)
		if err != nil {
			return fault.E("quorum.Step", fault.Internal, e.c.Address, err)
		}
		*out = append(*out, regulation.Ballot{From: e.c.Address, To: e.members[m.GetTo()-1], Raft: data})
		if m.GetType() == raftpb.MsgSnap { // whether it arrived shows in the next answer
			e.state.ReportSnapshot(m.GetTo(), raft.SnapshotFinish)
		}
	}
	e.state.Advance(*ready)
	if n := len(ready.CommittedEntries); n > 0 {
		e.applied = ready.CommittedEntries[n-1].GetIndex()
	}
	return nil
}

// longest is how many entries of the log are kept; a member that missed more gets a snapshot, which is empty.
const longest = 64

// store puts a ready into the storage that Raft reads.
func (e *Elector) store(ready *raft.Ready) error {
	if !raft.IsEmptySnap(ready.Snapshot) {
		if err := e.storage.ApplySnapshot(ready.Snapshot); err != nil {
			return err
		}
	}
	if h := ready.HardState; h != nil && !raft.IsEmptyHardState(h) {
		if err := e.storage.SetHardState(h); err != nil {
			return err
		}
	}
	if err := e.storage.Append(ready.Entries); err != nil {
		return err
	}
	at := e.applied // the last that is given up
	if len(e.kept.Begins) <= longest || at < e.kept.First {
		return nil
	}
	if _, err := e.storage.CreateSnapshot(at, nil, nil); err != nil {
		return err
	}
	e.kept.Before = e.kept.Begins[at-e.kept.First]
	e.kept.Begins, e.kept.First = slices.Clone(e.kept.Begins[at-e.kept.First+1:]), at+1
	return e.storage.Compact(at)
}
