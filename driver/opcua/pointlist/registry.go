package pointlist

import (
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"

	"voltbus/driver"
	"voltbus/driver/registry"
)

// Registry is a device's list of points: in the configuration itself, or in a file.
type Registry struct {
	File    string  // name of a CSV or YAML file; "" for an inline list
	Entries []Entry // the inline list; after Load also what the file holds

	empty    bool    // it was written down as a list without points
	problems []error // found while decoding, reported by Load
}

// UnmarshalYAML takes a file name or a list of points. What is wrong with a point is reported by Load, together with everything
// else.
func (r *Registry) UnmarshalYAML(node *yaml.Node) error {
	s := registryTable.Decode("registry", node)
	*r = Registry{File: s.File, Entries: s.Entries, empty: s.Empty, problems: s.Problems}
	return nil
}

// MarshalYAML is the inverse of UnmarshalYAML.
func (r Registry) MarshalYAML() (any, error) {
	if r.File != "" {
		return r.File, nil
	}
	return r.Entries, nil
}

// ParseCSV reads a registry as CSV with a heading, with a comma or a semicolon between. The key and the file only serve to name
// problems, each a *driver.Problem.
func ParseCSV(key, file string, src io.Reader) (entries []Entry, problems []error) {
	return registryTable.ParseCSV(key, file, src)
}

// Load reads the file, if the registry names one, and returns what is wrong with it or was wrong with the inline list.
func (r *Registry) Load(files driver.Files) []error {
	problems := slices.Clone(r.problems)
	if r.File != "" {
		entries, found := registryTable.ReadFile(files, "registry", r.File)
		r.Entries = entries
		problems = append(problems, found...)
	}
	return problems
}

// Missing reports whether nothing was written down: no file, no points, and no list without points.
func (r *Registry) Missing() bool {
	return len(r.Entries) == 0 && !registry.Wrong(r.problems) && r.File == "" && !r.empty
}

// Items checks all entries and returns the points of those that are right. Every problem is a *driver.Problem.
func (r *Registry) Items() (items []Item, problems []error) {
	names := make(map[string]bool)
	for i := range r.Entries {
		e := &r.Entries[i]
		if e.at.Key == "" {
			e.at.Key = fmt.Sprintf("registry[%d]", i)
		}
		t, wrong := e.check()
		if len(wrong) == 0 && names[t.Name] {
			wrong = append(wrong, e.problem("name", fmt.Sprintf("%q stands there twice; give each point its own name", t.Name)))
		}
		problems = append(problems, wrong...)
		if len(wrong) == 0 {
			names[t.Name] = true
			items = append(items, t)
		}
	}
	return items, problems
}

// ItemOf returns the point that an entry with the columns describes, as far as they are right.
func ItemOf(columns map[string]string) Item {
	var e Entry
	for column, cell := range columns {
		_ = registryTable.Set(&e, column, cell) // what is not known means nothing
	}
	t, _ := e.check()
	return t
}
