package template

import (
	"fmt"

	"voltbus/broker/setting"
	"voltbus/point"
)

// Field converts the values of one point that no template of the configuration describes. It is safe for concurrent use.
type Field struct{ field }

// NewField returns a field for a point, of which type, unit, on, off, bad, scale, offset and set count.
func NewField(p setting.Point) (*Field, error) {
	f, err := compileField(&setting.Template{Format: setting.Plain}, &p)
	if err != nil {
		return nil, fmt.Errorf("points.%w", err)
	}
	return &Field{f}, nil
}

// Reading makes a reading of a value: a string, a json.Number, a bool or nil.
func (f *Field) Reading(v any) (Reading, error) { return f.reading(v) }

// Payload returns what is sent for a value.
func (f *Field) Payload(v point.Value) ([]byte, error) { return f.payload(v) }

// Kind is that of the point's values.
func (f *Field) Kind() point.Kind { return f.kind() }
