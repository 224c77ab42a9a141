// Package ingest parses the request bodies in which programs send readings: Voltbus's own JSON, SenML as JSON and CBOR (RFC 8428),
// InfluxDB line protocol and CSV. It turns bytes into samples and into errors by line; it knows no HTTP and records nothing.
//
// All bodies are untrusted: sizes, depth, lengths and the number of errors are bounded, every path, text and time is checked, and
// text that becomes part of a path is escaped.
package ingest

import (
	"errors"
	"fmt"
	"time"

	"voltbus/fault"
	"voltbus/ingest/jsontext"
	"voltbus/ingest/scalar"
	"voltbus/point"
)

// Format is a format of readings.
type Format uint8

// The formats.
const (
	JSON      Format = iota // own JSON: samples or series of points
	SenML                   // application/senml+json
	SenMLCBOR               // application/senml+cbor
	Line                    // InfluxDB line protocol
	CSV                     // one reading per line, or one column per point
)

// Bounds of input.
const (
	MaxLine   = 1 << 20           // bytes of a line of text
	MaxText   = scalar.MaxText    // bytes of a text value
	MaxErrors = 100               // errors listed; further ones are counted
	maxDepth  = jsontext.MaxDepth // of nested CBOR
	batchSize = 32 << 10          // samples passed on at once
)

// Options tell how a body is parsed.
type Options struct {
	// Now is the time of readings without one, and the reference of relative times.
	Now time.Time
	// Precision is the unit of times that are whole numbers: time.Nanosecond, Microsecond, Millisecond,
	// Second, Minute or Hour. 0 is nanoseconds for line protocol and milliseconds for JSON and CSV. SenML
	// always uses seconds.
	Precision time.Duration
	// Bounds is the accepted range of times. A reading with another time gets Now, and is uncertain(clock).
	Bounds point.Bounds
	// Under is prefixed to every path; "" for nothing.
	Under point.Path
	// Layout makes paths of line protocol; nil for DefaultLayout.
	Layout *Layout
}

// Error tells why a reading was refused.
type Error struct {
	Line   int        // the line of text, or the number of the reading in JSON and SenML, from 1
	Point  point.Path // "" if unknown; bounded, otherwise as sent
	Kind   fault.Kind
	Detail string // what to do about it
}

// Report counts refusals. A line that cannot be parsed counts once, whatever it contains.
type Report struct {
	Refused  int
	Misdated int     // readings whose time was not accepted
	Errors   []Error // the first MaxErrors
}

// Refuse counts a refused reading.
func (r *Report) Refuse(line int, p point.Path, kind fault.Kind, err error) {
	r.Refused++
	if len(r.Errors) < MaxErrors {
		r.Errors = append(r.Errors, Error{Line: line, Point: p, Kind: kind, Detail: err.Error()})
	}
}

// Batch is a part of the samples of a body. Its receiver may remove samples and refuse them in the Report; it
// must not retain any of it except the paths and values. To keep paths for long, clone them: many share one
// allocation.
type Batch struct {
	Samples []point.Sample
	Lines   []int                 // position of each sample in the body
	Units   map[point.Path]string // of points whose unit is in the body
	*Report
}

// Drop removes the samples for which refuse returns an error, and refuses them.
func (b *Batch) Drop(refuse func(*point.Sample) error) {
	kept := 0
	for i := range b.Samples {
		if err := refuse(&b.Samples[i]); err != nil {
			b.Refuse(b.Lines[i], b.Samples[i].Point, fault.KindOf(err), bare(err))
			continue
		}
		if kept != i {
			b.Samples[kept], b.Lines[kept] = b.Samples[i], b.Lines[i]
		}
		kept++
	}
	b.cut(kept)
}

// cut removes all samples from index n on, and releases their strings.
func (b *Batch) cut(n int) {
	clear(b.Samples[n:])
	b.Samples, b.Lines = b.Samples[:n], b.Lines[:n]
}

