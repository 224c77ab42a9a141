package dnp3

import (
	"io"

	"go.yaml.in/yaml/v3"
)

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

// ParseCSV reads a registry as CSV with a heading, with the column names of Entry or those of the
// customary form ("Volttron Point Name", "Group", "Variation", "Index", "Scaling", "Units",
// "Writable", "Notes"), in any order and case, with a comma or a semicolon between. Rows that are
// empty or begin with # are left out. The key and the file only serve to name problems, each a
// *driver.Problem.
func ParseCSV(key, file string, src io.Reader) (entries []Entry, problems []error) {
	return registryTable.ParseCSV(key, file, src)
}
