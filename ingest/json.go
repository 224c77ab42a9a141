package ingest

import (
	"errors"
	"fmt"

	"voltbus/fault"
	"voltbus/ingest/jsontext"
	"voltbus/ingest/scalar"
	"voltbus/point"
)

var (
	errShape     = errors.New(`must be {"samples": [{"point": …, "time": …, "value": …}]}, {"series": [{"point": …, "samples": [[time, value]]}]}, an array of samples, or one of them`)
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

// reading is a reading as written, before it is checked. Nil fields are absent. They point into the body.
type reading struct {
	name    []byte // the point
	time    []byte // JSON, a string without its quotes
	value   []byte // JSON
	quality []byte
	kind    []byte
	unit    []byte
}

// jsonReader reads the readings of one body in Voltbus's own JSON.
type jsonReader struct {
	*Parser
	n int // readings so far
}

// parseJSON parses Voltbus's own JSON.
func (p *Parser) parseJSON(body []byte) error {
	s := jsontext.New(body)
	if err := s.Check(); err != nil {
		return err
	}
	r := &jsonReader{Parser: p}
	if s.Accept('[') {
		return r.samples(s)
	}
	if !s.Accept('{') {
		return fault.E("ingest.Parse", fault.Invalid, "body", errShape)
	}
	found := false
	for name, ok := s.Key(); ok; name, ok = s.Key() {
		read := r.samples
		switch string(name) {
		case "samples":
		case "series":
			read = r.allSeries
		default: // such as the other fields of an answer about a range
			s.Raw()
			continue
		}
		found = true
		if !s.Accept('[') {
			return fault.E("ingest.Parse", fault.Invalid, "body", errShape)
		}
		if err := read(s); err != nil {
			return err
		}
	}
	if !found {
		return r.single(body)
	}
	return nil
}

// single reads a body that is one reading.
func (j *jsonReader) single(body []byte) error {
	s := jsontext.New(body)
	r, err := readObject(s)
	if len(r.name) == 0 {
		return fault.E("ingest.Parse", fault.Invalid, "body", errShape)
	}
	if j.n++; err == nil {
		err = j.reading(&r)
	}
	if err != nil {
		j.refuse(j.n, string(r.name), err)
	}
	return nil
}

// samples reads an array of objects.
func (j *jsonReader) samples(s *jsontext.Scanner) error {
	for s.Item() {
		j.n++
		if s.Peek() != '{' {
			s.Raw()
			j.refuse(j.n, "", errObject)
			continue
		}
		r, err := readObject(s)
		if err == nil {
			err = j.reading(&r)
		}
		if err != nil {
			j.refuse(j.n, string(r.name), err)
		}
		if err := j.spill(); err != nil {
			return err
		}
	}
	return nil
}

// readObject reads a reading that is an object. It always consumes the whole object.
func readObject(s *jsontext.Scanner) (r reading, err error) {
	s.Accept('{')
	for name, ok := s.Key(); ok; name, ok = s.Key() {
		quoted := s.Peek() == '"'
		v := s.Raw()
		if quoted && string(name) != "value" {
			v = jsontext.Unquote(v)
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

// allSeries reads an array of series, as in the answer to a range query.
func (j *jsonReader) allSeries(s *jsontext.Scanner) error {
	for s.Item() {
		if s.Peek() != '{' {
			s.Raw()
			j.n++
			j.refuse(j.n, "", errObject)
			continue
		}
		if err := j.oneSeries(s); err != nil {
			return err
		}
	}
	return nil
}

func (j *jsonReader) oneSeries(s *jsontext.Scanner) error {
	var r reading
	var tuples []byte
	s.Accept('{')
	for name, ok := s.Key(); ok; name, ok = s.Key() {
		quoted := s.Peek() == '"'
		v := s.Raw()
		switch {
		case string(name) == "samples":
			tuples = v
		case !quoted:
		case string(name) == "point":
			r.name = jsontext.Unquote(v)
		case string(name) == "kind":
			r.kind = jsontext.Unquote(v)
		case string(name) == "unit":
			r.unit = jsontext.Unquote(v)
		}
	}
	if string(r.kind) == "none" { // written by a range query for a point without a fixed kind
		r.kind = nil
	}
	if len(tuples) == 0 || tuples[0] != '[' {
		j.n++
		j.refuse(j.n, string(r.name), errShape)
		return nil
	}
	inside := jsontext.New(tuples)
	inside.Accept('[')
	return j.tuples(inside, r)
}

func (j *jsonReader) tuples(s *jsontext.Scanner, r reading) error {
	for s.Item() {
		j.n++
		err := readTuple(s, &r)
		if err == nil {
			err = j.reading(&r)
		}
		if err != nil {
			j.refuse(j.n, string(r.name), err)
		}
		if err := j.spill(); err != nil {
			return err
		}
	}
	return nil
}

// readTuple reads time, value and quality. It always consumes the whole tuple.
func readTuple(s *jsontext.Scanner, r *reading) error {
	r.time, r.value, r.quality = nil, nil, nil
	if !s.Accept('[') {
		s.Raw()
		return errTuple
	}
	parts := 0
	for ; s.Item(); parts++ {
		quoted := s.Peek() == '"'
		v := s.Raw()
		if quoted && parts != 1 {
			v = jsontext.Unquote(v)
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
func (j *jsonReader) reading(r *reading) error {
	path, err := j.names.path(r.name)
	if err != nil {
		return err
	}
	at, err := j.when(r.time)
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
	j.unitOf(path, r.unit)
	j.add(j.n, &point.Sample{Point: path, Time: sampleTime(at), Value: value, Quality: quality})
	return nil
}

// when returns the time of a reading: now, if it has none.
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

// jsonValue parses a JSON value of a kind; nil means any.
func jsonValue(raw, kind []byte) (v point.Value, err error) {
	switch raw[0] {
	case 'n':
		return point.Value{}, nil
	case 't', 'f':
		v = point.BoolOf(raw[0] == 't')
	case '"':
		b := jsontext.Unquote(raw)
		if string(kind) != "text" && (string(b) == "NaN" || string(b) == "+Inf" || string(b) == "-Inf") {
			return v, scalar.ErrNotFinite // as API answers write them
		}
		v, err = scalar.Text(b)
	case '{', '[':
		return v, errJSONValue
	default:
		v, err = scalar.Number(raw)
	}
	if err != nil {
		return v, err
	}
	return convert(v, kind)
}

// convert converts the value to the kind, if possible without loss.
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

// unitOf records the unit of a point.
func (p *Parser) unitOf(path point.Path, unit []byte) {
	if len(unit) == 0 || len(unit) > maxUnit || p.batch.Units[path] == string(unit) {
		return
	}
	if v, err := scalar.Text(unit); err == nil {
		if p.batch.Units == nil {
			p.batch.Units = map[point.Path]string{}
		}
		p.batch.Units[path] = v.Text()
	}
}
