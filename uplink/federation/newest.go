package federation

import (
	"context"
	"errors"
	"math"
	"time"

	"voltbus/point"
	"voltbus/query"
	"voltbus/store/overlay"
)

// firstRun is how many of the newest blocks are first searched for the newest samples; then four times as
// many before them, and so on.
const firstRun = 64

// The bounds of time, in microseconds.
const (
	firstTime = math.MinInt64
	lastTime  = math.MaxInt64
)

// newestTail is tail for the newest samples alone. If there is only the log, the newest blocks are searched
// first, until each point is found.
func (o *own) newestTail(ctx context.Context, wanted map[point.Path]bool) (overlay.Samples, []query.Source, error) {
	if !o.logOnly {
		return o.tail(ctx, wanted, time.UnixMicro(firstTime), time.UnixMicro(lastTime))
	}
	if end, has := ctx.Deadline(); has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/2)
		defer cancel()
	}
	first, last, err := o.log.Bounds(ctx)
	if err != nil {
		return nil, nil, err
	}
	found, left := overlay.Samples{}, maxScan
	for run := uint64(firstRun); last >= max(first, 1) && len(found) < len(wanted); run *= 4 {
		begin := max(first, 1, last-min(last, run)+1)
		b := &backlog{wanted: lacking(wanted, found), from: firstTime, to: lastTime, samples: overlay.Samples{}, left: left, bound: &pruning{limit: 1, newest: true}}
		err := o.log.Scan(ctx, begin, func(sequence uint64, data []byte) error {
			if sequence > last {
				return errEnd
			}
			return b.take(data)
		})
		for p, list := range b.samples {
			found[p] = overlay.Order(list)
		}
		if errors.Is(err, errFull) || ctx.Err() != nil {
			return found, nil, nil // the parent has the older ones
		}
		if err != nil && !errors.Is(err, errEnd) {
			return nil, nil, err
		}
		left, last = b.left, begin-1
	}
	return found, nil, nil
}

// lacking returns the points without a result.
func lacking(wanted map[point.Path]bool, found overlay.Samples) map[point.Path]bool {
	out := make(map[point.Path]bool, len(wanted)-len(found))
	for p := range wanted {
		if len(found[p]) == 0 {
			out[p] = true
		}
	}
	return out
}
