package modbus

import (
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"voltbus/driver/registry"
)

// Registry is a device's list of registers: in the configuration itself, or in a file.
type Registry struct{ registry.List[Entry] }

// UnmarshalYAML accepts a file name or a list of registers. Problems of registers are reported by
// Config.Load, together with all others.
func (r *Registry) UnmarshalYAML(node *yaml.Node) error {
	r.List = registryTable.Decode("registry", node)
	return nil
}

// ParseCSV parses a registry as CSV with a heading. It accepts the column names of Entry and those of the two
// customary forms ("Volttron Point Name", "Modbus Register", "Point Address", …; and "Register Name", "Type",
// "Address", "Transform", "Table", …), in any order and case, with a comma or a semicolon between. Rows that
// are empty or begin with # are left out. The key and the file only serve to name problems, each a
// *driver.Problem.
func ParseCSV(key, file string, src io.Reader) ([]Entry, []error) {
	return registryTable.ParseCSV(key, file, src)
}

// join completes entries from the register map, which supplies their empty fields. Without entries the whole
// map is the registry.
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
				registryTable.Tag(e, name, value)
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
func (e *Entry) problem(field, text string) error { return e.at.Problem(field, e.label(), text) }
