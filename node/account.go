package node

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"voltbus/bus/blocklog"

	"voltbus/api/answer"
	"voltbus/device"
	"voltbus/point"
	"voltbus/recorder"
	"voltbus/store"
)

// maxGaps is how many gaps the ledger shows.
const maxGaps = 1000

// ledgersFile remembers what nodes below said of their ledgers.
const ledgersFile = "ledgers.json"

// Ledger implements api.Ledger: for each origin what was produced, acknowledged and stored here.
func (n *Node) Ledger(ctx context.Context) (answer.Ledger, error) {
	out, err := n.ownLedger(ctx)
	if err == nil {
		n.ledgers.Complete(ctx, &out, false)
	}
	return out, err
}

// LedgerBelow implements api.Ledger: Ledger of this node and of every node below it.
func (n *Node) LedgerBelow(ctx context.Context) (answer.Ledger, error) {
	out, err := n.ownLedger(ctx)
	if err == nil {
		n.ledgers.Complete(ctx, &out, true)
	}
	return out, err
}

// heldAbove returns how many samples of each origin the parent has.
func (n *Node) heldAbove() map[string]uint64 {
	out := map[string]uint64{}
	for _, o := range n.sender.Status().Origins {
		out[o.Name] = o.Position.Samples
	}
	return out
}

func (n *Node) ownLedger(ctx context.Context) (answer.Ledger, error) {
	out := answer.Ledger{State: "ok", Origins: []answer.Origin{}, Gaps: []answer.Gap{}, Damaged: []answer.Damage{}}
	state, err := n.blocks.State(ctx)
	if err != nil {
		return out, err
	}
	out.Log = answer.Log{Bytes: uint64(state.Bytes), MaxBytes: uint64(state.MaxBytes), Blocks: blocksIn(state)}
	positions, err := n.positions(ctx, &out)
	if err != nil && !away(err) {
		return out, err
	}
	if err != nil { // what was stored last is known, and the backlog behind it
		out.State, out.Reason = "backlog", err.Error()
	}
	lanes := n.recorder.Lanes()
	if lanes[0].Paused != nil {
		out.State, out.Reason = "paused", lanes[0].Paused.Error()
	} else if n.sink != nil && n.sink.Stats().Err != nil {
		out.State, out.Reason = "backlog", n.sink.Stats().Err.Error()
	}
	for _, s := range lanes {
		out.Origins = append(out.Origins, n.account(positions[s.Origin], s, true))
	}
	for _, s := range n.foreign(positions) {
		out.Origins = append(out.Origins, n.account(positions[s.Origin], s, false))
	}
	return out, nil
}

// foreign returns what is known of the origins of other nodes, in the order of their names: what of
// them stands in the log or the store.
func (n *Node) foreign(positions map[string]store.Position) []recorder.Stats {
	all := n.recorder.Others()
	for origin, p := range positions {
		if p.Sequence >= all[origin].Sequence {
			all[origin] = recorder.Position{Sequence: p.Sequence, Samples: p.Samples, Refused: p.Refused}
		}
	}
	for _, s := range n.recorder.Lanes() {
		delete(all, s.Origin)
	}
	out := make([]recorder.Stats, 0, len(all))
	for _, origin := range slices.Sorted(maps.Keys(all)) {
		p := all[origin]
		out = append(out, recorder.Stats{
			Origin: origin, Produced: p.Samples + p.Refused, Acknowledged: p.Samples, Refused: p.Refused, Sequence: p.Sequence,
		})
	}
	return out
}

func blocksIn(s blocklog.State) uint64 {
	if s.First > s.Last || s.Last == 0 {
		return 0
	}
	return s.Last - s.First + 1
}

// positions reads the store's side of the ledger. With an error they are those that were known before.
func (n *Node) positions(ctx context.Context, out *answer.Ledger) (map[string]store.Position, error) {
	if n.store == nil {
		return map[string]store.Position{}, nil
	}
	positions, err := n.storePositions(ctx)
	if err != nil {
		return positions, err
	}
	gaps, err := n.store.Gaps(ctx, maxGaps)
	if err != nil {
		return positions, err
	}
	for _, g := range gaps {
		out.Gaps = append(out.Gaps, answer.Gap(g))
		if g.Reason == "dropped" && (g.Origin == n.origin || g.Origin == point.UrgentOrigin(n.origin)) {
			out.Log.DroppedBlocks += g.Last - g.First + 1
			out.Log.DroppedSamples += g.Samples
		}
	}
	stats, err := n.store.Stats(ctx)
	if err != nil {
		return positions, err
	}
	out.Overwritten = stats.Overwritten
	for _, d := range stats.Damaged {
		out.Damaged = append(out.Damaged, answer.Damage(d))
	}
	if d := n.catalog.Damage(); d != nil {
		out.Damaged = append(out.Damaged, answer.Damage{File: d.File, Reason: d.Reason, Noticed: d.Noticed})
	}
	return positions, nil
}

// account compares what an origin says with what the store has. It balances if every sample is
// somewhere: refused, on its way, waiting in the log, missing, left out or stored. Without a store
// there is no backlog: nothing waits for anything.
func (n *Node) account(p store.Position, s recorder.Stats, own bool) answer.Origin {
	if n.store == nil {
		p = store.Position{Sequence: s.Sequence, Samples: s.Acknowledged}
	}
	backlog := uint64(0)
	if s.Acknowledged > p.Samples {
		backlog = s.Acknowledged - p.Samples
	}
	blocks := uint64(0)
	if s.Sequence > p.Sequence {
		blocks = s.Sequence - p.Sequence
	}
	return answer.Origin{
		Origin: s.Origin, Own: own, Produced: s.Produced, Acknowledged: s.Acknowledged, Stored: p.Stored,
		Refused: s.Refused, Missing: p.Missing, Repeated: p.Repeated, Left: p.Left,
		BacklogBlocks: blocks, BacklogSamples: backlog,
		Balanced: s.Produced == s.Acknowledged+s.Refused+s.Pending &&
			(p.Stored == 0 || p.Samples == p.Stored+p.Missing+p.Left),
	}
}

// Devices implements api.Devices.
func (n *Node) Devices(context.Context) ([]answer.Device, error) {
	states := n.fleet.Devices()
	slices.SortFunc(states, func(a, b device.State) int { return cmp.Compare(a.Path, b.Path) })
	out := make([]answer.Device, len(states))
	for i, s := range states {
		out[i] = answer.Device{
			Path: string(s.Path), Driver: s.Driver, Line: s.Line, State: s.Status.String(),
			Interval: s.Interval.Seconds(), Problem: s.Problem, LastError: s.LastError,
			Reads: s.Reads, Failures: s.Failures, Points: s.Points, Reports: s.Reports, Lost: s.Lost, Misdated: s.Misdated, LastErrorTime: moment(s.LastErrorTime),
			LatencyMS: float64(s.Latency) / float64(time.Millisecond),
		}
		if s.LastError != "" {
			out[i].ErrorKind = s.LastErrorKind.String()
		}
		out[i].LastRead = moment(s.LastRead)
	}
	return out, nil
}

// moment returns nil for a time that never was.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
