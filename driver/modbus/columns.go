package modbus

import "voltbus/driver/registry"

// Entry is one register as written in a registry: text that is checked later, so that every problem of a
// registry is found in one pass. The yaml names are those of an inline list; columns lists the names that
// files may use as well.
type Entry struct {
	Name        string            `yaml:"name"`           // of the point
	Register    string            `yaml:"register"`       // its name in the register map
	Table       string            `yaml:"table"`          // coil, discrete, input, holding
	Address     string            `yaml:"address"`        // decimal or 0x…, in the device's addressing
	Type        string            `yaml:"type"`           // bool, int16 … uint64, float32, float64, string[n]
	ByteOrder   string            `yaml:"byte_order"`     // ABCD, BADC, CDAB, DCBA
	MixedEndian string            `yaml:"mixed_endian"`   // true: the words are swapped
	Bit         string            `yaml:"bit"`            // "3", or "4-7" for several
	Scale       string            `yaml:"scale"`          // value = raw × scale + offset
	Offset      string            `yaml:"offset"`         //
	Transform   string            `yaml:"transform"`      // such as scale(0.1) or mod10k(true)
	Missing     string            `yaml:"missing"`        // raw value that stands for none, such as 0x8000
	States      string            `yaml:"states"`         // names of values: off|on from 0, or 1=off|2=on
	Unit        string            `yaml:"unit"`           // such as degC
	Writable    string            `yaml:"writable"`       // true or false
	Default     string            `yaml:"default"`        // the value to write to revert it
	Min         string            `yaml:"min"`            // the least value that may be commanded
	Max         string            `yaml:"max"`            // the greatest value
	Description string            `yaml:"description"`    // for people
	Tags        map[string]string `yaml:"tags,omitempty"` // free labels

	at registry.Place
}

// columns maps columns to fields. Names are compared in lower case with "_" for a space. The first name of a
// field is the one that messages use.
var columns = map[string]func(*Entry) *string{
	"name":                func(e *Entry) *string { return &e.Name },
	"point_name":          func(e *Entry) *string { return &e.Name },
	"volttron_point_name": func(e *Entry) *string { return &e.Name },
	"register":            func(e *Entry) *string { return &e.Register },
	"register_name":       func(e *Entry) *string { return &e.Register },
	"table":               func(e *Entry) *string { return &e.Table },
	"address":             func(e *Entry) *string { return &e.Address },
	"point_address":       func(e *Entry) *string { return &e.Address },
	"type":                func(e *Entry) *string { return &e.Type },
	"modbus_register":     func(e *Entry) *string { return &e.Type },
	"byte_order":          func(e *Entry) *string { return &e.ByteOrder },
	"mixed_endian":        func(e *Entry) *string { return &e.MixedEndian },
	"mixed":               func(e *Entry) *string { return &e.MixedEndian },
	"bit":                 func(e *Entry) *string { return &e.Bit },
	"bits":                func(e *Entry) *string { return &e.Bit },
	"scale":               func(e *Entry) *string { return &e.Scale },
	"offset":              func(e *Entry) *string { return &e.Offset },
	"transform":           func(e *Entry) *string { return &e.Transform },
	"missing":             func(e *Entry) *string { return &e.Missing },
	"states":              func(e *Entry) *string { return &e.States },
	"unit":                func(e *Entry) *string { return &e.Unit },
	"units":               func(e *Entry) *string { return &e.Unit },
	"writable":            func(e *Entry) *string { return &e.Writable },
	"default":             func(e *Entry) *string { return &e.Default },
	"default_value":       func(e *Entry) *string { return &e.Default },
	"starting_value":      func(e *Entry) *string { return &e.Default },
	"min":                 func(e *Entry) *string { return &e.Min },
	"max":                 func(e *Entry) *string { return &e.Max },
	"description":         func(e *Entry) *string { return &e.Description },
	"notes":               func(e *Entry) *string { return &e.Description },
}

// registryTable is the format of this driver's registries.
var registryTable = registry.Format[Entry]{
	Noun: "register", Needs: "name, address and type", Example: "boiler.csv",
	Known: "name, table, address, type, byte_order, bit, scale, offset, " +
		"transform, missing, states, unit, writable, default, min, max, description or tags",
	Columns: columns,
	Ignored: []string{"reference_point_name", "units_details", "unit_details", "precision", "comment", "comments"},
	Tags:    func(e *Entry) *map[string]string { return &e.Tags },
	Place:   func(e *Entry) *registry.Place { return &e.at },
	Label:   (*Entry).label,
}
