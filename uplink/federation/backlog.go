package federation

import (
	"context"
	"errors"
	"strings"
	"time"

	"voltbus/point"
	"voltbus/query"
	"voltbus/store"
	"voltbus/store/overlay"
	"voltbus/wire"
)

// errFull ends a scan of the log that takes too long.
var errFull = errors.New("more of the log than may be looked at")

// backlog reads samples of points from the log.
type backlog struct {
	wanted   map[point.Path]bool
	from, to int64    // microseconds
	bound    *pruning // nil: keep all
	samples  overlay.Samples
	left     int // samples that may still be examined

	decoder wire.Decoder
	block   point.Block
	paths   []point.Path // by the block's dictionary; "" for unwanted ones
}

// own is the history of this node: its store, and the part of its log that is not in the store yet.
type own struct {
	name    string
	store   store.Store
	logOnly bool // nothing is ever in store
	log     Log
}

// tail returns samples of the points that are in the log here and not in the store yet, and, if not all of it
// could be examined, this node as a source that says so.
func (o *own) tail(ctx context.Context, wanted map[point.Path]bool, from, to time.Time) (overlay.Samples, []query.Source, error) {
	log, sequence, err := o.store.Cursor(ctx)
	if err != nil {
		return nil, nil, err
	}
	if log != o.log.ID() {
		sequence = 0
	}
	samples, whole, err := o.scan(ctx, sequence, &backlog{wanted: wanted, from: from.UnixMicro(), to: to.UnixMicro()})
	if err != nil || whole {
		return samples, nil, err
	}
	if o.logOnly {
		return samples, []query.Source{{
			Node: o.name, State: query.SourceFailed,
			Why: "it keeps no history but its log, of which only the oldest part was looked at: newer samples may be missing; ask for fewer points or a shorter time",
		}}, nil
	}
	return samples, []query.Source{{
		Node: o.name, State: query.SourceFailed,
		Why: "much of its log is not in its own store yet, and only the oldest of that was looked at: newer samples may be missing; " +
			"ask again when its store has caught up",
	}}, nil
}

// scan returns samples of the points that are in the log after a sequence number. whole is false if there
// were too many, or too many for the available time: those found are then from the oldest blocks. errLarge:
// more are wanted than fit into one answer.
func (o *own) scan(ctx context.Context, behind uint64, b *backlog) (found overlay.Samples, whole bool, err error) {
	_, last, err := o.log.Bounds(ctx)
	if err != nil || last <= behind || len(b.wanted) == 0 {
		return nil, true, err
	}
	if end, has := ctx.Deadline(); has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/2)
		defer cancel()
	}
	b.samples, b.left = overlay.Samples{}, maxScan
	err = o.log.Scan(ctx, behind+1, func(sequence uint64, data []byte) error {
		if sequence > last {
			return errEnd
		}
		return b.take(data)
	})
	switch {
	case err == nil || errors.Is(err, errEnd):
		whole = true
	case errors.Is(err, errFull) || ctx.Err() != nil:
	default:
		return nil, false, err
	}
	for p, list := range b.samples {
		b.samples[p] = overlay.Order(list)
	}
	return b.samples, whole, nil
}

// errEnd ends a scan at what was the log's end when it began.
var errEnd = errors.New("the end of the log")

func (b *backlog) take(data []byte) error {
	if b.decoder.DecodeBlock(data, &b.block) != nil {
		return nil //nolint:nilerr // what is damaged is lost to the store and the parent, too, and they tell of it
	}
	if b.left -= b.block.Len(); b.left < 0 {
		return errFull
	}
	b.paths = b.paths[:0]
	some := false
	for _, p := range b.block.Points {
		if !b.wanted[p] {
			p = ""
		}
		some = some || p != ""
		b.paths = append(b.paths, p)
	}
	if !some {
		return nil
	}
	for i, at := range b.block.Point {
		if t := b.block.Time[i]; b.paths[at] != "" && t >= b.from && t < b.to {
			b.keep(i)
		}
	}
	return b.bound.check()
}

// keep takes sample i of the block, whose strings become invalid with the next block.
func (b *backlog) keep(i int) {
	s := b.block.Sample(i)
	list := b.samples[s.Point]
	if len(list) > 0 {
		s.Point = list[0].Point
	} else {
		s.Point = point.Path(strings.Clone(string(s.Point)))
	}
	if s.Value.Kind() == point.Text {
		s.Value = point.TextOf(strings.Clone(s.Value.Text()))
	}
	b.samples[s.Point] = b.bound.prune(append(list, s))
}
