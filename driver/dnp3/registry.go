package dnp3

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"voltbus/driver"
)

// maxFile bounds a registry file: far above any real one.
const maxFile = 16 << 20

// Registry is a device's list of points: in the configuration itself, or in a file.
type Registry struct {
	File    string  // name of a CSV or YAML file; "" for an inline list
	Entries []Entry // the inline list; after Config.Load also what the file holds

	empty    bool    // it was written down as a list without points
	problems []error // found while decoding, reported by Config.Load
}

// UnmarshalYAML takes a file name or a list of points. What is wrong with a point is reported by
// Config.Load, together with everything else.
func (r *Registry) UnmarshalYAML(node *yaml.Node) error {
	*r = Registry{}
	switch node.Kind {
	case yaml.ScalarNode:
		r.File = node.Value
	case yaml.SequenceNode:
		r.Entries, r.problems = fromYAML("registry", "", node)
		r.empty = len(node.Content) == 0
	case yaml.AliasNode:
		return r.UnmarshalYAML(node.Alias)
	default:
		r.problems = []error{&driver.Problem{Key: "registry", Text: "is neither a file name nor a list; write a name such as relay.csv, or one \"- name: …\" for each point"}}
	}
	return nil
}

// MarshalYAML is the inverse of UnmarshalYAML.
func (r Registry) MarshalYAML() (any, error) {
	if r.File != "" {
		return r.File, nil
	}
	return r.Entries, nil
}

// readFile reads a registry file, by its ending as YAML or else as CSV.
func readFile(key, name string) ([]Entry, []error) {
	fail := func(row int, text string, args ...any) []error {
		return []error{&driver.Problem{Key: key, File: name, Row: row, Text: fmt.Sprintf(text, args...)}}
	}
	data, err := os.ReadFile(name)
	switch {
	case err != nil:
		return nil, []error{&driver.Problem{Key: key, Text: fmt.Sprintf("cannot be read: %v; write the name of a file that is there, relative to the configuration", err)}}
	case len(data) > maxFile:
		return nil, fail(0, "is too large for a registry; split the device")
	case !utf8.Valid(data):
		return nil, fail(1, "is not UTF-8; save it as UTF-8 (the choice \"CSV UTF-8\" of a spreadsheet)")
	}
	if ending := strings.ToLower(filepath.Ext(name)); ending != ".yaml" && ending != ".yml" {
		return ParseCSV(key, name, bytes.NewReader(data))
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fail(0, "is not YAML: %v", err)
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.SequenceNode {
		return nil, fail(1, "is not a list; write one \"- name: …\" for each point")
	}
	return fromYAML(key, name, doc.Content[0])
}

// fromYAML reads a list of points. With a file the problems name its lines.
func fromYAML(key, file string, list *yaml.Node) (entries []Entry, problems []error) {
	for i, node := range list.Content {
		e := Entry{key: fmt.Sprintf("%s[%d]", key, i), file: file}
		if file != "" {
			e.row = node.Line
		}
		if node.Kind == yaml.AliasNode {
			node = node.Alias
		}
		if node.Kind != yaml.MappingNode {
			problems = append(problems, e.problem("", "is not a point; write name, type and index"))
			continue
		}
		problems = append(problems, e.fill(node)...)
		entries = append(entries, e)
	}
	return entries, problems
}

// fill takes the keys and values of a YAML mapping.
func (e *Entry) fill(node *yaml.Node) (problems []error) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := normal(node.Content[i].Value), node.Content[i+1]
		var err error
		switch {
		case name == "tags" && value.Kind == yaml.MappingNode:
			err = value.Decode(&e.Tags)
		case ignored(name), value.Tag == "!!null":
		case value.Kind != yaml.ScalarNode:
			err = errors.New("is not a single value; write text or a number")
		default:
			err = e.set(name, value.Value)
		}
		if err != nil {
			problems = append(problems, e.problem(node.Content[i].Value, err.Error()))
		}
	}
	return problems
}

// ParseCSV reads a registry as CSV with a heading, with the column names of Entry or those of the
// customary form ("Volttron Point Name", "Group", "Variation", "Index", "Scaling", "Units",
// "Writable", "Notes"), in any order and case, with a comma or a semicolon between. Rows that are
// empty or begin with # are left out. The key and the file only serve to name problems, each a
// *driver.Problem.
func ParseCSV(key, file string, src io.Reader) (entries []Entry, problems []error) {
	fail := func(row int, text string, args ...any) {
		problems = append(problems, &driver.Problem{Key: key, File: file, Row: row, Text: fmt.Sprintf(text, args...)})
	}
	table, err := openCSV(src)
	if err != nil {
		fail(0, "cannot be read: %v", err)
		return nil, problems
	}
	heading, err := table.Read()
	if err != nil {
		fail(1, "is empty; write a heading with at least name, type and index, then one row for each point")
		return nil, problems
	}
	for i, cell := range heading {
		heading[i] = normal(cell)
		if err := new(Entry).set(heading[i], ""); err != nil && !ignored(heading[i]) {
			fail(1, "column %v", err)
			heading[i] = ""
		}
	}
	for {
		cells, err := table.Read()
		if errors.Is(err, io.EOF) {
			return entries, problems
		}
		if err != nil {
			fail(0, "is not CSV: %v; double the quotes within a quoted cell", err)
			return entries, problems
		}
		if blank(cells) {
			continue
		}
		row, _ := table.FieldPos(0)
		e := Entry{key: fmt.Sprintf("%s[%d]", key, len(entries)), file: file, row: row}
		problems = append(problems, e.take(heading, cells)...)
		entries = append(entries, e)
	}
}

// openCSV strips the byte order mark and finds the separator.
func openCSV(src io.Reader) (*csv.Reader, error) {
	data, err := io.ReadAll(io.LimitReader(src, maxFile))
	if err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	table := csv.NewReader(bytes.NewReader(data))
	table.FieldsPerRecord = -1
	table.TrimLeadingSpace = true
	first, _, _ := bytes.Cut(data, []byte("\n"))
	if bytes.Count(first, []byte(";")) > bytes.Count(first, []byte(",")) {
		table.Comma = ';'
	}
	return table, nil
}

func blank(cells []string) bool {
	return strings.HasPrefix(strings.TrimSpace(cells[0]), "#") || strings.TrimSpace(strings.Join(cells, "")) == ""
}

func (e *Entry) take(heading, cells []string) (problems []error) {
	for i, cell := range cells {
		switch {
		case i >= len(heading):
			if strings.TrimSpace(cell) != "" {
				return append(problems, e.problem("", fmt.Sprintf("has more cells than the heading, the first is %q; put quotes around text with a comma", cell)))
			}
		case ignored(heading[i]):
		default:
			if err := e.set(heading[i], cell); err != nil {
				problems = append(problems, e.problem(heading[i], err.Error()))
			}
		}
	}
	return problems
}
