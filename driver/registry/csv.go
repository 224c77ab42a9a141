package registry

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"voltbus/driver"
	"voltbus/internal/plural"
	"voltbus/internal/strictyaml"
)

// ParseCSV parses a registry as CSV with a heading: columns in any order and case, with a comma or a
// semicolon between. Rows that are empty or begin with # are left out. The key and the file only serve to
// name problems, each a *driver.Problem.
func (f *Format[E]) ParseCSV(key, file string, src io.Reader) ([]E, []error) {
	fail := func(row int, format string, args ...any) error {
		return inText(&driver.Problem{Key: key, File: file, Row: row, Text: fmt.Sprintf(format, args...), Kind: strictyaml.Kind(format)})
	}
	table, err := openCSV(src)
	if err != nil {
		return nil, []error{fail(1, "%v", err)}
	}
	heading, err := table.Read()
	if err != nil {
		return nil, []error{fail(1, "is empty; write a heading with at least %s, then one row for each %s", f.Needs, f.Noun)}
	}
	foreign := slices.ContainsFunc(heading, func(cell string) bool { return normal(cell) == foreignName })
	problems := f.checkHeading(heading, foreign, fail)
	var entries []E
	var nameless []int
	for {
		cells, err := table.Read()
		if errors.Is(err, io.EOF) {
			return entries, append(problems, f.skipped(key, file, nameless)...)
		}
		if bad, isSyntax := errors.AsType[*csv.ParseError](err); isSyntax {
			return entries, append(problems, fail(bad.Line, "is not CSV: %v; double the quotes within a quoted cell", bad.Err))
		}
		if err != nil {
			return entries, append(problems, fail(0, "%v", err))
		}
		if blank(cells) {
			continue
		}
		if len(entries) == maxEntries {
			return nil, append(problems, fail(0, tooMany, maxEntries))
		}
		var e E
		row, _ := table.FieldPos(0)
		*f.Place(&e) = Place{Key: fmt.Sprintf("%s[%d]", key, len(entries)), File: file, Row: row}
		found := f.take(&e, heading, cells)
		if foreign && f.Label(&e) == "" {
			nameless = append(nameless, row)
			continue
		}
		problems = append(problems, found...)
		entries = append(entries, e)
	}
}

// foreignName is the column that identifies a VOLTTRON registry. Its rules then apply: rows without a name are
// not points, and unknown columns are allowed.
const foreignName = "volttron_point_name"

// skipped lists the rows that are not points.
func (f *Format[E]) skipped(key, file string, rows []int) []error {
	if len(rows) == 0 {
		return nil
	}
	const most = 20
	var list []string
	for _, row := range rows[:min(len(rows), most)] {
		list = append(list, strconv.Itoa(row))
	}
	if len(rows) > most {
		list = append(list, "…")
	}
	return []error{&driver.Problem{Key: key, File: file, Row: rows[0], Note: true, Text: fmt.Sprintf(
		"%s without a Volttron Point Name left out: %s", plural.Of(len(rows), "row"), strings.Join(list, ", "))}}
}

// openCSV strips the byte order mark and finds the separator.
func openCSV(src io.Reader) (*csv.Reader, error) {
	data, err := io.ReadAll(io.LimitReader(src, maxFile))
	if err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) {
		return nil, errors.New("is not UTF-8; save it as UTF-8 (the choice \"CSV UTF-8\" of a spreadsheet)")
	}
	table := csv.NewReader(bytes.NewReader(data))
	table.FieldsPerRecord = -1
	table.TrimLeadingSpace = true
	first, _, _ := bytes.Cut(data, []byte("\n"))
	if bytes.Count(first, []byte(";")) > bytes.Count(first, []byte(",")) {
		table.Comma = ';'
	}
	return table, nil
}

// checkHeading reports unknown and duplicate columns, and replaces the rest by their normal names. A column
// in error gets an ignored name. An unknown one in a foreign registry is a note.
func (f *Format[E]) checkHeading(heading []string, foreign bool, fail func(int, string, ...any) error) (problems []error) {
	seen := make(map[string]bool)
	for i, cell := range heading {
		column := normal(cell)
		heading[i] = column
		if f.ignored(column) {
			continue
		}
		if err := f.Set(new(E), column, ""); err != nil {
			problem := fail(1, "column %v", err)
			if p, ok := errors.AsType[*driver.Problem](problem); ok && foreign {
				p.Note, p.Text = true, fmt.Sprintf("column %q means nothing to this driver and is left out", cell)
			}
			problems = append(problems, problem)
			heading[i] = ""
			continue
		}
		if seen[column] {
			problems = append(problems, fail(1, "column %q stands there twice; remove one", cell))
		}
		seen[column] = true
	}
	return problems
}

func blank(cells []string) bool {
	return strings.HasPrefix(strings.TrimSpace(cells[0]), "#") || strings.TrimSpace(strings.Join(cells, "")) == ""
}

// take fills an entry from the cells of its row.
func (f *Format[E]) take(e *E, heading, cells []string) (problems []error) {
	for i, cell := range cells {
		switch {
		case i >= len(heading):
			if strings.TrimSpace(cell) != "" {
				return append(problems, f.problem(e, "", fmt.Sprintf("has more cells than the heading, the first is %q; put quotes around text with a comma", cell)))
			}
		case f.ignored(heading[i]):
		default:
			if err := f.Set(e, heading[i], cell); err != nil {
				problems = append(problems, f.problem(e, heading[i], err.Error()))
			}
		}
	}
	return problems
}
