package greenbutton

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"voltbus/meter"
	"voltbus/meter/message"
)

// series is what the readings of a MeterReading have in common.
type series struct {
	sample meter.Reading // without its end and value
	kind   *kind
	target Target
	wrong  error
}

// join makes readings of what was read: each block belongs to a MeterReading, that to a UsagePoint and a ReadingType.
func (f *feed) join() *message.List {
	readings, points := newFamily(f.readings), newFamily(f.points)
	l := &message.List{}
	all := make([]*series, len(f.readings))
	for _, b := range f.blocks {
		at, ok := readings.parent(&b.links)
		if !ok {
			f.refuse(l, &b, errOrphan)
			continue
		}
		if all[at] == nil {
			all[at] = f.series(&f.readings[at].links, points)
		}
		f.add(l, &b, all[at])
	}
	return l
}

var (
	errOrphan = errors.New("its IntervalBlock belongs to no MeterReading, or to several: link it as up to what one MeterReading has as related")
	errKind   = errors.New("its MeterReading has no ReadingType: link one as related")
	errPoint  = errors.New("its MeterReading belongs to no UsagePoint, or to several: link it as up to what one UsagePoint has as related")
	errPower  = errors.New("ReadingType: powerOfTenMultiplier: write a number from -12 to 12")
)

// family finds entries by the addresses of those that belong to them.
type family struct{ of, self map[string]int }

// ambiguous is in place of an entry where several claim an address.
const ambiguous = -1

func newFamily(list []resource) *family {
	f := &family{of: make(map[string]int), self: make(map[string]int)}
	for i := range list {
		claim(f.self, list[i].self, i)
		for _, r := range list[i].related {
			claim(f.of, r, i)
		}
	}
	return f
}

func claim(in map[string]int, address string, i int) {
	if at, there := in[address]; there && at != i {
		i = ambiguous
	}
	in[address] = i
}

// parent returns the entry to which another belongs: the one that names its address or that of its collection as related, or whose
// address begins that of its collection.
func (f *family) parent(l *links) (int, bool) {
	for _, address := range []string{l.up, l.self} {
		if i, ok := f.of[address]; ok && address != "" {
			return i, i != ambiguous
		}
	}
	if cut := strings.LastIndexByte(l.up, '/'); cut > 0 {
		i, ok := f.self[l.up[:cut]]
		return i, ok && i != ambiguous
	}
	return 0, false
}

// series finds what a MeterReading is of.
func (f *feed) series(l *links, points *family) *series {
	s := &series{wrong: errKind}
	for _, address := range l.related {
		if k := f.types[address]; k != nil {
			s.kind, s.wrong = k, k.wrong
		}
	}
	if s.wrong != nil {
		return s
	}
	if p := s.kind.code[meter.PowerOfTen]; p < -mostPower || p > mostPower {
		s.wrong = errPower
		return s
	}
	at, ok := points.parent(l)
	if !ok {
		s.wrong = errPoint
		return s
	}
	text := message.Text{Meter: []byte(idOf(f.points[at].self)), Type: []byte(s.kind.code.String())}
	if s.sample, s.wrong = text.Key(); s.wrong != nil {
		return s
	}
	s.target = Target{Multiplier: 1, Interval: time.Duration(s.kind.length) * time.Second}
	if f.resolve != nil {
		if s.target, s.wrong = f.resolve(s.sample.Meter, s.kind.code, s.target.Interval); s.target.Channel != 0 {
			s.sample.Channel, s.sample.Type = s.target.Channel, meter.ReadingType{}
		}
	}
	return s
}

// idOf returns the last part of an address.
func idOf(address string) string {
	part := address[strings.LastIndexByte(address, '/')+1:]
	if id, err := url.PathUnescape(part); err == nil {
		return id
	}
	return part
}

// refuse refuses all readings of a block.
func (f *feed) refuse(l *message.List, b *block, why error) {
	for range f.raw[b.first:b.last] {
		l.Add(nil, why)
	}
}

// add adds the readings of a block.
func (f *feed) add(l *message.List, b *block, s *series) {
	if s.wrong != nil {
		f.refuse(l, b, s.wrong)
		return
	}
	for i := range f.raw[b.first:b.last] {
		r, wrong := s.reading(b, i, &f.raw[b.first+i])
		l.Add(&r, wrong)
	}
}

var errPlace = errors.New("timePeriod: missing, and the ReadingType has no intervalLength")

// reading makes a reading of the one at a place of a block.
func (s *series) reading(b *block, place int, in *raw) (meter.Reading, error) {
	r := s.sample
	if in.wrong != nil {
		return r, in.wrong
	}
	quality := in.quality
	if quality < 0 {
		quality = s.kind.usual
	}
	if why := invented(quality); why != "" {
		return r, errors.New(why)
	}
	start, duration := in.start, in.duration
	if !in.placed {
		if s.kind.length == 0 {
			return r, errPlace
		}
		start, duration = b.start+int64(place)*s.kind.length, s.kind.length
	}
	if want := int64(s.target.Interval / time.Second); want > 0 && duration != want {
		return r, fmt.Errorf("duration: %d s, where the channel has intervals of %d s", duration, want)
	}
	r.End = time.Unix(start+duration, 0).UTC()
	r.Value = s.target.reading(float64(in.value))
	return r, nil
}
