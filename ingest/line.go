package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"voltbus/ingest/scalar"
	"voltbus/point"
)

var (
	errLongLine   = fmt.Errorf("a line has at most %d bytes", MaxLine)
	errNoFields   = errors.New("has no fields; a line is measurement,tag=value field=value time")
	errFieldKey   = errors.New("a field needs a name and a value: field=value")
	errFieldValue = errors.New("is no value; write 21.5, 21i, true or \"text\"")
	errQuote      = errors.New("a text is not closed by a quote")
	errTag        = errors.New("a tag needs a key and a value: tag=value")
	errNoMeasure  = errors.New("begins with no measurement")
)

// parseLines parses line protocol. A malformed line is refused as a whole; from one with values that cannot
// be recorded, such as NaN, only these are refused.
func (p *Parser) parseLines(body []byte) error {
	layout := p.opts.Layout
	if layout == nil {
		var err error
		if layout, err = ParseLayout(DefaultLayout); err != nil {
			return err
		}
	}
	p.lines.use(p.opts.Under, layout)
	for n := 1; len(body) > 0; {
		line, rest := CutLine(body)
		p.line(n, bytes.TrimRight(line, "\r"))
		n += 1 + bytes.Count(line, []byte{'\n'})
		body = rest
		if err := p.spill(); err != nil {
			return err
		}
	}
	return nil
}

// CutLine returns the first line of line protocol, which ends at a line feed outside a string, and the rest.
// An unterminated string ends with its first line, so that one mistake costs one line.
func CutLine(body []byte) (line, rest []byte) {
	end := bytes.IndexByte(body, '\n')
	if end < 0 {
		end = len(body)
	}
	if bytes.IndexByte(body[:end], '"') >= 0 && body[0] != '#' {
		end = quotedEnd(body, end)
	}
	return body[:end], body[min(end+1, len(body)):]
}

// quotedEnd finds the end of a line with quotes, whose first line feed is at end.
func quotedEnd(body []byte, end int) int {
	fields, quoted := false, false
	for i := 0; i < min(len(body), MaxLine); i++ {
		switch c := body[i]; {
		case c == '\\':
			i++
		case c == ' ':
			fields = true
		case c == '"' && fields:
			quoted = !quoted
		case c == '\n' && !quoted:
			return i
		}
	}
	if !quoted && len(body) <= MaxLine {
		return len(body)
	}
	return end
}

// line parses one line.
func (p *Parser) line(n int, line []byte) {
	line = bytes.TrimLeft(line, " \t")
	if len(line) == 0 || line[0] == '#' {
		return
	}
	if len(line) > MaxLine {
		p.refuse(n, "", errLongLine)
		return
	}
	key, rest := cutUnescaped(line, ' ')
	mark, errs := len(p.batch.Samples), len(p.batch.Errors)
	refused := p.batch.Refused
	if err := p.fields(n, p.lines.series(key), bytes.TrimLeft(rest, " ")); err != nil {
		p.batch.cut(mark)
		p.batch.Errors, p.batch.Refused = p.batch.Errors[:errs], refused
		p.refuse(n, string(key[:min(len(key), maxClip+1)]), err)
	}
}

// fields parses the fields and the time of a line.
func (p *Parser) fields(n int, s *series, rest []byte) error {
	mark := len(p.batch.Samples)
	if len(rest) == 0 {
		return errNoFields
	}
	for more := true; more; {
		at := indexUnescaped(rest, '=')
		if at <= 0 {
			return errFieldKey
		}
		name := rest[:at]
		value, behind, err := cutValue(rest[at+1:])
		if err != nil {
			return err
		}
		more = len(behind) > 0 && behind[0] == ','
		rest = behind[min(1, len(behind)):]
		if err := p.field(n, s, name, value); err != nil {
			return err
		}
	}
	at, err := p.stamp(bytes.Trim(rest, " \t"))
	if err != nil {
		return err
	}
	t := sampleTime(at)
	for i := mark; i < len(p.batch.Samples); i++ {
		p.batch.Samples[i].Time = t
	}
	return nil
}

