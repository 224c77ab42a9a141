package greenbutton

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"voltbus/internal/xmlpull"
	"voltbus/meter"
	"voltbus/meter/message"
)

// Resolve finds the channel of a registered meter for readings of a type with a length of intervals, 0 if the file does not say it. See Fit.
type Resolve func(id string, t meter.ReadingType, length time.Duration) (Target, error)

// Read reads a feed in one pass. The meter of a reading is the last part of the address of the UsagePoint to which its MeterReading belongs.
// The index of a reading is the number of its IntervalReading in the file, from 0. Entries may stand in any order, and everything else is left
// aside. With resolve nil readings keep the reading type of the file, and their values are in its unit.
//
// What the file says to be estimated, edited, calculated or projected is refused, reading by reading: a reading is what a meter measured.
func Read(in io.Reader, limits xmlpull.Limits, resolve Resolve) (*message.List, error) {
	f := &feed{xml: xmlpull.New(in, limits), resolve: resolve}
	k, err := f.xml.Next()
	if err != nil {
		return nil, err
	}
	if name := f.xml.Name(); k != xmlpull.Start || name != (xmlpull.Name{Space: atomSpace, Local: "feed"}) {
		return nil, f.xml.Problem("element %s of namespace %q where feed of %s is expected", name.Local, name.Space, atomSpace)
	}
	err = f.children(func(name xmlpull.Name) error {
		if name != (xmlpull.Name{Space: atomSpace, Local: "entry"}) {
			return f.xml.Skip()
		}
		return f.entry()
	})
	if err != nil {
		return nil, err
	}
	for { // nothing may stand behind it
		if _, err := f.xml.Next(); errors.Is(err, io.EOF) {
			return f.join(), nil
		} else if err != nil {
			return nil, err
		}
	}
}

// feed is one file on its way.
type feed struct {
	xml     *xmlpull.Reader
	resolve Resolve
	text    []byte

	points   []resource
	readings []resource
	types    map[string]*kind // by address
	blocks   []block
	raw      []raw
}

// resource is a UsagePoint or a MeterReading.
type resource struct{ links }

// links are the addresses of an entry.
type links struct {
	self, up string
	related  []string
}

// kind is a ReadingType.
type kind struct {
	code   meter.ReadingType
	length int64 // seconds; 0 if unknown
	usual  int   // quality of what has none of its own
	wrong  error
}

// block is an IntervalBlock: the readings from first to before last.
type block struct {
	links
	start       int64
	first, last int
}

// raw is an IntervalReading.
type raw struct {
	start, duration, value int64
	quality                int // -1 for none
	placed                 bool
	wrong                  error
}

// children calls do at the start of each element within the one that was read last. do reads it to its end.
func (f *feed) children(do func(name xmlpull.Name) error) error {
	for {
		switch k, err := f.xml.Next(); {
		case err != nil:
			return err
		case k == xmlpull.End:
			return nil
		case k == xmlpull.Start:
			if err := do(f.xml.Name()); err != nil {
				return err
			}
		}
	}
}

// content returns the text of the element that was read last, without spaces around it.
func (f *feed) content() (string, error) {
	var err error
	f.text, err = f.xml.Content(f.text[:0])
	return strings.TrimSpace(string(f.text)), err
}

// entry reads an entry. Its links may stand behind its content.
func (f *feed) entry() error {
	var l links
	points, readings, blocks := len(f.points), len(f.readings), len(f.blocks)
	var k *kind
	err := f.children(func(name xmlpull.Name) error {
		switch name {
		case xmlpull.Name{Space: atomSpace, Local: "link"}:
			l.add(f.xml.Attrs())
		case xmlpull.Name{Space: atomSpace, Local: "content"}:
			return f.children(func(name xmlpull.Name) (err error) {
				k, err = f.resource(name, k)
				return err
			})
		}
		return f.xml.Skip()
	})
	if err != nil {
		return err
	}
	for i := range f.points[points:] {
		f.points[points+i].links = l
	}
	for i := range f.readings[readings:] {
		f.readings[readings+i].links = l
	}
	for i := range f.blocks[blocks:] {
		f.blocks[blocks+i].links = l
	}
	if k != nil {
		if f.types == nil {
			f.types = map[string]*kind{}
		}
		f.types[l.self] = k
	}
	return nil
}

// add adds a link (RFC 4287, section 4.2.7).
func (l *links) add(attributes []xmlpull.Attr) {
	rel, href := "", ""
	for _, a := range attributes {
		switch a.Name {
		case xmlpull.Name{Local: "rel"}:
			rel = string(a.Value)
		case xmlpull.Name{Local: "href"}:
			href = string(a.Value)
		}
	}
	switch rel {
	case "self":
		l.self = href
	case "up":
		l.up = href
	case "related":
		l.related = append(l.related, href)
	}
}

