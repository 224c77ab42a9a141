package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"voltbus/fault"
	"voltbus/ingest/scalar"
	"voltbus/internal/plural"
	"voltbus/point"
)

// maxColumns bounds the columns of a table.
const maxColumns = 10_000

var (
	errHeader     = errors.New("the first line must name the columns: point,time,value (and quality, kind, unit), or time and then one point a column")
	errColumns    = errors.New("unknown column; there are point, time, value, quality, kind and unit")
	errTwice      = errors.New("stands twice in the first line")
	errManyColumn = fmt.Errorf("a table has at most %d columns", maxColumns)
	errCell       = errors.New("a quote must stand around the whole cell; write two quotes for one")
	errCellNumber = errors.New("is not a number; quote it if it is text, and write a point before decimals")
)

// table reads records of CSV (RFC 4180). Quoted cells may contain line feeds.
type table struct {
	rest  []byte
	comma byte
	line  int // where rest begins
	cells []cell
	plain []byte // buffer for cells without their quotes
}

type cell struct {
	b      []byte
	quoted bool
}

// next returns the next record that is not empty, and its line. Its cells are valid until the next call. At
// the end it returns line 0. After an error it continues with the next line.
func (t *table) next() (cells []cell, line int, err error) {
	for len(t.rest) > 0 {
		line = t.line
		cells, err = t.record()
		if err != nil || len(cells) > 1 || len(cells[0].b) > 0 {
			return cells, line, err
		}
	}
	return nil, 0, nil
}

func (t *table) record() ([]cell, error) {
	t.cells, t.plain = t.cells[:0], t.plain[:0]
	first := bytes.IndexByte(t.rest, '\n') // where to continue after an error
	if first < 0 {
		first = len(t.rest)
	}
	for i := 0; ; {
		end, err := t.cell(i)
		if err != nil {
			t.step(first)
			return nil, err
		}
		if end >= len(t.rest) || t.rest[end] == '\n' {
			t.step(end)
			return t.cells, nil
		}
		i = end + 1
	}
}

// step continues after the line feed at end.
func (t *table) step(end int) {
	t.line += 1 + bytes.Count(t.rest[:end], []byte{'\n'})
	t.rest = t.rest[min(end+1, len(t.rest)):]
}

// cell reads the cell that begins at i and returns the position of its comma or line feed.
func (t *table) cell(i int) (int, error) {
	if len(t.cells) >= maxColumns {
		return 0, errManyColumn
	}
	if i < len(t.rest) && t.rest[i] == '"' {
		return t.quoted(i + 1)
	}
	from := i
	for ; i < len(t.rest) && t.rest[i] != t.comma && t.rest[i] != '\n'; i++ {
		if i-from > MaxLine {
			return 0, errLongLine
		}
	}
	t.cells = append(t.cells, cell{b: bytes.Trim(t.rest[from:i], " \t\r")})
	return i, nil
}

func (t *table) quoted(i int) (int, error) {
	mark, limit := len(t.plain), min(len(t.rest), i+MaxLine)
	for ; i < limit; i++ {
		if t.rest[i] != '"' {
			t.plain = append(t.plain, t.rest[i])
			continue
		}
		if i++; i < len(t.rest) && t.rest[i] == '"' {
			t.plain = append(t.plain, '"')
			continue
		}
		t.cells = append(t.cells, cell{b: t.plain[mark:len(t.plain):len(t.plain)], quoted: true})
		for i < len(t.rest) && (t.rest[i] == ' ' || t.rest[i] == '\r') {
			i++
		}
		if i < len(t.rest) && t.rest[i] != t.comma && t.rest[i] != '\n' {
			return 0, errCell
		}
		return i, nil
	}
	return 0, errQuote
}

// sheet reads the readings of one table.
type sheet struct {
	*Parser
	table   *table
	columns []string // their names
}

// parseCSV reads a table. The first line determines its form.
func (p *Parser) parseCSV(body []byte) error {
	t, header, err := openTable(body)
	if err != nil {
		return fault.E("ingest.Parse", fault.Invalid, "body", err)
	}
	names := make([]string, len(header))
	for i, c := range header {
		names[i] = string(c.b)
	}
	s := &sheet{Parser: p, table: t, columns: names}
	read, err := s.form()
	if err != nil {
		return fault.E("ingest.Parse", fault.Invalid, "body", err)
	}
	return s.rows(read)
}

// openTable reads a table up to its column names, and returns them.
func openTable(body []byte) (t *table, header []cell, err error) {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")) // written by some spreadsheets
	t = &table{rest: body, line: 1}
	for len(t.rest) > 0 && (t.rest[0] == '#' || t.rest[0] == '\n' || t.rest[0] == '\r') {
		end := bytes.IndexByte(t.rest, '\n')
		if end < 0 {
			end = len(t.rest)
		}
		t.step(end)
	}
	t.comma = separator(t.rest)
	header, line, err := t.next()
	if line == 0 || err != nil {
		err = errors.Join(errHeader, err)
	}
	return t, header, err
}

// CutHeader returns the text after the first line of a table, which names its columns, and the separator of
// its cells.
func CutHeader(body []byte) (rest []byte, comma byte) {
	t, _, _ := openTable(body) // parsing it reports the error
	return t.rest, t.comma
}

// CutRecord returns the text after the first record of a table, which ends at a line feed outside quotes.
func CutRecord(body []byte, comma byte) []byte {
	t := &table{rest: body, comma: comma, line: 1}
	_, _ = t.record() // parsing it reports the error
	return t.rest
}