// bare returns the cause of a fault whose subject is already given.
func bare(err error) error {
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Err != nil {
		return e.Err
	}
	return err
}

// Parser parses bodies one after another. It is not safe for concurrent use.
type Parser struct {
	opts  Options
	now   int64         // Options.Now in microseconds
	unit  time.Duration // of whole numbers
	take  func(*Batch) error
	batch Batch
	names names
	lines lineCache
	clock scalar.Clock
	dated map[point.Path]point.Stamp // of readings at Options.Now
}

// NewParser returns a parser.
func NewParser() *Parser { return &Parser{} }

// Parse parses a body and passes its samples to take, in order and in parts. An error from take ends the
// parsing. The report lists refusals. A body that is damaged as a whole, such as truncated JSON, gives
// fault.Invalid before any sample is passed on.
func (p *Parser) Parse(f Format, body []byte, o Options, take func(*Batch) error) (*Report, error) {
	report := &Report{}
	if err := p.begin(f, o, take, report); err != nil {
		return report, err
	}
	err := p.parse(f, body)
	if err == nil {
		err = p.flush()
	}
	p.take, p.batch.Report, p.batch.Units = nil, nil, nil
	p.batch.cut(0)
	return report, err
}

func (p *Parser) begin(f Format, o Options, take func(*Batch) error, report *Report) error {
	if o.Under != "" {
		if err := o.Under.Validate(); err != nil {
			return fault.E("ingest.Parse", fault.Invalid, clip(string(o.Under)), err)
		}
	}
	p.opts, p.take, p.now = o, take, o.Now.UnixMicro()
	p.unit = o.Precision
	if p.unit == 0 {
		p.unit = time.Millisecond
		if f == Line {
			p.unit = time.Nanosecond
		}
	}
	p.batch.Report = report
	p.names.under = o.Under
	p.clock.Reset()
	clear(p.dated)
	return nil
}

func (p *Parser) parse(f Format, body []byte) error {
	switch f {
	case JSON:
		return p.parseJSON(body)
	case SenML:
		return p.parseSenML(body)
	case SenMLCBOR:
		return p.parseCBOR(body)
	case Line:
		return p.parseLines(body)
	case CSV:
		return p.parseCSV(body)
	}
	return fault.E("ingest.Parse", fault.Internal, "", fmt.Errorf("there is no format %d", f))
}

// add appends a sample with a checked path.
func (p *Parser) add(line int, s *point.Sample) {
	p.batch.Samples = append(p.batch.Samples, *s)
	p.batch.Lines = append(p.batch.Lines, line)
}

// spill passes on the samples collected once they make a batch.
func (p *Parser) spill() error {
	if len(p.batch.Samples) < batchSize {
		return nil
	}
	return p.flush()
}

func (p *Parser) flush() error {
	if len(p.batch.Samples) == 0 {
		return nil
	}
	p.date()
	err := p.take(&p.batch)
	p.batch.cut(0)
	return err
}

// date gives readings without a time, of which a point may have several, consecutive times in the order sent.
func (p *Parser) date() {
	now := time.UnixMicro(p.now).UTC()
	for i := range p.batch.Samples {
		s := &p.batch.Samples[i]
		if !p.opts.Bounds.Hold(s.Time, now) {
			s.Time, s.Quality = now, s.Quality.Doubtful()
			p.batch.Misdated++
		}
		if s.Time.UnixMicro() != p.now {
			continue
		}
		if p.dated == nil {
			p.dated = make(map[point.Path]point.Stamp)
		}
		stamp := p.dated[s.Point]
		s.Time = stamp.Next(s.Time)
		p.dated[s.Point] = stamp
	}
}

// refuse records a wrong reading.
func (p *Parser) refuse(line int, name string, err error) {
	p.batch.Refuse(line, point.Path(clip(name)), fault.Invalid, err)
}

const maxClip = 200

// clip shortens received text before it is repeated.
func clip(s string) string {
	if len(s) <= maxClip {
		return s
	}
	return s[:maxClip] + "…"
}
