// Package ingest parses the request bodies in which programs send readings: Voltbus's own JSON, SenML as JSON and CBOR (RFC 8428),
// InfluxDB line protocol and CSV. It turns bytes into samples and into errors by line; it knows no HTTP and records nothing.
//
// All bodies are hostile: sizes, depth, lengths and the number of errors are bounded, every path,
// text and time is checked, and text that becomes part of a path is escaped.
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

// Format is a form in which readings are written.
type Format uint8

// The formats.
const (
	JSON      Format = iota // own JSON: samples or series of points
	SenML                   // application/senml+json
	SenMLCBOR               // application/senml+cbor
	Line                    // InfluxDB line protocol
	CSV                     // one reading a line, or one column a point
)

// Bounds of what is read.
const (
	MaxLine   = 1 << 20           // bytes of a line of text
	MaxText   = scalar.MaxText    // bytes of a text value
	MaxErrors = 100               // errors that are listed; the rest is counted
	maxDepth  = jsontext.MaxDepth // of nested CBOR
	batchSize = 32 << 10          // samples that are handed over at once
)

// Options say how a body is read.
type Options struct {
	// Now is the time of readings without one, and what relative times are relative to.
	Now time.Time
	// Precision is the unit of times that are whole numbers: time.Nanosecond, Microsecond,
	// Millisecond, Second, Minute or Hour. 0 is nanoseconds for line protocol and milliseconds
	// for JSON and CSV. SenML counts in seconds always.
	Precision time.Duration
	// Bounds say which times are believed. A reading whose time is not gets Now, and is uncertain(clock).
	Bounds point.Bounds
	// Under is put before every path; "" for nothing.
	Under point.Path
	// Layout makes paths of line protocol; nil for DefaultLayout.
	Layout *Layout
}

// Error is why a reading was refused.
type Error struct {
	Line   int        // the line of text, or the number of the reading in JSON and SenML, from 1
	Point  point.Path // "" if it is not known; bounded, otherwise as it was sent
	Kind   fault.Kind
	Detail string // what to do about it
}

// Report counts what was refused. A line that cannot be read counts once, whatever it holds.
type Report struct {
	Refused  int
	Misdated int     // readings whose time was not believed
	Errors   []Error // the first MaxErrors
}

// Refuse counts a reading that is not recorded.
func (r *Report) Refuse(line int, p point.Path, kind fault.Kind, err error) {
	r.Refused++
	if len(r.Errors) < MaxErrors {
		r.Errors = append(r.Errors, Error{Line: line, Point: p, Kind: kind, Detail: err.Error()})
	}
}

// Batch is a part of the samples of a body. Whoever is given one may take samples out and refuse
// them in the Report; nothing of it may be kept, but for the paths and values in it. Who keeps paths for
// long clones them: many stand in one piece of memory.
type Batch struct {
	Samples []point.Sample
	Lines   []int                 // where each sample stands in the body
	Units   map[point.Path]string // of points whose unit the body tells
	*Report
}

// Drop takes out the samples of which refuse returns an error, and refuses them.
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

// cut takes out all samples from the one at n on, and lets go of their texts.
func (b *Batch) cut(n int) {
	clear(b.Samples[n:])
	b.Samples, b.Lines = b.Samples[:n], b.Lines[:n]
}

// bare returns the cause of a fault, whose subject stands beside it already.
func bare(err error) error {
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Err != nil {
		return e.Err
	}
	return err
}

// Parser reads bodies one after another. It is not safe for concurrent use.
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

// Parse reads a body and hands its samples to take, in their order and in parts. What take
// returns ends the reading. The report lists what was refused. A body that is damaged as a whole,
// such as JSON that ends too early, gives fault.Invalid before any sample is handed over.
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

// add appends a sample whose path was checked.
func (p *Parser) add(line int, s *point.Sample) {
	p.batch.Samples = append(p.batch.Samples, *s)
	p.batch.Lines = append(p.batch.Lines, line)
}

// spill hands over what was gathered if it is a batch.
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

// date gives readings without a time, of which a point may have several, times that follow each other in
// the order in which they were sent.
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

// refuse notes a reading that is wrong.
func (p *Parser) refuse(line int, name string, err error) {
	p.batch.Refuse(line, point.Path(clip(name)), fault.Invalid, err)
}

const maxClip = 200

// clip shortens what a stranger sent, before it is repeated.
func clip(s string) string {
	if len(s) <= maxClip {
		return s
	}
	return s[:maxClip] + "…"
}
