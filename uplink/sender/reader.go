package sender

import (
	"context"
	"fmt"
	"sync"

	"voltbus/point"
	"voltbus/uplink"
	"voltbus/wire"
)

// entry is an entry of the log.
type entry struct {
	log    uint64
	block  *point.Block // nil: a block of the other lane
	reason string       // why blocks before it may be missing
}

// reader reads the log for a lane.
type reader struct {
	lane    uplink.Lane
	log     Log
	next    uint64 // place expected
	out     chan entry
	decoder wire.Decoder
	losses  int            // number of losses
	reason  string         // reason of the last one
	marked  map[string]int // per origin, the losses with which its blocks were marked
}

// spare keeps blocks for reuse.
var spare = sync.Pool{New: func() any { return new(point.Block) }} //nolint:gochecknoglobals // a pool serves all lanes

func release(b *point.Block) { spare.Put(b) }

// run reads until ctx ends.
func (r *reader) run(ctx context.Context) error {
	_, last, err := r.log.Bounds(ctx)
	if err != nil {
		return fmt.Errorf("read the log's bounds: %w", err)
	}
	if r.next > last+1 {
		r.next = 1 // the log was replaced
	}
	r.marked = map[string]int{}
	if err := r.log.Read(ctx, r.next, func(sequence uint64, data []byte) error { return r.deliver(ctx, sequence, data) }); err != nil {
		return err
	}
	return ctx.Err()
}

func (r *reader) deliver(ctx context.Context, sequence uint64, data []byte) error {
	if sequence > r.next {
		r.lose(r.whyMissing(ctx))
	}
	r.next = sequence + 1
	e := entry{log: sequence}
	b, ok := spare.Get().(*point.Block)
	if !ok {
		b = new(point.Block)
	}
	switch err := r.decoder.DecodeBlock(data, b); {
	case err != nil:
		r.lose("corrupt") // the sink reports it, and the next block of the origin passes it on
		release(b)
	case uplink.LaneOf(b.Origin) != r.lane:
		release(b)
	default:
		e.block = b
		if r.marked[b.Origin] != r.losses {
			r.marked[b.Origin] = r.losses
			e.reason = r.reason
		}
	}
	select {
	case r.out <- e:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// whyMissing returns why the blocks from next on are missing: the log drops only its oldest.
func (r *reader) whyMissing(ctx context.Context) string {
	if first, _, err := r.log.Bounds(ctx); err == nil && first <= r.next {
		return "corrupt"
	}
	return "dropped"
}

func (r *reader) lose(reason string) {
	r.losses++
	r.reason = reason
}