// resource reads what stands in the content of an entry. It returns the ReadingType of the entry.
func (f *feed) resource(name xmlpull.Name, k *kind) (*kind, error) {
	if name.Space != espiSpace {
		return k, f.xml.Skip()
	}
	switch name.Local {
	case "UsagePoint":
		f.points = append(f.points, resource{})
	case "MeterReading":
		f.readings = append(f.readings, resource{})
	case "ReadingType":
		return f.kind()
	case "IntervalBlock":
		return k, f.block()
	}
	return k, f.xml.Skip()
}

// kind reads a ReadingType.
func (f *feed) kind() (*kind, error) {
	k := &kind{}
	err := f.children(func(name xmlpull.Name) error {
		switch name.Local {
		case "interharmonic":
			return f.rational(k, meter.InterharmonicNumerator)
		case "argument":
			return f.rational(k, meter.ArgumentNumerator)
		}
		for _, one := range fields() {
			if one.name == name.Local {
				return f.field(k, one.name, one.part)
			}
		}
		return f.xml.Skip()
	})
	if period := k.code[meter.MacroPeriod]; k.code[meter.MeasuringPeriod] == 0 {
		k.code[meter.MeasuringPeriod] = measuringPeriod(k.length)
		if period != 0 && meter.ReadingType([18]int16{meter.MacroPeriod: period}).Check() != nil { // earlier editions wrote the measuring period there
			k.code[meter.MacroPeriod], k.code[meter.MeasuringPeriod] = 0, max(k.code[meter.MeasuringPeriod], period)
		}
	}
	return k, err
}

// field reads a number of a ReadingType.
func (f *feed) field(k *kind, name string, part int) error {
	text, err := f.content()
	if err != nil {
		return err
	}
	bits := 16
	if part == intervalLength {
		bits = 33
	}
	n, err := strconv.ParseInt(text, 10, bits)
	switch {
	case err != nil || part < 0 && n < 0:
		k.wrong = fmt.Errorf("ReadingType: %s: %.40q: write a whole number of the type", name, text)
	case part == defaultQuality:
		k.usual = int(n)
	case part == intervalLength:
		k.length = n
	default:
		k.code[part] = int16(n)
	}
	return nil
}

// rational reads a numerator and a denominator.
func (f *feed) rational(k *kind, part int) error {
	return f.children(func(name xmlpull.Name) error {
		switch name.Local {
		case "numerator":
			return f.field(k, name.Local, part)
		case "denominator":
			return f.field(k, name.Local, part+1)
		}
		return f.xml.Skip()
	})
}

// block reads an IntervalBlock.
func (f *feed) block() error {
	b := block{first: len(f.raw)}
	err := f.children(func(name xmlpull.Name) error {
		switch name.Local {
		case "interval":
			var r raw
			err := f.period(&r)
			b.start = r.start
			return err
		case "IntervalReading":
			return f.reading()
		}
		return f.xml.Skip()
	})
	b.last = len(f.raw)
	f.blocks = append(f.blocks, b)
	return err
}

// reading reads an IntervalReading.
func (f *feed) reading() error {
	if len(f.raw) == message.MaxReadings {
		return f.xml.Problem("more than %d readings: send them in several messages", message.MaxReadings)
	}
	r := raw{quality: -1}
	valued := false
	err := f.children(func(name xmlpull.Name) error {
		switch name.Local {
		case "value":
			valued = true
			return f.number(&r, "value", &r.value, -mostValue-1, mostValue+1)
		case "timePeriod":
			r.placed = true
			return f.period(&r)
		case "ReadingQuality":
			return f.quality(&r)
		}
		return f.xml.Skip()
	})
	if !valued && r.wrong == nil {
		r.wrong = errValue
	}
	f.raw = append(f.raw, r)
	return err
}

var errValue = errors.New("value: missing")

// quality reads a ReadingQuality. Of several the one counts with which a reading is none.
func (f *feed) quality(r *raw) error {
	return f.children(func(name xmlpull.Name) error {
		if name.Local != "quality" {
			return f.xml.Skip()
		}
		var q int64
		if err := f.number(r, "quality", &q, 0, 1<<16-1); err != nil {
			return err
		}
		if r.quality < 0 || invented(r.quality) == "" {
			r.quality = int(q)
		}
		return nil
	})
}

// period reads a DateTimeInterval.
func (f *feed) period(r *raw) error {
	return f.children(func(name xmlpull.Name) error {
		switch name.Local {
		case "start":
			return f.number(r, "start", &r.start, 0, 1<<36)
		case "duration":
			return f.number(r, "duration", &r.duration, 0, 1<<32-1)
		}
		return f.xml.Skip()
	})
}

// number reads a whole number. What is wrong with it is wrong with the reading alone.
func (f *feed) number(r *raw, name string, to *int64, least, most int64) error {
	text, err := f.content()
	if err != nil {
		return err
	}
	if n, bad := strconv.ParseInt(text, 10, 64); bad == nil && n >= least && n <= most {
		*to = n
	} else {
		r.wrong = fmt.Errorf("%s: %.40q: write a whole number from %d to %d", name, text, least, most)
	}
	return nil
}
