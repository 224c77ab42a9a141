package store

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"voltbus/point"
)

// Ledger holds the positions and the cursor, and decides what an Append stores: which blocks are repeats and
// where blocks are missing. Stores share it. It is not safe for concurrent use.
type Ledger struct {
	positions map[string]Position
	cursor    Cursor
}

// Cursor is how far a log is stored: see Store.Cursor. The zero Cursor is before the first block.
type Cursor struct {
	Log      string
	Sequence uint64
}

// NewLedger returns a ledger that starts from positions, which it keeps, and a cursor.
func NewLedger(positions map[string]Position, c Cursor) *Ledger {
	if positions == nil {
		positions = make(map[string]Position)
	}
	return &Ledger{positions: positions, cursor: c}
}

// Cursor returns how far a log is stored.
func (l *Ledger) Cursor() Cursor { return l.cursor }

// Positions returns a copy of all positions.
func (l *Ledger) Positions() map[string]Position { return maps.Clone(l.positions) }

// Entry is the effect of one Append on a ledger. It takes effect with Ledger.Apply, after the samples are
// stored.
type Entry struct {
	Blocks    []*point.Block // blocks to store, in order
	Positions map[string]Position
	Cursor    Cursor
	Gaps      []Gap
	Result    Result
}

// Post decides about blocks and leaves the ledger as it is. now is when gaps are noticed.
func (l *Ledger) Post(blocks []*point.Block, now time.Time) Entry {
	e := Entry{Positions: make(map[string]Position), Cursor: l.cursor}
	for _, b := range blocks {
		if b.Log != "" {
			e.Cursor = Cursor{Log: b.Log, Sequence: b.LogSequence}
		}
		pos, ok := e.Positions[b.Origin]
		if !ok {
			pos = l.positions[b.Origin]
		}
		e.Positions[b.Origin] = e.post(pos, b, now)
	}
	return e
}

// post decides about one block. For a block that spans the position it is unknown which samples were left out
// before: stored ones count as repeated first.
func (e *Entry) post(pos Position, b *point.Block, now time.Time) Position {
	n := uint64(b.Len())
	if b.Sequence <= pos.Sequence {
		pos.Repeated += n
		e.Result.Repeated += int(n)
		return pos
	}
	repeated, left := uint64(0), b.Left
	switch first := b.FirstSequence(); {
	case first > pos.Sequence+1:
		missing := b.Before - min(b.Before, pos.Samples)
		e.Gaps = append(e.Gaps, Gap{
			Origin: b.Origin, First: pos.Sequence + 1, Last: first - 1,
			Samples: missing, Reason: cmp.Or(b.Lost, "unknown"), Noticed: now.UTC().Truncate(time.Microsecond),
		})
		pos.Missing += missing
		e.Result.Missing += missing
	case first <= pos.Sequence:
		known := pos.Samples - min(b.Before, pos.Samples)
		repeated = min(known, n)
		left -= min(known-repeated, left)
	}
	e.Blocks = append(e.Blocks, b)
	e.Result.Stored += int(n - repeated)
	e.Result.Repeated += int(repeated)
	pos.Sequence = b.Sequence
	pos.Samples = b.End()
	pos.Stored += n - repeated
	pos.Repeated += repeated
	pos.Left += left
	pos.Refused = b.Refused
	pos.Time = b.Created.UTC().Truncate(time.Microsecond)
	return pos
}

// Apply applies the entry's positions and cursor to the ledger.
func (l *Ledger) Apply(e *Entry) {
	maps.Copy(l.positions, e.Positions)
	l.cursor = e.Cursor
}

// Origins lists the origins that the entry touches, in order of their names.
func (e *Entry) Origins() []string { return slices.Sorted(maps.Keys(e.Positions)) }
