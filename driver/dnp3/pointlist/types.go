package pointlist

import (
	"voltbus/point"
	"voltbus/protocol/dnp3/object"
)

// typeName is a point type as named in a registry.
type typeName struct {
	name   string
	kind   object.Kind
	group  uint8   // of present values
	others []uint8 // further groups for the same points
	values point.Kind
}

var typeTable = []typeName{
	{"binary_input", object.KindBinaryInput, 1, []uint8{2}, point.Bool},
	{"double_bit_input", object.KindDoubleBitInput, 3, []uint8{4}, point.Int},
	{"binary_output", object.KindBinaryOutput, 10, []uint8{11, 12}, point.Bool},
	{"counter", object.KindCounter, 20, []uint8{22}, point.Int},
	{"frozen_counter", object.KindFrozenCounter, 21, []uint8{23}, point.Int},
	{"analog_input", object.KindAnalogInput, 30, []uint8{32}, point.Float},
	{"frozen_analog", object.KindFrozenAnalog, 31, []uint8{33}, point.Float},
	{"analog_output", object.KindAnalogOutput, 40, []uint8{41, 42}, point.Float},
	{"octet_string", object.KindOctetString, 110, []uint8{111}, point.Text},
}

func typeNames() []string {
	names := make([]string, len(typeTable))
	for i := range typeTable {
		names[i] = typeTable[i].name
	}
	return names
}

// typeOf returns the type of the points of a kind, nil for objects that are not points.
func typeOf(k object.Kind) *typeName {
	for i := range typeTable {
		if typeTable[i].kind == k {
			return &typeTable[i]
		}
	}
	return nil
}

// TypeName returns a registry's name for points of a kind, such as "analog_input"; "" for objects that are
// not points.
func TypeName(k object.Kind) string {
	if t := typeOf(k); t != nil {
		return t.name
	}
	return ""
}

// ParseType is the inverse of TypeName; false for an unknown name.
func ParseType(name string) (object.Kind, bool) {
	for i := range typeTable {
		if typeTable[i].name == name {
			return typeTable[i].kind, true
		}
	}
	return 0, false
}

// Type is a point type.
type Type struct {
	Kind  object.Kind
	Group uint8 // of present values
}

// Types returns all types, by their groups.
func Types() []Type {
	types := make([]Type, len(typeTable))
	for i := range typeTable {
		types[i] = Type{Kind: typeTable[i].kind, Group: typeTable[i].group}
	}
	return types
}
