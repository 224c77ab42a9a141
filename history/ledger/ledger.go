// Package ledger is the ledger of a node: per origin, what was produced, acknowledged and stored here.
package ledger

import (
	"context"
	"maps"
	"slices"
	"time"

	"voltbus/api/answer"
	"voltbus/bus/blocklog"
	"voltbus/catalog"
	"voltbus/history"
	"voltbus/point"
	"voltbus/recorder"
	"voltbus/sink"
	"voltbus/store"
)

// MaxGaps is the maximum number of gaps listed.
const MaxGaps = 1000

// Blocks is the log of a node. Package bus implements it.
type Blocks interface {
	State(ctx context.Context) (blocklog.State, error)
	Bounds(ctx context.Context) (first, last uint64, err error)
	// Written returns the time at which a block was written.
	Written(ctx context.Context, sequence uint64) (time.Time, error)
}

// Options are the sources of a Ledger. All but Sink are required.
type Options struct {
	Origin   string // the origin of the node's own blocks
	Blocks   Blocks
	Recorder *recorder.Recorder
	Sink     *sink.Sink // nil for a node without a store
	History  *history.History
	Catalog  *catalog.Catalog
}

// Ledger accounts for the samples of a node. It is safe for concurrent use.
type Ledger struct{ opts Options }

// New returns a ledger.
func New(o Options) *Ledger { return &Ledger{opts: o} }

// Own returns what was produced, acknowledged and stored at this node, for each origin.
func (l *Ledger) Own(ctx context.Context) (answer.Ledger, error) {
	out := answer.Ledger{State: "ok", Origins: []answer.Origin{}, Gaps: []answer.Gap{}, Damaged: []answer.Damage{}}
	state, err := l.opts.Blocks.State(ctx)
	if err != nil {
		return out, err
	}
	out.Log = answer.Log{Bytes: uint64(state.Bytes), MaxBytes: uint64(state.MaxBytes), Blocks: blocksIn(state)}
	positions, err := l.positions(ctx, &out)
	if err != nil && !history.Away(err) {
		return out, err
	}
	if err != nil { // the last stored position is known, and so is the backlog after it
		out.State, out.Reason = "backlog", err.Error()
	}
	lanes := l.opts.Recorder.Lanes()
	if lanes[0].Paused != nil {
		out.State, out.Reason = "paused", lanes[0].Paused.Error()
	} else if l.opts.Sink != nil && l.opts.Sink.Stats().Err != nil {
		out.State, out.Reason = "backlog", l.opts.Sink.Stats().Err.Error()
	}
	for _, s := range lanes {
		out.Origins = append(out.Origins, l.account(positions[s.Origin], s, true))
	}
	for _, s := range l.foreign(positions) {
		out.Origins = append(out.Origins, l.account(positions[s.Origin], s, false))
	}
	return out, nil
}

// Acknowledged returns how many samples of each origin are on disk or were.
func (l *Ledger) Acknowledged() map[string]uint64 {
	out := map[string]uint64{}
	for origin, p := range l.opts.Recorder.Others() {
		out[origin] = p.Samples
	}
	for _, s := range l.opts.Recorder.Lanes() {
		out[s.Origin] = s.Acknowledged
	}
	return out
}

// foreign returns what is known about the origins of other nodes, by name: their positions in the log and the
// store.
func (l *Ledger) foreign(positions map[string]store.Position) []recorder.Stats {
	all := l.opts.Recorder.Others()
	for origin, p := range positions {
		if p.Sequence >= all[origin].Sequence {
			all[origin] = recorder.Position{Sequence: p.Sequence, Samples: p.Samples, Refused: p.Refused}
		}
	}
	for _, s := range l.opts.Recorder.Lanes() {
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

// positions reads the store's side of the ledger. After an error they are the last known ones.
func (l *Ledger) positions(ctx context.Context, out *answer.Ledger) (map[string]store.Position, error) {
	if l.opts.History.Store() == nil {
		return map[string]store.Position{}, nil
	}
	positions, err := l.opts.History.Positions(ctx)
	if err != nil {
		return positions, err
	}
	gaps, err := l.opts.History.Store().Gaps(ctx, MaxGaps)
	if err != nil {
		return positions, err
	}
	for _, g := range gaps {
		out.Gaps = append(out.Gaps, answer.Gap(g))
		if g.Reason == "dropped" && (g.Origin == l.opts.Origin || g.Origin == point.UrgentOrigin(l.opts.Origin)) {
			out.Log.DroppedBlocks += g.Last - g.First + 1
			out.Log.DroppedSamples += g.Samples
		}
	}
	stats, err := l.opts.History.Store().Stats(ctx)
	if err != nil {
		return positions, err
	}
	out.Overwritten = stats.Overwritten
	for _, d := range stats.Damaged {
		out.Damaged = append(out.Damaged, answer.Damage(d))
	}
	if d := l.opts.Catalog.Damage(); d != nil {
		out.Damaged = append(out.Damaged, answer.Damage{File: d.File, Reason: d.Reason, Noticed: d.Noticed})
	}
	return positions, nil
}

// account compares an origin's figures with those of the store. It balances if every sample is accounted for:
// refused, in transit, waiting in the log, missing, left out or stored. Without a store there is no backlog.
func (l *Ledger) account(p store.Position, s recorder.Stats, own bool) answer.Origin {
	if l.opts.History.Store() == nil {
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

// Backlog returns how many blocks of the log are pending for a consumer that has those up to a sequence number, and when the oldest of them was
// written.
func (l *Ledger) Backlog(ctx context.Context, sequence uint64) (waiting uint64, oldest time.Time) {
	first, last, err := l.opts.Blocks.Bounds(ctx)
	next := max(sequence+1, first)
	if err != nil || next > last {
		return 0, oldest
	}
	if at, err := l.opts.Blocks.Written(ctx, next); err == nil {
		oldest = at
	}
	return last - next + 1, oldest
}
