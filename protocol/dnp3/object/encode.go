package object

import (
	"encoding/binary"
	"fmt"
	"math"
)

// image is a point ready to be written: every part fits its field.
type image struct {
	lead  byte   // flags or status, with a state
	value uint64 // bits of the value
	last  uint64 // time or status
}

// Append appends one object of a layout of FormPoint. Relative times are taken
// from the common time base.
//
// Counters keep their low 16 or 32 bits. Other values that do not fit are limited
// and get FlagOverRange; where there are no flags they are limited in events and
// refused with [ErrValue] elsewhere, above all in commands and dead-bands. Times
// are refused with [ErrValue] or [ErrTime]. After an error dst comes back unchanged.
func (l *Layout) Append(dst []byte, p *Point, base Timestamp) ([]byte, error) {
	written, err := l.fit(p, base)
	if err != nil {
		return dst, err
	}
	return l.put(dst, written), nil
}

// fit converts a point or says why it cannot be.
func (l *Layout) fit(p *Point, base Timestamp) (image, error) {
	value, over := l.convert(p.Value)
	if over && !l.has(flagged) && !l.has(isEvent) {
		return image{}, fmt.Errorf("encode %v index %d value %v: %w", l.kind, p.Index, p.Value, ErrValue)
	}
	written := image{lead: l.lead(p), value: value, last: p.Time.Milliseconds}
	if over && !l.has(statusOf) {
		written.lead |= byte(FlagOverRange)
	}
	switch {
	case l.has(timed) && p.Time.Milliseconds > MaxMilliseconds:
		return image{}, fmt.Errorf("encode %v index %d time %d ms: %w", l.kind, p.Index, p.Time.Milliseconds, ErrValue)
	case l.has(statusAt):
		written.last = uint64(p.Status)
	case l.has(offset):
		delay, ok := base.offset(p.Time)
		if !ok {
			return image{}, ErrTime
		}
		written.last = uint64(delay)
	}
	return written, nil
}

// lead returns the first octet of an object: flags or status, with a state.
func (l *Layout) lead(p *Point) byte {
	lead := byte(p.Flags)
	if l.has(statusOf) {
		lead = byte(p.Status)
	}
	switch l.value {
	case stateBit:
		lead &= 0x7F
		if p.Value.Bool() {
			lead |= 0x80
		}
	case statePair:
		lead = lead&0x3F | byte(p.Value.DoubleBit())<<6
	default:
	}
	return lead
}

// convert converts a value to what is written and reports whether it had to be limited.
func (l *Layout) convert(v Value) (bits uint64, over bool) {
	switch l.value {
	case u8, u16, u32:
		if l.kind == KindCounter || l.kind == KindFrozenCounter {
			return v.Uint(), false
		}
		top := uint64(1)<<(8*sizeTable[l.value]) - 1
		n := v.Uint()
		return min(n, top), n > top || v.Float() < 0 || math.IsNaN(v.Float())
	case i16:
		return limit(v, math.MinInt16, math.MaxInt16)
	case i32:
		return limit(v, math.MinInt32, math.MaxInt32)
	case f32:
		return single(v.Float())
	case f64:
		return math.Float64bits(v.Float()), false
	default:
		return 0, false
	}
}

func limit(v Value, low, high int64) (bits uint64, over bool) {
	n := v.Int()
	over = n < low || n > high || math.IsNaN(v.Float())
	return uint64(min(max(n, low), high)), over
}

// single converts to single precision; a finite number stays finite.
func single(x float64) (bits uint64, over bool) {
	y := float32(x)
	if math.IsInf(float64(y), 0) && !math.IsInf(x, 0) {
		y = float32(math.Copysign(math.MaxFloat32, x))
		over = true
	}
	return uint64(math.Float32bits(y)), over
}

// put writes a converted point.
func (l *Layout) put(dst []byte, written image) []byte {
	if free := dst[len(dst):cap(dst)]; len(free) >= maxPut {
		l.spread((*[maxPut]byte)(free), written)
		return dst[:len(dst)+int(l.size)]
	}
	var room [maxPut]byte
	l.spread(&room, written)
	return append(dst, room[:l.size]...)
}

func (l *Layout) spread(p *[maxPut]byte, written image) {
	at := 0
	if l.has(flagged | statusOf) {
		p[0] = written.lead
		at = 1
	}
	binary.LittleEndian.PutUint64(p[at:], written.value)
	at += int(sizeTable[l.value])
	binary.LittleEndian.PutUint64(p[at:], written.last)
}

// maxPut has room for a lead and twice eight octets, of which an object is the start:
// each part is written in full and cut by the next.
const maxPut = 1 + 8 + 8
