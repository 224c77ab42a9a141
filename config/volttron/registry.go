package volttron

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// list is a registry in the store.
type list struct {
	entry string
	text  []byte
	cells [][]string // including the heading
}

// registryOf returns the registry that a reference such as config://x.csv names, and the entry's name.
func (c *conversion) registryOf(s *store, reference, entry, kind string) (*list, []string) {
	target, isReference := strings.CutPrefix(reference, "config://")
	name := s.find(target)
	switch {
	case reference == "" && kind == "fakedriver":
		return nil, nil
	case !isReference:
		c.note(entry, "registry_config %q is no reference such as config://registry.csv", reference)
		return nil, nil
	case name == "":
		c.note(entry, "%s: the store has no such entry", reference)
		return nil, nil
	}
	l := &list{entry: name}
	var err error
	if e := s.entries[name]; strings.EqualFold(e.Type, "json") {
		l.cells, err = fromJSON(plain(e.Data))
		if err == nil {
			l.text, err = asCSV(l.cells)
		}
	} else {
		l.text = []byte(e.Data)
		table := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(l.text, []byte("\xef\xbb\xbf"))))
		table.FieldsPerRecord, table.TrimLeadingSpace = -1, true
		l.cells, err = table.ReadAll()
	}
	if err != nil {
		c.note(name, "cannot be read: %v", err)
		return nil, []string{name}
	}
	return l, []string{name}
}

// fromJSON decodes a list of objects, each a row.
func fromJSON(text []byte) ([][]string, error) {
	var rows []map[string]any
	if err := json.Unmarshal(text, &rows); err != nil {
		return nil, fmt.Errorf("is not a list of objects: %w", err)
	}
	columns := map[string]bool{}
	for _, row := range rows {
		for column := range row {
			columns[column] = true
		}
	}
	heading := slices.Sorted(maps.Keys(columns))
	cells := [][]string{heading}
	for _, row := range rows {
		line := make([]string, len(heading))
		for i, column := range heading {
			line[i] = fields(row).text(column)
		}
		cells = append(cells, line)
	}
	return cells, nil
}

func asCSV(cells [][]string) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	err := w.WriteAll(cells)
	return b.Bytes(), err
}

// write adds the registry to the files, once, and returns its name there.
func (c *conversion) write(l *list) string {
	key := c.store.name + "/" + l.entry
	if file := c.registry[key]; file != "" {
		return file
	}
	file := c.fileFor(l.entry, ".csv")
	c.registry[key], c.result.Files[file] = file, l.text
	return file
}

// rows returns the number of points.
func (l *list) rows() int {
	if l == nil {
		return 1
	}
	n := 0
	at := l.column("volttron point name")
	for _, row := range l.cells[min(1, len(l.cells)):] {
		if at >= 0 && at < len(row) && strings.TrimSpace(row[at]) != "" {
			n++
		}
	}
	return n
}

// writable reports whether the registry declares any point as writable.
func (l *list) writable(name string) bool {
	point, writable := l.column("volttron point name"), l.column("writable")
	return slices.ContainsFunc(l.cells, func(row []string) bool {
		if point < 0 || point >= len(row) || strings.TrimSpace(row[point]) != name {
			return false
		}
		// A registry that selects from a map may leave this to the map.
		return writable < 0 || (writable < len(row) && slices.Contains([]string{"true", "t", "yes", "y", "1"}, strings.ToLower(strings.TrimSpace(row[writable]))))
	})
}

func (l *list) column(name string) int {
	if len(l.cells) == 0 {
		return -1
	}
	return slices.IndexFunc(l.cells[0], func(cell string) bool { return strings.EqualFold(strings.TrimSpace(cell), name) })
}
