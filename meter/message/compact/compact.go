// Package compact reads and writes readings of meters as blocks (docs/formats/block.md): columns of binary numbers,
// compressed, with a checksum. A reading of a load profile takes about 5 bytes, where XML takes 100.
package compact

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/message"
	"voltbus/meter/store"
	"voltbus/point"
	"voltbus/wire"
)

// Media is the media type of a block.
const Media = "application/vnd.voltbus.block"

var (
	errPoint = fmt.Errorf("point: write meters/<meter>/<channel>, with at most %d bytes for the meter", message.MaxMeter)
	errKind  = errors.New("value: write a float")
)

// decoders are reused: each keeps the memory of a payload.
var decoders = sync.Pool{New: func() any { return &decoder{} }} //nolint:gochecknoglobals // a pool serves all payloads

type decoder struct {
	wire  wire.Decoder
	block point.Block
}

// Read reads a block whose points are meters/<meter>/<channel> and whose values are floats; the time of a sample is the
// end of the interval. Everything else that a block may say is left aside, as are texts of the point meters/sender, which
// have no index. It fails with fault.Invalid for what is no whole block, and for too many readings.
func Read(body []byte) (*message.List, error) {
	const op = "compact.Read"
	d := decoders.Get().(*decoder)
	defer decoders.Put(d)
	b := &d.block
	if err := d.wire.DecodeBlock(body, b); err != nil {
		return nil, fault.E(op, fault.Invalid, "body", err)
	}
	if b.Len() > message.MaxReadings {
		return nil, fault.E(op, fault.Invalid, "body", message.ErrMany)
	}
	keys := make([]store.ChannelKey, len(b.Points))
	for i, p := range b.Points {
		if k, ok := store.KeyOf(p); ok {
			keys[i] = k // the paths of a block share memory, as do its readings
		}
	}
	l := &message.List{}
	l.Grow(b.Len())
	for i, p := range b.Point {
		switch k := keys[p]; {
		case b.Points[p] == store.SenderPoint:
		case k.Meter == "" || len(k.Meter) > message.MaxMeter:
			l.Add(nil, errPoint)
		case b.Kind[i] != point.Float:
			l.Add(nil, errKind)
		default:
			l.Add(&meter.Reading{Meter: k.Meter, Channel: k.Channel, End: time.UnixMicro(b.Time[i]), Value: math.Float64frombits(b.Bits[i])}, nil)
		}
	}
	return l, nil
}

// smallest is the least bytes that a sample takes in a payload.
const smallest = 10

// Len returns how many readings a block has at most, by the length of its payload, without reading it.
func Len(body []byte) int {
	const length = 12 // the field of the envelope
	if len(body) < length+4 {
		return 0
	}
	return int(min(binary.LittleEndian.Uint32(body[length:]), wire.MaxBlock)) / smallest
}

// Pass appends readings to dst that another node is handed with their senders, see Passed. Those without a channel go with their reading
// type.
func Pass(dst []byte, readings []meter.Reading) ([]byte, error) {
	b := &point.Block{}
	var last *meter.Reading
	for i := range readings {
		r := &readings[i]
		if last == nil || r.Sender != last.Sender {
			b.Points = append(b.Points, store.SenderPoint)
			b.Append(uint32(len(b.Points)-1), &point.Sample{Time: r.End, Value: point.TextOf(r.Sender)})
			last = nil
		}
		if last == nil || r.Meter != last.Meter || r.Channel != last.Channel || r.Type != last.Type {
			p := store.PathOf(store.ChannelKey{Meter: r.Meter, Channel: r.Channel})
			if r.Channel == 0 {
				p = store.PathOfType(r.Meter, r.Type)
			}
			b.Points = append(b.Points, p)
		}
		b.Append(uint32(len(b.Points)-1), &point.Sample{Time: r.End, Value: point.FloatOf(r.Value)})
		last = r
	}
	var e wire.Encoder
	return e.AppendBlock(dst, b)
}

var errPassed = errors.New("readings that are passed on are below meters, and are floats behind who sent them")

// Passed reads what Pass writes. It fails with fault.Invalid for everything else: who sends it is no member of a cluster.
func Passed(body []byte) ([]meter.Reading, error) {
	const op = "compact.Passed"
	d := decoders.Get().(*decoder)
	defer decoders.Put(d)
	b := &d.block
	if err := d.wire.DecodeBlock(body, b); err != nil {
		return nil, fault.E(op, fault.Invalid, "body", err)
	}
	if b.Len() > message.MaxReadings {
		return nil, fault.E(op, fault.Invalid, "body", message.ErrMany)
	}
	keys := make([]meter.Reading, len(b.Points))
	for i, p := range b.Points {
		p = point.Path(strings.Clone(string(p))) // paths of a block share memory
		if k, ok := store.KeyOf(p); ok {
			keys[i].Meter, keys[i].Channel = k.Meter, k.Channel
		} else if id, t, ok := store.TypeOf(p); ok {
			keys[i].Meter, keys[i].Type = id, t
		}
	}
	var list []meter.Reading
	sender := ""
	for i, p := range b.Point {
		switch {
		case b.Points[p] == store.SenderPoint && b.Kind[i] == point.Text:
			sender = strings.Clone(b.Texts[b.Bits[i]])
		case b.Kind[i] == point.Float && keys[p].Meter != "" && len(keys[p].Meter) <= message.MaxMeter:
			r := keys[p]
			r.End, r.Value, r.Sender = time.UnixMicro(b.Time[i]), math.Float64frombits(b.Bits[i]), sender
			list = append(list, r)
		default:
			return nil, fault.E(op, fault.Invalid, "body", errPassed)
		}
	}
	return list, nil
}

// encoders are reused: each keeps the columns of a block.
var encoders = sync.Pool{New: func() any { return &encoder{} }} //nolint:gochecknoglobals // a pool serves all payloads

type encoder struct {
	wire  wire.Encoder
	block point.Block
	paths []byte // of all channels
	ends  []int  // of each path
}

// Append appends readings with channels to dst, as Read reads them. Readings of one channel that stand together take least.
func Append(dst []byte, readings []meter.Reading) ([]byte, error) {
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	b := &e.block
	b.Reset()
	e.paths, e.ends = e.paths[:0], e.ends[:0]
	var last store.ChannelKey
	for i := range readings {
		r := &readings[i]
		k := store.ChannelKey{Meter: r.Meter, Channel: r.Channel}
		if k.Channel < 1 || k.Meter == "" {
			return nil, fault.E("compact.Append", fault.Invalid, fmt.Sprintf("reading %d", i), errPoint)
		}
		if k != last {
			e.paths = store.AppendPath(e.paths, k)
			e.ends = append(e.ends, len(e.paths))
			last = k
		}
		b.Append(uint32(len(e.ends)-1), &point.Sample{Time: r.End, Value: point.FloatOf(r.Value)})
	}
	all, from := string(e.paths), 0
	for _, to := range e.ends {
		b.Points = append(b.Points, point.Path(all[from:to]))
		from = to
	}
	return e.wire.AppendBlock(dst, b)
}