func (s *sheet) rows(read func(int, []cell) error) error {
	for {
		cells, line, err := s.table.next()
		if line == 0 {
			return nil
		}
		if err == nil && len(cells) != len(s.columns) {
			err = fmt.Errorf("has %s, and the first line %d", plural.Of(len(cells), "cell"), len(s.columns))
		}
		if err != nil {
			s.refuse(line, "", err)
			continue
		}
		if err := read(line, cells); err != nil {
			s.refuse(line, "", err)
		}
		if err := s.spill(); err != nil {
			return err
		}
	}
}

// separator returns the separator of the cells: the most frequent of comma, semicolon and tab in the first
// line.
func separator(b []byte) byte {
	line, _, _ := bytes.Cut(b[:min(len(b), MaxLine)], []byte{'\n'})
	best := byte(',')
	for _, c := range []byte{';', '\t'} {
		if bytes.Count(line, []byte{c}) > bytes.Count(line, []byte{best}) {
			best = c
		}
	}
	return best
}

// form returns how to read a line, by the column names.
func (s *sheet) form() (func(int, []cell) error, error) {
	at := map[string]int{}
	for i, n := range s.columns {
		key := scalar.Lower(n)
		if _, twice := at[n]; twice {
			return nil, fmt.Errorf("%q %w", clip(n), errTwice)
		}
		at[n] = i
		if _, known := at[key]; !known {
			at[key] = i
		}
	}
	when, timed := at["time"]
	if !timed {
		return nil, errHeader
	}
	_, long := at["point"]
	_, valued := at["value"]
	if long && valued {
		return s.longForm(at)
	}
	if long || len(s.columns) < 2 {
		return nil, errHeader
	}
	return s.wideForm(when)
}

// longForm reads lines of one reading.
func (s *sheet) longForm(at map[string]int) (func(int, []cell) error, error) {
	for _, n := range s.columns {
		switch scalar.Lower(n) {
		case "point", "time", "value", "quality", "kind", "unit":
		default:
			return nil, fmt.Errorf("%q: %w", clip(n), errColumns)
		}
	}
	optional := func(cells []cell, name string) []byte {
		if i, ok := at[name]; ok {
			return cells[i].b
		}
		return nil
	}
	point, when, value := at["point"], at["time"], at["value"]
	return func(line int, cells []cell) error {
		r := reading{
			name: cells[point].b, time: cells[when].b, quality: optional(cells, "quality"),
			kind: optional(cells, "kind"), unit: optional(cells, "unit"),
		}
		if err := s.row(line, &r, cells[value]); err != nil {
			s.refuse(line, string(r.name), err)
		}
		return nil
	}, nil
}

func (s *sheet) row(line int, r *reading, c cell) error {
	path, err := s.names.path(r.name)
	if err != nil {
		return err
	}
	at, err := s.cellTime(r.time)
	if err != nil {
		return err
	}
	quality, err := parseQuality(r.quality)
	if err != nil {
		return err
	}
	v, err := cellValue(c, r.kind)
	switch {
	case err != nil:
		return err
	case v.Kind() == point.None && !quality.IsBad():
		return errNoReading
	}
	s.unitOf(path, r.unit)
	s.add(line, &point.Sample{Point: path, Time: sampleTime(at), Value: v, Quality: quality})
	return nil
}

// cellTime parses a time, which is required.
func (p *Parser) cellTime(b []byte) (int64, error) {
	at, err := p.clock.Read(b, p.unit)
	if err != nil {
		return 0, fmt.Errorf("%.40q %w", b, err)
	}
	return at, nil
}

// wideForm reads lines of one time, with a column for each point. Empty cells are not readings.
func (s *sheet) wideForm(when int) (func(int, []cell) error, error) {
	paths := make([]point.Path, len(s.columns))
	for i, n := range s.columns {
		if i == when {
			continue
		}
		var err error
		if paths[i], err = s.names.path([]byte(n)); err != nil {
			return nil, fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	return func(line int, cells []cell) error {
		us, err := s.cellTime(cells[when].b)
		if err != nil {
			return err
		}
		t := sampleTime(us)
		for i, c := range cells {
			if i == when || (len(c.b) == 0 && !c.quoted) {
				continue
			}
			v, err := cellValue(c, nil)
			if err != nil {
				s.refuse(line, string(paths[i]), err)
				continue
			}
			s.add(line, &point.Sample{Point: paths[i], Time: t, Value: v})
		}
		return nil
	}, nil
}

// cellValue reads a value: a number, true or false, or text. Something that looks like a number but is not
// one is text only if quoted.
func cellValue(c cell, kind []byte) (v point.Value, err error) {
	switch string(kind) {
	case "none":
		kind = nil
	case "text":
		return scalar.Text(c.b)
	}
	switch {
	case len(c.b) == 0 && !c.quoted:
		return point.Value{}, nil
	case !c.quoted && scalar.NotFinite(c.b):
		return v, scalar.ErrNotFinite
	case strings.IndexByte("0123456789+-.", first(c.b)) >= 0:
		if v, err = scalar.Number(c.b); errors.Is(err, scalar.ErrNumber) && c.quoted {
			v, err = scalar.Text(c.b)
		} else if errors.Is(err, scalar.ErrNumber) {
			err = fmt.Errorf("%.40q %w", c.b, errCellNumber)
		}
	case len(c.b) <= len("false") && (scalar.Lower(string(c.b)) == "true" || scalar.Lower(string(c.b)) == "false"):
		v = point.BoolOf(len(c.b) == len("true"))
	default:
		v, err = scalar.Text(c.b)
	}
	if err != nil {
		return v, err
	}
	return convert(v, kind)
}

// first returns the first byte; a letter if there is none.
func first(b []byte) byte {
	if len(b) == 0 {
		return 'x'
	}
	return b[0]
}
