package pointlist

import "voltbus/driver/registry"

// Entry is one point as a registry writes it: text, checked later, so that every problem of a registry is found in one pass.
type Entry struct {
	Name        string            `yaml:"name"`           // of the point
	Node        string            `yaml:"node"`           // its address, such as nsu=urn:plant;s=Pump.Speed
	Element     string            `yaml:"element"`        // of an array, from 0; the whole value if empty
	Type        string            `yaml:"type"`           // float, int, bool or text; that of the node if empty
	States      string            `yaml:"states"`         // texts of an enumeration: Off|On from 0 on, or 1=Auto|4=Hand
	Unit        string            `yaml:"unit"`           // such as degC
	Writable    string            `yaml:"writable"`       // true or false
	Sampling    string            `yaml:"sampling"`       // how often the server looks for changes, such as 500ms; that of the device if empty
	Deadband    string            `yaml:"deadband"`       // the least change that is reported, such as 0.5, or 2% of the range; any if empty
	Default     string            `yaml:"default"`        // what commands go back to
	Min         string            `yaml:"min"`            // the least that may be commanded
	Max         string            `yaml:"max"`            // the most
	Description string            `yaml:"description"`    // for people
	Tags        map[string]string `yaml:"tags,omitempty"` // free labels

	at registry.Place
}

// columns says which field a column means. Two columns may mean the same: what is not empty counts.
var columns = map[string]func(*Entry) *string{
	"name":        func(e *Entry) *string { return &e.Name },
	"node":        func(e *Entry) *string { return &e.Node },
	"node_id":     func(e *Entry) *string { return &e.Node },
	"nodeid":      func(e *Entry) *string { return &e.Node },
	"element":     func(e *Entry) *string { return &e.Element },
	"type":        func(e *Entry) *string { return &e.Type },
	"states":      func(e *Entry) *string { return &e.States },
	"unit":        func(e *Entry) *string { return &e.Unit },
	"units":       func(e *Entry) *string { return &e.Unit },
	"writable":    func(e *Entry) *string { return &e.Writable },
	"sampling":    func(e *Entry) *string { return &e.Sampling },
	"deadband":    func(e *Entry) *string { return &e.Deadband },
	"default":     func(e *Entry) *string { return &e.Default },
	"min":         func(e *Entry) *string { return &e.Min },
	"max":         func(e *Entry) *string { return &e.Max },
	"description": func(e *Entry) *string { return &e.Description },
}

// registryTable is how registries of this driver are written.
var registryTable = registry.Format[Entry]{
	Noun: "point", Needs: "name and node", Example: "plant.csv",
	Known:   "name, node, element, type, states, unit, writable, sampling, deadband, default, min, max, description or tag:…",
	Columns: columns,
	Ignored: []string{"comment", "comments"},
	Tags:    func(e *Entry) *map[string]string { return &e.Tags },
	Place:   func(e *Entry) *registry.Place { return &e.at },
	Label:   func(e *Entry) string { return e.Name },
}

// problem is what is wrong with one field of the entry, or with the entry if field is "".
func (e *Entry) problem(field, text string) error { return e.at.Problem(field, e.Name, text) }
