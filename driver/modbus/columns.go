package modbus

import (
	"fmt"
	"slices"
	"strings"
)

// Entry is one register as a registry writes it: text, checked later, so that every problem of
// a registry is found in one pass. The yaml names are those of an inline list; columns lists the
// names that files may use as well.
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
	Unit        string            `yaml:"unit"`           // such as degC
	Writable    string            `yaml:"writable"`       // true or false
	Default     string            `yaml:"default"`        // what to write to put it back
	Description string            `yaml:"description"`    // for people
	Tags        map[string]string `yaml:"tags,omitempty"` // free labels

	key  string // where it stands, such as "registry[3]"
	file string // its file, "" for an inline list
	row  int    // the line in the file
}

// columns says which field a column means. Names are compared in lower case with "_" for a
// space. The first name of a field is the one that messages use.
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
	"unit":                func(e *Entry) *string { return &e.Unit },
	"units":               func(e *Entry) *string { return &e.Unit },
	"writable":            func(e *Entry) *string { return &e.Writable },
	"default":             func(e *Entry) *string { return &e.Default },
	"default_value":       func(e *Entry) *string { return &e.Default },
	"description":         func(e *Entry) *string { return &e.Description },
	"notes":               func(e *Entry) *string { return &e.Description },
}

// ignored are columns of existing registries that say nothing to the driver.
func ignored(column string) bool {
	return slices.Contains([]string{
		"", "reference_point_name", "units_details", "unit_details", "precision", "comment", "comments",
	}, column)
}

// normal returns a column name as columns writes it.
func normal(column string) string {
	column = strings.Trim(column, " \t\"\u00a0\ufeff")
	return strings.ReplaceAll(strings.ToLower(column), " ", "_")
}

// set gives the field that column means the value. A field that is set already keeps its value
// if the new one is empty: two columns may mean the same.
func (e *Entry) set(column, value string) error {
	value = strings.TrimSpace(value)
	if tag, isTag := strings.CutPrefix(column, "tag:"); isTag {
		e.tag(tag, value)
		return nil
	}
	if column == "tags" {
		return e.setTags(value)
	}
	field, known := columns[column]
	if !known {
		return unknownColumn(column)
	}
	if p := field(e); value != "" || *p == "" {
		*p = value
	}
	return nil
}

func (e *Entry) tag(name, value string) {
	if value == "" {
		return
	}
	if e.Tags == nil {
		e.Tags = make(map[string]string)
	}
	e.Tags[name] = value
}

// setTags reads "equip=boiler; floor=2".
func (e *Entry) setTags(list string) error {
	for pair := range strings.SplitSeq(list, ";") {
		name, value, found := strings.Cut(pair, "=")
		switch {
		case strings.TrimSpace(pair) == "":
		case !found || strings.TrimSpace(name) == "":
			return fmt.Errorf("%q is not a tag; write name=value, several with ; between", strings.TrimSpace(pair))
		default:
			e.tag(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return nil
}

func unknownColumn(column string) error {
	return fmt.Errorf("%q is not known; write name, table, address, type, byte_order, bit, scale, offset, "+
		"transform, unit, writable, default, description or tags, or remove it", column)
}
