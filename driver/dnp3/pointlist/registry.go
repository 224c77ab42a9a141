package pointlist

import (
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"voltbus/driver"
	"voltbus/driver/registry"
	"voltbus/protocol/dnp3/object"
)

// Registry is a device's list of points: in the configuration itself, or in a file.
type Registry struct{ registry.List[Entry] }

// UnmarshalYAML accepts a file name or a list of points. Problems of points are reported by Load, together with all others.
func (r *Registry) UnmarshalYAML(node *yaml.Node) error {
	r.List = registryTable.Decode("registry", node)
	return nil
}

// ParseCSV parses a registry as CSV with a heading, with the column names of Entry or the customary ones
// ("Volttron Point Name", "Group", "Variation", "Index", "Scaling", "Units", "Writable", "Notes"), in any
// order and case, with a comma or a semicolon between. Rows that are empty or begin with # are left out. The
// key and the file only serve to name problems, each a *driver.Problem.
func ParseCSV(key, file string, src io.Reader) (entries []Entry, problems []error) {
	return registryTable.ParseCSV(key, file, src)
}

// Load reads the file, if the registry names one, and returns its problems, or those of the inline list.
func (r *Registry) Load(files driver.Files) []error { return r.List.Load(&registryTable, files) }

// Key names a point of a device: its kind in the high bits, its index below.
type Key uint64

// KeyOf returns the key of a point.
func KeyOf(kind object.Kind, index uint32) Key { return Key(kind)<<32 | Key(index) }

// Items checks all entries and returns the points of the valid ones. operate is how points are operated by default.
// Every problem is a *driver.Problem.
func (r *Registry) Items(operate string) (items []Item, problems []error) {
	names, objects := make(map[string]bool), make(map[Key]string)
	for i := range r.Entries {
		e := &r.Entries[i]
		if e.at.Key == "" {
			e.at.Key = fmt.Sprintf("registry[%d]", i)
		}
		t, wrong := e.check(operate)
		if len(wrong) == 0 && names[t.Name] {
			wrong = append(wrong, e.problem("name", fmt.Sprintf("%q stands there twice; give each point its own name", t.Name)))
		}
		if other := objects[KeyOf(t.Kind, t.Index)]; len(wrong) == 0 && other != "" {
			wrong = append(wrong, e.problem("index", fmt.Sprintf("is the same %s as %q; remove one of them", TypeName(t.Kind), other)))
		}
		problems = append(problems, wrong...)
		if len(wrong) == 0 {
			names[t.Name], objects[KeyOf(t.Kind, t.Index)] = true, t.Name
			items = append(items, t)
		}
	}
	return items, problems
}
