package pointlist

import "voltbus/driver/registry"

// Entry is one point as a registry writes it: text, checked later, so that every problem of a
// registry is found in one pass. The yaml names are those of an inline list; columns lists the
// names that files may use as well.
type Entry struct {
	Name        string            `yaml:"name"`           // of the point
	Object      string            `yaml:"object"`         // type and instance, such as analog-input:3; or
	ObjectType  string            `yaml:"object_type"`    // such as analog-input or analogInput, and
	Instance    string            `yaml:"instance"`       // 0 to 4194302
	Property    string            `yaml:"property"`       // present-value if empty
	ArrayIndex  string            `yaml:"array_index"`    // of an element, from 1
	Type        string            `yaml:"type"`           // float, int, bool or text; by the object if empty
	States      string            `yaml:"states"`         // texts of states with | between, from the first on
	Unit        string            `yaml:"unit"`           // such as degC or degreesCelsius
	Writable    string            `yaml:"writable"`       // true or false
	Priority    string            `yaml:"priority"`       // of writes without a level; the object has a priority array
	COV         string            `yaml:"cov"`            // whether changes are subscribed to
	TrendLog    string            `yaml:"trend_log"`      // that logs the point, such as trend-log:3; found by itself if empty
	Default     string            `yaml:"default"`        // what commands go back to
	Min         string            `yaml:"min"`            // the least that may be commanded
	Max         string            `yaml:"max"`            // the most
	Description string            `yaml:"description"`    // for people
	Tags        map[string]string `yaml:"tags,omitempty"` // free labels

	at registry.Place
}

// columns says which field a column means. Names are compared in lower case with "_" for a
// space. Two columns may mean the same: what is not empty counts.
var columns = map[string]func(*Entry) *string{
	"name":                func(e *Entry) *string { return &e.Name },
	"volttron_point_name": func(e *Entry) *string { return &e.Name },
	"object":              func(e *Entry) *string { return &e.Object },
	"object_type":         func(e *Entry) *string { return &e.ObjectType },
	"bacnet_object_type":  func(e *Entry) *string { return &e.ObjectType },
	"instance":            func(e *Entry) *string { return &e.Instance },
	"index":               func(e *Entry) *string { return &e.Instance },
	"property":            func(e *Entry) *string { return &e.Property },
	"array_index":         func(e *Entry) *string { return &e.ArrayIndex },
	"type":                func(e *Entry) *string { return &e.Type },
	"states":              func(e *Entry) *string { return &e.States },
	"unit":                func(e *Entry) *string { return &e.Unit },
	"units":               func(e *Entry) *string { return &e.Unit },
	"writable":            func(e *Entry) *string { return &e.Writable },
	"priority":            func(e *Entry) *string { return &e.Priority },
	"write_priority":      func(e *Entry) *string { return &e.Priority },
	"cov":                 func(e *Entry) *string { return &e.COV },
	"cov_flag":            func(e *Entry) *string { return &e.COV },
	"trend_log":           func(e *Entry) *string { return &e.TrendLog },
	"default":             func(e *Entry) *string { return &e.Default },
	"default_value":       func(e *Entry) *string { return &e.Default },
	"min":                 func(e *Entry) *string { return &e.Min },
	"max":                 func(e *Entry) *string { return &e.Max },
	"description":         func(e *Entry) *string { return &e.Description },
	"notes":               func(e *Entry) *string { return &e.Description },
}

// registryTable is how registries of this driver are written.
var registryTable = registry.Format[Entry]{
	Noun: "point", Needs: "name and object", Example: "ahu1.csv",
	Known: "name, object, object_type, instance, property, array_index, type, states, unit, writable, " +
		"priority, cov, trend_log, default, min, max, description or tag:…",
	Columns: columns,
	Ignored: []string{"point_name", "reference_point_name", "unit_details", "units_details", "comment", "comments"},
	Tags:    func(e *Entry) *map[string]string { return &e.Tags },
	Place:   func(e *Entry) *registry.Place { return &e.at },
	Label:   func(e *Entry) string { return e.Name },
}

// problem is what is wrong with one field of the entry, or with the entry if field is "".
func (e *Entry) problem(field, text string) error { return e.at.Problem(field, e.Name, text) }
