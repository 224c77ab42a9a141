package registry

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"voltbus/driver"
)

// Bounds of a registry, far above any real one.
const (
	maxFile    = 16 << 20
	maxEntries = 500_000
	tooMany    = "holds more than %d entries; split the device"
)

// Decode accepts a file name, a list of entries, or the text of a CSV or YAML file, recognised by its line
// breaks. Problems are collected, to be reported together with all others.
func (f *Format[E]) Decode(key string, node *yaml.Node) (s List[E]) {
	switch node.Kind {
	case yaml.ScalarNode:
		if strings.Contains(node.Value, "\n") {
			s.Entries, s.problems = f.fromText(key, node.Value)
			break
		}
		s.File = node.Value
	case yaml.SequenceNode:
		s.Entries, s.problems = f.fromYAML(Place{Key: key}, node)
		s.empty = len(node.Content) == 0
	case yaml.AliasNode:
		return f.Decode(key, node.Alias)
	case yaml.DocumentNode, yaml.MappingNode:
		s.problems = []error{&driver.Problem{Key: key, Text: fmt.Sprintf(
			"is neither a file name nor a list; write a name such as %s, or one \"- name: …\" for each %s", f.Example, f.Noun)}}
	}
	return s
}

// ReadFile reads a registry file as YAML or CSV, by its extension. The key only serves to name problems.
func (f *Format[E]) ReadFile(files driver.Files, key, name string) ([]E, []error) {
	data, err := files.ReadFile(name, maxFile)
	if err != nil {
		if pathError, ok := errors.AsType[*fs.PathError](err); ok {
			err = pathError.Err
		}
		return nil, []error{&driver.Problem{Key: key, Text: fmt.Sprintf("%s cannot be read: %v; write the name of a CSV or YAML file that is there, relative to the configuration", name, err)}}
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return f.parseYAML(key, name, data)
	}
	return f.ParseCSV(key, name, bytes.NewReader(data))
}

func (f *Format[E]) parseYAML(key, file string, data []byte) ([]E, []error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, []error{&driver.Problem{Key: key, File: file, Text: fmt.Sprintf("is not YAML: %v", err), Kind: "is not YAML"}}
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.SequenceNode {
		return nil, []error{inText(&driver.Problem{Key: key, File: file, Row: 1, Text: fmt.Sprintf("is not a list; write one \"- name: …\" for each %s", f.Noun), Kind: "is not a list"})}
	}
	return f.fromYAML(Place{Key: key, File: file, Row: 1}, doc.Content[0])
}

// fromText parses the text of a file within the configuration itself. A YAML list begins with a dash or a
// bracket, a CSV heading with a word.
func (f *Format[E]) fromText(key, text string) ([]E, []error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '[' || line[0] == '-' {
			return f.parseYAML(key, "", []byte(text))
		}
		break
	}
	return f.ParseCSV(key, "", strings.NewReader(text))
}

// fromYAML decodes a list of entries. Their problems name lines if the list's place has one.
func (f *Format[E]) fromYAML(of Place, list *yaml.Node) (entries []E, problems []error) {
	if len(list.Content) > maxEntries {
		return nil, []error{&driver.Problem{Key: of.Key, File: of.File, Text: fmt.Sprintf(tooMany, maxEntries)}}
	}
	for i, item := range list.Content {
		var e E
		at := f.Place(&e)
		*at = Place{Key: fmt.Sprintf("%s[%d]", of.Key, i), File: of.File}
		if of.Row > 0 {
			at.Row = item.Line
		}
		if item.Kind == yaml.AliasNode {
			item = item.Alias
		}
		if item.Kind != yaml.MappingNode {
			problems = append(problems, f.problem(&e, "", fmt.Sprintf("is not a %s; write %s", f.Noun, f.Needs)))
			continue
		}
		problems = append(problems, f.fill(&e, item)...)
		entries = append(entries, e)
	}
	return entries, problems
}

// fill fills an entry from a YAML mapping.
func (f *Format[E]) fill(e *E, item *yaml.Node) (problems []error) {
	for i := 0; i+1 < len(item.Content); i += 2 {
		key, value := item.Content[i].Value, item.Content[i+1]
		column := normal(key)
		var err error
		switch {
		case column == "tags" && value.Kind == yaml.MappingNode:
			err = value.Decode(f.Tags(e))
		case f.ignored(column), value.Tag == "!!null":
		case value.Kind != yaml.ScalarNode:
			err = errors.New("is not a single value; write text or a number")
		default:
			err = f.Set(e, column, value.Value)
		}
		if err != nil {
			problems = append(problems, f.problem(e, key, err.Error()))
		}
	}
	return problems
}
