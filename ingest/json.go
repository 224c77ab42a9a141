package ingest

import (
	"errors"
	"fmt"

	"voltbus/fault"
	"voltbus/point"
)

var (
	errShape     = errors.New(`must be {"samples": [{"point": …, "time": …, "value": …}]}, {"series": [{"point": …, "samples": [[time, value]]}]} or an array of samples`)
	errObject    = errors.New(`must be an object such as {"point": "a/b", "time": "2026-01-31T12:00:00Z", "value": 21.5}`)
	errTuple     = errors.New("must be [time, value] or [time, value, quality]")
	errNoValue   = errors.New("has no value; write null, with a quality such as bad, if there is none")
	errNoReading = errors.New("null needs a quality that is bad, such as bad or bad(timeout)")
	errQuality   = errors.New("is not a quality; write good, uncertain, bad or one with a reason, such as bad(timeout)")
	errKind      = errors.New("is not a kind; write float, int, bool or text")
	errMismatch  = errors.New("does not fit the kind")
	errString    = errors.New("must be a string")
	errJSONValue = errors.New("a value must be a number, true, false, a string or null")
)

// reading is one as it is written, before it is checked. Fields that are nil are absent. They
// point into the body.
type reading struct {
	name    []byte // the point
	time    []byte // JSON, a string without its quotes
	value   []byte // JSON
	quality []byte
	kind    []byte
	unit    []byte
}

// parseJSON reads Voltbus's own JSON.
func (p *Parser) parseJSON(body []byte) error {
	s := &scanner{b: body}
	if err := s.check(); err != nil {
		return err
	}
	n := 0
	if s.accept('[') {
		return p.samples(s, &n)
	}
	if !s.accept('{') {
		return fault.E("ingest.Parse", fault.Invalid, "body", errShape)
	}
	found := false
	for name, ok := s.key(); ok; name, ok = s.key() {
		read := p.samples
		switch string(name) {
		case "samples":
		case "series":
			read = p.allSeries
		default: // such as what an answer about a range has beside its series
			s.raw()
			continue
		}
		found = true
		if !s.accept('[') {
			return fault.E("ingest.Parse", fault.Invalid, "body", errShape)
		}
		if err := read(s, &n); err != nil {
			return err
		}
	}
	if !found {
		return fault.E("ingest.Parse", fault.Invalid, "body", errShape)
	}
	return nil
}

// samples reads an array of objects; n counts readings.
func (p *Parser) samples(s *scanner, n *int) error {
	for s.item() {
		*n++
		if s.peek() != '{' {
			s.raw()
			p.refuse(*n, "", errObject)
			continue
		}
		r, err := readObject(s)
		if err == nil {
			err = p.reading(*n, &r)
		}
		if err != nil {
			p.refuse(*n, string(r.name), err)
		}
		if err := p.spill(); err != nil {
			return err
		}
	}
	return nil
}

// readObject reads a reading that is an object. It always steps over the whole of it.
func readObject(s *scanner) (r reading, err error) {
	s.accept('{')
	for name, ok := s.key(); ok; name, ok = s.key() {
		quoted := s.peek() == '"'
		v := s.raw()
		if quoted && string(name) != "value" {
			v = unquoteJSON(v)
		}
		var e error
		switch string(name) {
		case "value":
			r.value = v
		case "time":
			r.time = v
		case "point":
			r.name, e = v, must(quoted)
		case "quality":
			r.quality, e = v, must(quoted)
		case "kind":
			r.kind, e = v, must(quoted)
		case "unit":
			r.unit, e = v, must(quoted)
		default:
			e = errors.New("unknown; there are point, time, value, quality, kind and unit")
		}
		if e != nil && err == nil {
			err = fmt.Errorf("%q: %w", clip(string(name)), e)
		}
	}
	return r, err
}

func must(quoted bool) error {
	if !quoted {
		return errString
	}
	return nil
}

// allSeries reads an array of series, as the answer to a range has them.
func (p *Parser) allSeries(s *scanner, n *int) error {
	for s.item() {
		if s.peek() != '{' {
			s.raw()
			*n++
			p.refuse(*n, "", errObject)
			continue
		}
		if err := p.oneSeries(s, n); err != nil {
			return err
		}
	}
	return nil
}

func (p *Parser) oneSeries(s *scanner, n *int) error {
	var r reading
	var tuples []byte
	s.accept('{')
	for name, ok := s.key(); ok; name, ok = s.key() {
		quoted := s.peek() == '"'
		v := s.raw()
		switch {
		case string(name) == "samples":
			tuples = v
		case !quoted:
		case string(name) == "point":
			r.name = unquoteJSON(v)
		case string(name) == "kind":
			r.kind = unquoteJSON(v)
		case string(name) == "unit":
			r.unit = unquoteJSON(v)
		}
	}
	if string(r.kind) == "none" { // a range says so of a point without a fixed kind
		r.kind = nil
	}
	if len(tuples) == 0 || tuples[0] != '[' {
		*n++
		p.refuse(*n, string(r.name), errShape)
		return nil
	}
	return p.tuples(&scanner{b: tuples, i: 1}, r, n)
}

