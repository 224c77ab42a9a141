package modbus

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

// Registry is a device's list of registers: in the configuration itself, or in a file.
type Registry struct {
	File    string  // name of a CSV or YAML file; "" for an inline list
	Entries []Entry // the inline list; after Config.Load also what the file holds

	problems []error // found while decoding, reported by Config.Load
}

// UnmarshalYAML takes a file name or a list of registers. What is wrong with a register is
// reported by Config.Load, together with everything else.
func (r *Registry) UnmarshalYAML(node *yaml.Node) error {
	*r = Registry{}
	switch node.Kind {
	case yaml.ScalarNode:
		r.File = node.Value
		return nil
	case yaml.SequenceNode:
		r.Entries, r.problems = fromYAML("registry", "", node)
		return nil
	case yaml.AliasNode:
		return r.UnmarshalYAML(node.Alias)
	case yaml.DocumentNode, yaml.MappingNode:
	}
	r.problems = []error{&driver.Problem{Key: "registry", Text: "is neither a file name nor a list; write a name such as boiler.csv, or one \"- name: …\" for each register"}}
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
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, []error{&driver.Problem{Key: key, Text: name + " is not a file; write the name of a CSV or YAML file"}}
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, []error{&driver.Problem{Key: key, Text: fmt.Sprintf("cannot be read: %v; write the name of a file that is there, relative to the configuration", err)}}
	}
	if len(data) > maxFile {
		return nil, []error{&driver.Problem{Key: key, Text: fmt.Sprintf("%s is too large for a registry; split the device", name)}}
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return parseYAML(key, name, data)
	}
	return ParseCSV(key, name, bytes.NewReader(data))
}

func parseYAML(key, file string, data []byte) ([]Entry, []error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, []error{&driver.Problem{Key: key, File: file, Text: fmt.Sprintf("is not YAML: %v", err)}}
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.SequenceNode {
		return nil, []error{&driver.Problem{Key: key, File: file, Row: 1, Text: "is not a list; write one \"- name: …\" for each register"}}
	}
	return fromYAML(key, file, doc.Content[0])
}

// fromYAML reads a list of registers. With a file the problems name its lines.
func fromYAML(key, file string, list *yaml.Node) ([]Entry, []error) {
	var entries []Entry
	var problems []error
	for i, item := range list.Content {
		e := Entry{key: fmt.Sprintf("%s[%d]", key, i), file: file}
		if file != "" {
			e.row = item.Line
		}
		if item.Kind == yaml.AliasNode {
			item = item.Alias
		}
		if item.Kind != yaml.MappingNode {
			problems = append(problems, e.problem("", "is not a register; write name, address and type"))
			continue
		}
		problems = append(problems, e.fill(item)...)
		entries = append(entries, e)
	}
	return entries, problems
}

// fill takes the keys and values of a YAML mapping.
func (e *Entry) fill(item *yaml.Node) (problems []error) {
	for i := 0; i+1 < len(item.Content); i += 2 {
		key, value := item.Content[i].Value, item.Content[i+1]
		var err error
		switch {
		case normal(key) == "tags" && value.Kind == yaml.MappingNode:
			err = value.Decode(&e.Tags)
		case ignored(normal(key)):
		case value.Kind != yaml.ScalarNode:
			err = errors.New("is not a single value; write text or a number")
		case value.Tag == "!!null":
		default:
			err = e.set(normal(key), value.Value)
		}
		if err != nil {
			problems = append(problems, e.problem(key, err.Error()))
		}
	}
	return problems
}

// ParseCSV reads a registry as CSV with a heading. It takes the column names of Entry and those
// of the two customary forms ("Volttron Point Name", "Modbus Register", "Point Address", …; and
// "Register Name", "Type", "Address", "Transform", "Table", …), in any order and case, with a
// comma or a semicolon between. Rows that are empty or begin with # are left out. The key and the
// file only serve to name problems, each a *driver.Problem.
func ParseCSV(key, file string, src io.Reader) ([]Entry, []error) {
	table, err := openCSV(src)
	fail := func(row int, text string) error {
		return &driver.Problem{Key: key, File: file, Row: row, Text: text}
	}
	if err != nil {
		return nil, []error{fail(1, err.Error())}
	}
	heading, err := table.Read()
	if err != nil {
		return nil, []error{fail(1, "is empty; write a heading with at least name, address and type, then one row for each register")}
	}
	problems := checkHeading(heading, fail)
	var entries []Entry
	for {
		cells, err := table.Read()
		if errors.Is(err, io.EOF) {
			return entries, problems
		}
		if bad, isSyntax := errors.AsType[*csv.ParseError](err); isSyntax {
			return entries, append(problems, fail(bad.Line, fmt.Sprintf("is not CSV: %v; double the quotes within a quoted cell", bad.Err)))
		}
		if err != nil {
			return entries, append(problems, fail(0, err.Error()))
		}
		row, _ := table.FieldPos(0)
		e := Entry{key: fmt.Sprintf("%s[%d]", key, len(entries)), file: file, row: row}
		if blank(cells) {
			continue
		}
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

// checkHeading reports columns that mean nothing or the same as another one, and replaces the
// rest by their normal names. A column in error gets an ignored name.
func checkHeading(heading []string, fail func(int, string) error) (problems []error) {
	seen := make(map[string]bool)
	for i, cell := range heading {
		column := normal(cell)
		heading[i] = column
		if ignored(column) {
			continue
		}
		var probe Entry
		if err := probe.set(column, ""); err != nil {
			problems = append(problems, fail(1, "column "+err.Error()))
			heading[i] = ""
			continue
		}
		if seen[column] {
			problems = append(problems, fail(1, fmt.Sprintf("column %q stands there twice; remove one", cell)))
		}
		seen[column] = true
	}
	return problems
}

func blank(cells []string) bool {
	if strings.HasPrefix(strings.TrimSpace(cells[0]), "#") {
		return true
	}
	for _, cell := range cells {
		if strings.TrimSpace(cell) != "" {
			return false
		}
	}
	return true
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

// join completes entries from the register map: what an entry leaves empty, the map gives. Without
// entries the whole map is the registry.
func join(entries, table []Entry) ([]Entry, []error) {
	if len(entries) == 0 {
		return table, nil
	}
	byName := make(map[string]*Entry, len(table))
	for i := range table {
		byName[table[i].label()] = &table[i]
	}
	var problems []error
	for i := range entries {
		e := &entries[i]
		base := byName[e.Register]
		if base == nil {
			base = byName[e.Name]
		}
		if base == nil {
			problems = append(problems, e.problem("register", fmt.Sprintf("%q is not in the register map; write one of its register names", e.Register)))
			continue
		}
		for _, field := range columns {
			if own := field(e); *own == "" {
				*own = *field(base)
			}
		}
		for name, value := range base.Tags {
			if _, own := e.Tags[name]; !own {
				e.tag(name, value)
			}
		}
	}
	return entries, problems
}

// label is the point name, or else the register name.
func (e *Entry) label() string {
	if e.Register != "" && e.Name == "" {
		return e.Register
	}
	return e.Name
}

// problem is what is wrong with one field of the entry, or with the entry if field is "".
func (e *Entry) problem(field, text string) error {
	key := e.key
	if field != "" {
		key += "." + field
	}
	if e.label() != "" {
		text = fmt.Sprintf("(%s) %s", e.label(), text)
	}
	return &driver.Problem{Key: key, File: e.file, Row: e.row, Text: text}
}
