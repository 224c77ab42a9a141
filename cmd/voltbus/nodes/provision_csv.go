package nodes

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/point"
	"voltbus/uplink/bundle"
)

const (
	mostPlanned  = 16 << 20 // bytes of a file of nodes
	mostProblems = 20       // reported at once
)

// plannedFrom reads nodes from a CSV file. prefix applies to rows without one. The error lists the problems
// line by line.
func plannedFrom(file, prefix string) ([]planned, error) {
	f, err := os.Open(file) //nolint:gosec // the file that the user names
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, mostPlanned+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > mostPlanned:
		return nil, fmt.Errorf("%s: is larger than %d MB; at most %d nodes are prepared at once", file, mostPlanned>>20, mostBundles)
	case !utf8.Valid(data):
		return nil, fmt.Errorf("%s: is not UTF-8; save it as UTF-8 (the choice \"CSV UTF-8\" of a spreadsheet)", file)
	}
	t := &planTable{file: file, prefix: prefix, lines: map[string]int{}}
	t.read(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if len(t.problems) > mostProblems {
		t.problems = append(t.problems[:mostProblems], fmt.Errorf("%s: and %d more", file, len(t.problems)-mostProblems))
	}
	return t.list, errors.Join(t.problems...)
}

// planTable is a CSV file of nodes being read.
type planTable struct {
	file, prefix string
	columns      []string
	lines        map[string]int // line of a name
	list         []planned
	problems     []error
}

func (t *planTable) fail(line int, format string, args ...any) {
	t.problems = append(t.problems, fmt.Errorf("%s:%d: %w", t.file, line, fmt.Errorf(format, args...)))
}

func (t *planTable) read(data []byte) {
	table := csv.NewReader(bytes.NewReader(data))
	table.FieldsPerRecord, table.TrimLeadingSpace, table.Comment = -1, true, '#'
	if first, _, _ := bytes.Cut(data, []byte("\n")); bytes.Count(first, []byte(";")) > bytes.Count(first, []byte(",")) {
		table.Comma = ';'
	}
	for {
		cells, err := table.Read()
		bad, isSyntax := errors.AsType[*csv.ParseError](err)
		switch {
		case errors.Is(err, io.EOF):
			t.end()
			return
		case isSyntax:
			t.fail(bad.Line, "is not CSV: %w; double the quotes within a quoted cell", bad.Err)
			return
		case err != nil:
			t.problems = append(t.problems, err)
			return
		}
		line, _ := table.FieldPos(0)
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case t.columns != nil:
			t.take(line, cells)
		case !t.heading(line, cells):
			return
		}
	}
}

func (t *planTable) end() {
	switch {
	case t.columns == nil:
		t.fail(1, "is empty; write a heading such as name,prefix,host and one row for each node")
	case len(t.list) == 0 && len(t.problems) == 0:
		t.fail(1, "has a heading and no rows; write one for each node")
	case len(t.list) > mostBundles:
		t.fail(1, "has %d nodes; at most %d are prepared at once", len(t.list), mostBundles)
	}
}

// heading processes the column names; without the name column nothing else can be checked.
func (t *planTable) heading(line int, cells []string) bool {
	seen := map[string]bool{}
	for _, cell := range cells {
		column := strings.ToLower(cell)
		switch {
		case column == "":
			t.fail(line, "a column has no heading; name it, or remove it")
		case seen[column]:
			t.fail(line, "the column %s is there twice; remove one", column)
		}
		seen[column] = true
		t.columns = append(t.columns, column)
	}
	if !seen["name"] {
		t.fail(line, "there is no column name; write a heading such as name,prefix,host above the rows")
	}
	return len(t.problems) == 0
}

func (t *planTable) take(line int, cells []string) {
	if strings.Join(cells, "") == "" {
		return
	}
	if len(cells) > len(t.columns) {
		t.fail(line, "has %d cells under %d headings; put a cell with a separator in it into quotes", len(cells), len(t.columns))
		return
	}
	one := planned{Host: bundle.Host{Labels: map[string]string{}}, prefix: t.prefix}
	for i, cell := range cells {
		switch column := t.columns[i]; {
		case cell == "":
		case column == "name":
			one.Name = cell
		case column == "prefix":
			one.prefix = cell
		case column == "host":
			one.Host.Host = cell
		default:
			one.Labels[column] = cell
		}
	}
	t.check(line, &one)
	t.list = append(t.list, one)
}

func (t *planTable) check(line int, one *planned) {
	if one.Name == "" {
		t.fail(line, "the name is empty; give the node one")
		return
	}
	if err := identity.CheckChildName(one.Name); err != nil {
		t.fail(line, "%q: %w", one.Name, reasonOf(err))
		return
	}
	if before, taken := t.lines[strings.ToLower(one.Name)]; taken {
		t.fail(line, "%s stands in line %d already; names differ by more than their case", one.Name, before)
	}
	t.lines[strings.ToLower(one.Name)] = line
	one.prefix = prefixOf(one.prefix, one.Name)
	if one.prefix == "" {
		return
	}
	if err := registry.CheckPrefix(point.Path(one.prefix)); err != nil {
		t.fail(line, "the prefix %q: %w", one.prefix, reasonOf(err))
	}
	if strings.ContainsAny(one.Host.Host, " \t\"'{}") {
		t.fail(line, "the host %q is neither a name nor an address", one.Host.Host)
	}
}
