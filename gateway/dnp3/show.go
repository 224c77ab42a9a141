package dnp3

import (
	"voltbus/point"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
)

// show passes samples to the outstation; changes become events, in one step.
func (g *Gateway) show(samples []point.Sample) {
	if len(samples) == 0 {
		return
	}
	g.device.Update(func(tx *outstation.Tx) {
		for i := range samples {
			for _, p := range g.byPath[samples[i].Point] {
				p.show(tx, samples[i])
			}
		}
	})
}

func (p *Point) show(tx *outstation.Tx, s point.Sample) {
	kind, index := p.kind().kind, uint32(p.Index)
	if kind == object.KindOctetString {
		if text := s.Value.String(); text != "" && !s.Quality.IsBad() {
			tx.SetString(index, []byte(text[:min(len(text), 255)]), outstation.Detect)
		}
		return
	}
	value, ok := p.value(kind, s.Value)
	flags := flagsOf(kind, s.Quality)
	if !ok || s.Quality.IsBad() {
		last, _ := tx.Get(kind, index)
		value = last.Value
		if !s.Quality.IsBad() {
			flags = 0 // a value that this type cannot represent
		}
	}
	tx.Set(kind, object.Point{Index: index, Value: value, Flags: flags, Time: object.TimestampOf(s.Time)}, outstation.Detect)
}

// value converts a value; false if it has no meaning as the type.
func (p *Point) value(kind object.Kind, v point.Value) (object.Value, bool) {
	number, ok := v.Number()
	if !ok || number != number {
		return object.Value{}, false
	}
	switch kind {
	case object.KindBinaryInput, object.KindBinaryOutput:
		return object.Bool(v.Bool()), true
	case object.KindDoubleBitInput:
		if v.Kind() == point.Bool {
			return object.Double(object.Bool(v.Bool()).DoubleBit()), true
		}
		return object.Double(object.DoubleBit(uint8(number) & 3)), number >= 0 && number <= 3
	default:
	}
	scale := p.Scale
	if scale == 0 {
		scale = 1
	}
	reported := object.Float(number*scale + p.Offset)
	if whole, is := v.Int(); is && scale == 1 && p.Offset == 0 {
		reported = object.Signed(whole) // exact, even beyond the precision of a float
	}
	if kind == object.KindCounter {
		return object.Unsigned(reported.Uint() & 0xFFFFFFFF), true // counters roll over
	}
	return reported, true
}

// flagsOf converts a quality to flags.
func flagsOf(kind object.Kind, q point.Quality) object.Flags {
	analog := kind == object.KindAnalogInput || kind == object.KindAnalogOutput
	switch {
	case q == point.Override:
		return object.FlagOnline | object.FlagLocalForced
	case q == point.Substituted || q == point.Edited:
		return object.FlagOnline | object.FlagRemoteForced
	case q == point.UncertainRange && analog:
		return object.FlagOnline | object.FlagOverRange
	case q == point.BadSensor && analog:
		return object.FlagReference
	case q == point.BadUnreachable || q == point.BadTimeout || q == point.BadStale:
		return object.FlagCommLost
	case q.IsBad():
		return 0
	}
	return object.FlagOnline
}

// lose marks all points as lost: the node does not answer.
func (g *Gateway) lose() {
	g.device.Update(func(tx *outstation.Tx) {
		for i := range g.mapping.Points {
			k := g.mapping.Points[i].kind().kind
			last, ok := tx.Get(k, uint32(g.mapping.Points[i].Index))
			if !ok || last.Flags.Has(object.FlagCommLost) {
				continue
			}
			last.Flags = last.Flags&^object.FlagOnline | object.FlagCommLost
			tx.Set(k, last, outstation.Detect)
		}
	})
}
