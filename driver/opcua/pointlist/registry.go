package pointlist

import (
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"voltbus/driver"
	"voltbus/driver/registry"
)

// Registry is a device's list of points: in the configuration itself, or in a file.
type Registry struct{ registry.List[Entry] }

// UnmarshalYAML accepts a file name or a list of points. Problems of points are reported by Load, together with all others.
func (r *Registry) UnmarshalYAML(node *yaml.Node) error {
	r.List = registryTable.Decode("registry", node)
	return nil
}

// ParseCSV reads a registry as CSV with a heading, with a comma or a semicolon between. The key and the file only serve to name
// problems, each a *driver.Problem.
func ParseCSV(key, file string, src io.Reader) (entries []Entry, problems []error) {
	return registryTable.ParseCSV(key, file, src)
}

// Load reads the file, if the registry names one, and returns its problems, or those of the inline list.
func (r *Registry) Load(files driver.Files) []error { return r.List.Load(&registryTable, files) }

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
