package quorum

import (
	"hash/fnv"
	"math/rand/v2"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
)

// lots decide when a node that hears no leader stands for election. Raft's own lots cannot be seeded.
type lots struct {
	random   *rand.Rand
	silence  int // beats without a leader after which it is forgotten
	quiet    int // beats since a leader was heard, a vote given or a term begun
	patience int // beats of quiet after which the node stands for election: one to two silences
}

func newLots(seed uint64, address string, silence int) lots {
	h := fnv.New64a()
	_, _ = h.Write([]byte(address))                                                     // a hash takes everything
	l := lots{random: rand.New(rand.NewPCG(seed, h.Sum64())), silence: max(1, silence)} //nolint:gosec // lots, the same for a seed
	l.calm()
	return l
}

// calm begins to wait anew.
func (l *lots) calm() { l.quiet, l.patience = 0, l.silence+l.random.IntN(l.silence) }

// hear hands a message to Raft, which drops one that does not fit.
func (e *Elector) hear(m *raftpb.Message) {
	before := e.state.BasicStatus()
	_ = e.state.Step(m)
	after := e.state.BasicStatus()
	switch m.GetType() {
	case raftpb.MsgApp, raftpb.MsgHeartbeat, raftpb.MsgSnap:
		if after.Lead == m.GetFrom() {
			e.lots.quiet = 0
		}
	default:
	}
	if after.GetTerm() != before.GetTerm() || after.GetVote() != before.GetVote() {
		e.lots.calm()
	}
}

// pass lets a beat pass. Raft's clock runs at leaders only, where it decides nothing by lot.
func (e *Elector) pass() {
	if e.state.BasicStatus().RaftState == raft.StateLeader {
		e.state.Tick()
		e.lots.quiet = 0
		return
	}
	e.lots.quiet++
	if e.lots.quiet == e.lots.silence {
		_ = e.state.ForgetLeader() // so that others get a vote of this node
	}
	if e.lots.quiet >= e.lots.patience {
		e.lots.calm()
		_ = e.state.Campaign()
	}
}
