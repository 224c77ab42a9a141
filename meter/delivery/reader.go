package delivery

import (
	"context"
	"math"
	"strings"
	"time"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/point"
	"voltbus/wire"
)

// readAhead is how many blocks wait for their readings to be sent.
const readAhead = 16

// entry is a block of the log.
type entry struct {
	sequence uint64
	lost     uint64       // samples of its origin that the log had dropped before it
	block    *point.Block // nil: it holds no readings
}

// reader decodes blocks and notices what is missing of readings.
type reader struct {
	out     chan<- entry
	decoder wire.Decoder
	ends    map[string]uint64 // samples of each origin of readings, up to its last block
}

func (r *reader) deliver(ctx context.Context) func(uint64, []byte) error {
	return func(sequence uint64, data []byte) error {
		e, b := entry{sequence: sequence}, new(point.Block)
		// One that cannot be decoded is missed at the next block of its origin, and the sink of the history reports it.
		if err := r.decoder.DecodeBlock(data, b); err == nil && hasReadings(b.Origin) {
			if end := r.ends[b.Origin]; b.Before > end {
				e.lost = b.Before - end
			}
			r.ends[b.Origin], e.block = b.End(), b
		}
		select {
		case r.out <- e:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// hasReadings reports whether the blocks of an origin hold readings.
func hasReadings(origin string) bool {
	return point.IsMeterOrigin(origin) && !point.IsMeterEventOrigin(origin)
}

// count counts the readings in the log that are not sent yet.
func (d *Delivery) count() func(uint64, []byte) error {
	var decoder wire.Decoder
	b := new(point.Block)
	return func(_ uint64, data []byte) error {
		if err := decoder.DecodeBlock(data, b); err != nil || !hasReadings(b.Origin) {
			return nil //nolint:nilerr // such a block has no readings to wait for
		}
		n := int64(0)
		for _, k := range b.Kind {
			if k == point.Float {
				n++
			}
		}
		d.mu.Lock()
		d.waiting += n
		d.mu.Unlock()
		return nil
	}
}

// each calls do with each reading of a block, in order, with the number of those up to it.
func each(b *point.Block, do func(r *meter.Reading, n int) error) error {
	keys := make([]meter.Reading, len(b.Points))
	for i, p := range b.Points {
		p = point.Path(strings.Clone(string(p)))
		if k, ok := store.KeyOf(p); ok {
			keys[i].Meter, keys[i].Channel = k.Meter, k.Channel
		} else if id, t, ok := store.TypeOf(p); ok {
			keys[i].Meter, keys[i].Type = id, t
		}
	}
	n := 0
	for i, p := range b.Point {
		if b.Kind[i] != point.Float {
			continue
		}
		n++
		r := keys[p]
		r.End, r.Value = time.UnixMicro(b.Time[i]).UTC(), math.Float64frombits(b.Bits[i])
		if err := do(&r, n); err != nil {
			return err
		}
	}
	return nil
}
