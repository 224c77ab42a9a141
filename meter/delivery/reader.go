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

// count counts the readings in the log behind a place that are not sent yet.
func (d *Delivery) count(first uint64, skip int) func(uint64, []byte) error {
	var decoder wire.Decoder
	b := new(point.Block)
	return func(sequence uint64, data []byte) error {
		if err := decoder.DecodeBlock(data, b); err != nil || !hasReadings(b.Origin) {
			return nil //nolint:nilerr // such a block has no readings to wait for
		}
		sent := 0
		if sequence == first {
			sent = skip
		}
		n := int64(0)
		_ = d.readings(b, func(_ *meter.Reading, at int) error {
			if at > sent {
				n++
			}
			return nil
		})
		d.mu.Lock()
		d.waiting += n
		d.mu.Unlock()
		return nil
	}
}

// readings calls do with each reading of a block that is to be sent, in order, with the number of readings up to it, those included that are
// not to be sent.
func (d *Delivery) readings(b *point.Block, do func(r *meter.Reading, n int) error) error {
	keys := make([]meter.Reading, len(b.Points)) // without a meter: not to be sent
	for i, p := range b.Points {
		p = point.Path(strings.Clone(string(p)))
		if k, ok := store.KeyOf(p); ok {
			keys[i].Meter, keys[i].Channel = k.Meter, k.Channel
		} else if id, t, ok := store.TypeOf(p); ok {
			keys[i].Meter, keys[i].Type = id, t
		}
		if keys[i].Meter != "" && d.cfg.Members != nil && !d.cfg.Members.Goes(keys[i].Meter) {
			keys[i].Meter = ""
		}
	}
	from := d.sender(b)
	n := 0
	for i, p := range b.Point {
		if b.Kind[i] != point.Float {
			from.text(b, i)
			continue
		}
		n++
		if keys[p].Meter == "" || from.leaves(b.Time[i]) {
			continue
		}
		r := keys[p]
		r.End, r.Value, r.Sender = time.UnixMicro(b.Time[i]).UTC(), math.Float64frombits(b.Bits[i]), from.name
		if err := do(&r, n); err != nil {
			return err
		}
	}
	return nil
}

// sender follows who sent the readings of a block. The zero sender is for a concentrator, which does not say.
type sender struct {
	members bool
	own     bool      // the block is of readings that were sent to this node
	node    string    // whose readings they are otherwise
	now     time.Time // by which their ends are judged
	name    string
	passed  bool // another member passed them on
}

func (d *Delivery) sender(b *point.Block) *sender {
	s := &sender{}
	if m := d.cfg.Members; m != nil {
		s.members, s.own, s.now = true, b.Origin == m.Own, d.cfg.Now()
		if !s.own {
			s.node = store.NodeSender(b.Origin)
			s.name = s.node
		}
	}
	return s
}

// text takes who sent the readings behind it.
func (s *sender) text(b *point.Block, i int) {
	if !s.members || b.Kind[i] != point.Text || b.Points[b.Point[i]] != store.SenderPoint {
		return
	}
	name := strings.Clone(b.Texts[b.Bits[i]])
	if s.passed = s.own && strings.HasPrefix(name, store.MemberMark); !s.own {
		name = s.node + "/" + name
	}
	s.name = name
}

// leaves reports whether a reading with an end is left here: what another member passed on never goes to a third, and what another node
// says is not believed as the store does not.
func (s *sender) leaves(end int64) bool {
	return s.passed || s.members && !s.own && !store.Plausible(end, s.now)
}
