package source

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"voltbus/broker/template"
	"voltbus/fault"
	"voltbus/ingest"
	"voltbus/point"
	"voltbus/source/setting"
)

// formats are those of a payload without templates.
var formats = map[string]ingest.Format{ //nolint:gochecknoglobals // a table
	setting.JSON: ingest.JSON, setting.SenML: ingest.SenML, setting.SenMLCBOR: ingest.SenMLCBOR, setting.Line: ingest.Line, setting.CSV: ingest.CSV,
}

// payloads makes readings of messages. One goroutine uses it.
type payloads struct {
	under     point.Path // in front of names; "" for nothing
	bounds    point.Bounds
	format    ingest.Format
	options   ingest.Options
	parser    *ingest.Parser
	templates *template.Set              // nil: the format counts
	matches   map[string]*template.Match // by topic
	paths     map[named]point.Path       // of the points of templates
}

// named is the name of a point with its device.
type named struct {
	device point.Path
	name   string
}

// mostKnown bounds what is remembered of topics and of names, which come from outside.
const mostKnown = 100_000

func newPayloads(s *setting.Source, bounds point.Bounds) (p *payloads, err error) {
	p = &payloads{bounds: bounds, format: formats[s.Format], parser: ingest.NewParser(), matches: map[string]*template.Match{}, paths: map[named]point.Path{}}
	if !s.Whole {
		p.under = point.Path(s.Under)
	}
	p.options = ingest.Options{Bounds: bounds, Under: p.under}
	if p.options.Precision, err = ingest.ParsePrecision(s.Precision); err != nil {
		return nil, fault.E("sources.Open", fault.Invalid, s.Precision, err)
	}
	if s.Layout != "" {
		if p.options.Layout, err = ingest.ParseLayout(s.Layout); err != nil {
			return nil, fault.E("sources.Open", fault.Invalid, s.Layout, err)
		}
	}
	if len(s.Templates) > 0 {
		if p.templates, err = template.Compile(s.Templates); err != nil {
			return nil, fault.E("sources.Open", fault.Invalid, s.Name, err)
		}
	}
	return p, nil
}

// batch is what is read from messages, with the place of each reading's message.
type batch struct {
	ingest.Batch

	now    time.Time      // when the messages arrived
	unread map[int]string // why a message could not be read, or not all of it
	taken  []int          // readings of each message
}

func newBatch(messages int, now time.Time) *batch {
	return &batch{now: now, Batch: ingest.Batch{Report: &ingest.Report{}, Units: map[point.Path]string{}}, unread: map[int]string{}, taken: make([]int, messages)}
}

// fail notes why a message could not be read. The first reason counts.
func (b *batch) fail(message int, reason string) {
	if _, known := b.unread[message]; !known {
		b.unread[message] = reason
	}
}

var errNothing = errors.New("the template takes nothing of it")

// take adds the readings of a message.
func (p *payloads) take(b *batch, number int, m *Message) {
	if m.Payload == nil {
		return
	}
	at := m.Time
	if at.IsZero() || !p.bounds.Hold(at, b.now) {
		at = b.now
	}
	var err error
	before := len(b.Samples)
	if p.templates != nil {
		err = p.byTemplate(b, number, m, at.UTC().Truncate(time.Microsecond))
	} else {
		err = p.byFormat(b, number, m, at.UTC())
	}
	b.taken[number] = len(b.Samples) - before
	if err != nil {
		b.fail(number, plain(err))
	}
}

// plain leaves out of an error what people who look at a message do not need.
func plain(err error) string {
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}

func (p *payloads) byFormat(b *batch, number int, m *Message, at time.Time) error {
	p.options.Now = at
	report, err := p.parser.Parse(p.format, m.Payload, p.options, func(part *ingest.Batch) error {
		for i := range part.Samples {
			b.Samples, b.Lines = append(b.Samples, part.Samples[i]), append(b.Lines, number)
		}
		maps.Copy(b.Units, part.Units)
		return nil
	})
	b.Refused += report.Refused
	b.Misdated += report.Misdated
	if err == nil && len(report.Errors) > 0 {
		e := &report.Errors[0]
		err = fmt.Errorf("reading %d: %s", e.Line, e.Detail)
		if e.Point != "" {
			err = fmt.Errorf("reading %d, %s: %s", e.Line, e.Point, e.Detail)
		}
	}
	return err
}

func (p *payloads) byTemplate(b *batch, number int, m *Message, at time.Time) error {
	match := p.match(m.Topic)
	if match == nil {
		return fmt.Errorf("no template takes messages of the topic %q", m.Topic)
	}
	before, wrong := len(b.Samples), error(nil)
	err := match.Take(at, m.Topic, m.Payload, func(r *template.Reading) {
		path, bad := p.path(match.Device, r.Name)
		if bad != nil {
			b.Refused++
			wrong = fmt.Errorf("%q is not a name of a point: %w", r.Name, bad)
			return
		}
		s := point.Sample{Point: path, Time: r.Time.Truncate(time.Microsecond), Value: r.Value, Quality: r.Quality}
		switch {
		case r.Time.IsZero():
			s.Time = at
		case !p.bounds.Hold(r.Time, at):
			s.Time, s.Quality = at, s.Quality.Doubtful()
			b.Misdated++
		}
		if r.Unit != "" {
			b.Units[path] = r.Unit
		}
		b.Samples, b.Lines = append(b.Samples, s), append(b.Lines, number)
	})
	if err == nil {
		err = wrong
	}
	if err == nil && len(b.Samples) == before && len(m.Payload) > 0 {
		err = errNothing
	}
	return err
}

// match returns the template for a topic, nil for none.
func (p *payloads) match(topic string) *template.Match {
	m, known := p.matches[topic]
	if !known {
		m = p.templates.Find(topic)
		if len(p.matches) >= mostKnown {
			clear(p.matches)
		}
		p.matches[topic] = m
	}
	return m
}

// path returns the path of a point of a template.
func (p *payloads) path(device point.Path, name string) (point.Path, error) {
	key := named{device, name}
	if path, known := p.paths[key]; known {
		return path, nil
	}
	path := device.Join(name)
	if p.under != "" {
		path = p.under.Join(string(path))
	}
	if err := path.Validate(); err != nil {
		return "", err
	}
	if len(p.paths) >= mostKnown {
		clear(p.paths)
	}
	p.paths[key] = path
	return path, nil
}