// field appends one reading without its time.
func (p *Parser) field(n int, s *series, name, value []byte) error {
	path, err := p.lines.path(s, name)
	if err != nil {
		return err
	}
	v, err := fieldValue(value)
	if err == nil {
		p.add(n, &point.Sample{Point: path, Value: v})
		return nil
	}
	if errors.Is(err, errFieldValue) || errors.Is(err, scalar.ErrNumber) {
		return fmt.Errorf("%s: %.40q %w", clip(string(name)), value, errFieldValue)
	}
	p.refuse(n, string(path), err)
	return nil
}

// stamp parses the time after the fields.
func (p *Parser) stamp(b []byte) (int64, error) {
	if len(b) == 0 {
		return p.now, nil
	}
	return p.clock.Whole(b, p.unit)
}

// cutValue returns the value at the beginning of b as written, and the rest.
func cutValue(b []byte) (value, rest []byte, err error) {
	if len(b) > 0 && b[0] == '"' {
		for i := 1; i < len(b); i++ {
			switch b[i] {
			case '\\':
				i++
			case '"':
				if i+1 < len(b) && b[i+1] != ',' && b[i+1] != ' ' {
					return nil, nil, errFieldValue
				}
				return b[:i+1], b[i+1:], nil
			}
		}
		return nil, nil, errQuote
	}
	for i, c := range b {
		if c == ',' || c == ' ' {
			return b[:i], b[i:], nil
		}
	}
	return b, nil, nil
}

// fieldValue parses a value of line protocol.
func fieldValue(b []byte) (point.Value, error) {
	if len(b) == 0 {
		return point.Value{}, errFieldValue
	}
	switch last := b[len(b)-1]; {
	case last-'0' <= 9:
		f, err := scalar.Float(b)
		return point.FloatOf(f), err
	case last == 'i' && len(b) > 1:
		n, err := scalar.Int(b[:len(b)-1])
		return point.IntOf(n), err
	case last == 'u' && b[0] != '-':
		n, err := scalar.Int(b[:len(b)-1])
		return point.IntOf(n), err
	case b[0] == '"':
		return scalar.Text(unquote(b[1 : len(b)-1]))
	}
	switch string(b) {
	case "t", "T", "true", "True", "TRUE":
		return point.BoolOf(true), nil
	case "f", "F", "false", "False", "FALSE":
		return point.BoolOf(false), nil
	}
	if scalar.NotFinite(b) {
		return point.Value{}, scalar.ErrNotFinite
	}
	f, err := scalar.Float(b) // such as "21."
	return point.FloatOf(f), err
}

// unquote removes the backslash before quotes and backslashes.
func unquote(b []byte) []byte {
	if bytes.IndexByte(b, '\\') < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && i+1 < len(b) && (b[i+1] == '"' || b[i+1] == '\\') {
			i++
		}
		out = append(out, b[i])
	}
	return out
}

// unescape removes the backslash before commas, equal signs, spaces and backslashes.
func unescape(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b)
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && i+1 < len(b) && strings.IndexByte(`,= \`, b[i+1]) >= 0 {
			i++
		}
		out = append(out, b[i])
	}
	return string(out)
}

// indexUnescaped returns the index of the first c without a backslash before it; -1 if there is none.
func indexUnescaped(b []byte, c byte) int {
	i := bytes.IndexByte(b, c)
	if i < 0 || bytes.IndexByte(b[:i], '\\') < 0 {
		return i
	}
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case c:
			return i
		}
	}
	return -1
}

func cutUnescaped(b []byte, c byte) (before, after []byte) {
	i := indexUnescaped(b, c)
	if i < 0 {
		return b, nil
	}
	return b[:i], b[i+1:]
}

// parseOrigin parses the measurement and tags.
func parseOrigin(key []byte) (*origin, error) {
	head, rest := cutUnescaped(key, ',')
	o := &origin{measurement: unescape(head)}
	if o.measurement == "" {
		return nil, errNoMeasure
	}
	if len(head) < len(key) && len(rest) == 0 {
		return nil, errTag
	}
	for len(rest) > 0 {
		part, more := cutUnescaped(rest, ',')
		name, value := cutUnescaped(part, '=')
		if len(name) == 0 || len(value) == 0 || (len(more) == 0 && len(part) < len(rest)) {
			return nil, errTag
		}
		o.tags = append(o.tags, tag{unescape(name), unescape(value)})
		rest = more
	}
	slices.SortStableFunc(o.tags, func(a, b tag) int { return strings.Compare(a.key, b.key) })
	return o, nil
}