func (p *Parser) tuples(s *scanner, r reading, n *int) error {
	for s.item() {
		*n++
		err := readTuple(s, &r)
		if err == nil {
			err = p.reading(*n, &r)
		}
		if err != nil {
			p.refuse(*n, string(r.name), err)
		}
		if err := p.spill(); err != nil {
			return err
		}
	}
	return nil
}

// readTuple reads time, value and quality. It always steps over the whole tuple.
func readTuple(s *scanner, r *reading) error {
	r.time, r.value, r.quality = nil, nil, nil
	if !s.accept('[') {
		s.raw()
		return errTuple
	}
	parts := 0
	for ; s.item(); parts++ {
		quoted := s.peek() == '"'
		v := s.raw()
		if quoted && parts != 1 {
			v = unquoteJSON(v)
		}
		switch parts {
		case 0:
			r.time = v
		case 1:
			r.value = v
		case 2:
			r.quality = v
		}
	}
	if parts < 2 || parts > 3 {
		return errTuple
	}
	return nil
}

// reading checks a reading and appends it.
func (p *Parser) reading(n int, r *reading) error {
	path, err := p.names.path(r.name)
	if err != nil {
		return err
	}
	at, err := p.when(r.time)
	if err != nil {
		return err
	}
	quality, err := parseQuality(r.quality)
	if err != nil {
		return err
	}
	if r.value == nil {
		return errNoValue
	}
	value, err := jsonValue(r.value, r.kind)
	if err != nil {
		return err
	}
	if value.Kind() == point.None && !quality.IsBad() {
		return errNoReading
	}
	p.unitOf(path, r.unit)
	p.add(n, &point.Sample{Point: path, Time: sampleTime(at), Value: value, Quality: quality})
	return nil
}

// when returns the time of a reading: now, if it says none.
func (p *Parser) when(b []byte) (int64, error) {
	if b == nil || string(b) == "null" {
		return p.now, nil
	}
	return p.cellTime(b)
}

func parseQuality(b []byte) (point.Quality, error) {
	if len(b) == 0 || string(b) == "good" {
		return point.Good, nil
	}
	q, ok := point.ParseQuality(string(b))
	if !ok {
		return point.Bad, fmt.Errorf("%.40q %w", b, errQuality)
	}
	return q, nil
}

// jsonValue reads a JSON value of a kind; nil stands for any.
func jsonValue(raw, kind []byte) (v point.Value, err error) {
	switch raw[0] {
	case 'n':
		return point.Value{}, nil
	case 't', 'f':
		v = point.BoolOf(raw[0] == 't')
	case '"':
		b := unquoteJSON(raw)
		if string(kind) != "text" && (string(b) == "NaN" || string(b) == "+Inf" || string(b) == "-Inf") {
			return v, errNotFinite // which is how answers of the API write them
		}
		v, err = text(b)
	case '{', '[':
		return v, errJSONValue
	default:
		v, err = number(raw)
	}
	if err != nil {
		return v, err
	}
	return convert(v, kind)
}

// convert makes the value one of the kind, if it can be without loss.
func convert(v point.Value, kind []byte) (point.Value, error) {
	if len(kind) == 0 {
		return v, nil
	}
	want, ok := point.ParseKind(string(kind))
	if !ok || want == point.None {
		return v, fmt.Errorf("%.40q %w", kind, errKind)
	}
	f, numeric := v.Number()
	switch {
	case v.Kind() == want:
		return v, nil
	case want == point.Float && v.Kind() == point.Int:
		return point.FloatOf(f), nil
	case want == point.Int && v.Kind() == point.Float:
		if n, ok := v.Int(); ok && float64(n) == f {
			return point.IntOf(n), nil
		}
	case want == point.Bool && numeric && (f == 0 || f == 1):
		return point.BoolOf(f == 1), nil
	}
	return v, fmt.Errorf("%.40q %w %s", v.String(), errMismatch, kind)
}

const maxUnit = 64

// unitOf notes the unit of a point.
func (p *Parser) unitOf(path point.Path, unit []byte) {
	if len(unit) == 0 || len(unit) > maxUnit || p.batch.Units[path] == string(unit) {
		return
	}
	if v, err := text(unit); err == nil {
		if p.batch.Units == nil {
			p.batch.Units = map[point.Path]string{}
		}
		p.batch.Units[path] = v.Text()
	}
}
