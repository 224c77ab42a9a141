package pointlist

import "voltbus/driver/registry"

// Entry is one point as written in a registry: text that is checked later, so that every problem of a
// registry is found in one pass. The yaml names are those of an inline list; columns lists the names that
// files may use as well.
type Entry struct {
	Name        string            `yaml:"name"`           // of the point
	Type        string            `yaml:"type"`           // binary_input … octet_string; or
	Group       string            `yaml:"group"`          // the number of the object group
	Variation   string            `yaml:"variation"`      // to request; the device's choice if empty
	Index       string            `yaml:"index"`          // 0 to 65535
	Scale       string            `yaml:"scale"`          // value = raw × scale + offset
	Offset      string            `yaml:"offset"`         //
	Unit        string            `yaml:"unit"`           // such as kW
	Writable    string            `yaml:"writable"`       // true or false
	Operate     string            `yaml:"operate"`        // sbo, direct, no_answer
	Control     string            `yaml:"control"`        // latch, pulse, trip_close
	Count       string            `yaml:"count"`          // of operations, 1 if empty
	OnTime      string            `yaml:"on_time"`        // of a pulse, 1s if empty
	OffTime     string            `yaml:"off_time"`       // after a pulse
	Default     string            `yaml:"default"`        // the value to write to revert it
	Min         string            `yaml:"min"`            // the least value that may be commanded
	Max         string            `yaml:"max"`            // the greatest value
	Description string            `yaml:"description"`    // for people
	Tags        map[string]string `yaml:"tags,omitempty"` // free labels

	at registry.Place
}

// columns maps columns to fields. Names are compared in lower case with "_" for a space. Two columns may map
// to the same field: the non-empty one counts.
var columns = map[string]func(*Entry) *string{
	"name":                func(e *Entry) *string { return &e.Name },
	"volttron_point_name": func(e *Entry) *string { return &e.Name },
	"type":                func(e *Entry) *string { return &e.Type },
	"group":               func(e *Entry) *string { return &e.Group },
	"variation":           func(e *Entry) *string { return &e.Variation },
	"index":               func(e *Entry) *string { return &e.Index },
	"scale":               func(e *Entry) *string { return &e.Scale },
	"scaling":             func(e *Entry) *string { return &e.Scale },
	"offset":              func(e *Entry) *string { return &e.Offset },
	"unit":                func(e *Entry) *string { return &e.Unit },
	"units":               func(e *Entry) *string { return &e.Unit },
	"writable":            func(e *Entry) *string { return &e.Writable },
	"operate":             func(e *Entry) *string { return &e.Operate },
	"control":             func(e *Entry) *string { return &e.Control },
	"count":               func(e *Entry) *string { return &e.Count },
	"on_time":             func(e *Entry) *string { return &e.OnTime },
	"off_time":            func(e *Entry) *string { return &e.OffTime },
	"default":             func(e *Entry) *string { return &e.Default },
	"min":                 func(e *Entry) *string { return &e.Min },
	"max":                 func(e *Entry) *string { return &e.Max },
	"description":         func(e *Entry) *string { return &e.Description },
	"notes":               func(e *Entry) *string { return &e.Description },
}

// registryTable is the format of this driver's registries.
var registryTable = registry.Format[Entry]{
	Noun: "point", Needs: "name, type and index", Example: "relay.csv",
	Known: "name, type, group, variation, index, scale, offset, unit, writable, " +
		"operate, control, count, on_time, off_time, default, min, max, description or tag:…",
	Columns: columns,
	Ignored: []string{"point_name", "reference_point_name", "unit_details", "units_details", "comment"},
	Tags:    func(e *Entry) *map[string]string { return &e.Tags },
	Place:   func(e *Entry) *registry.Place { return &e.at },
	Label:   func(e *Entry) string { return e.Name },
}

// problem is what is wrong with one field of the entry, or with the entry if field is "".
func (e *Entry) problem(field, text string) error { return e.at.Problem(field, e.Name, text) }
