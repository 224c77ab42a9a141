// Package attribute holds the device attributes (g0) of a DNP3 outstation.
package attribute

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

// Sets are the device attributes (g0) by set and number.
type Sets map[uint8]map[uint8]object.Attribute

// Numbers that ask for others instead of being attributes (Annex A, g0).
const (
	All   = 254
	Names = 255
)

// Reasons why attributes are refused.
var (
	ErrNumber = errors.New("number must be 1 to 253: 254 and 255 ask for the others")
	ErrSet    = errors.New("is that of the standard: name its attributes in Attributes")
)

// NewSets returns a copy of attributes: those of set 0, and those of other sets.
func NewSets(standard map[uint8]object.Attribute, private map[uint8]map[uint8]object.Attribute) Sets {
	sets := make(Sets)
	if len(standard) > 0 {
		sets[0] = maps.Clone(standard)
	}
	for set, attributes := range private {
		if len(attributes) > 0 {
			sets[set] = maps.Clone(attributes)
		}
	}
	return sets
}

// Validate says which attribute to change.
func Validate(standard map[uint8]object.Attribute, private map[uint8]map[uint8]object.Attribute) error {
	if _, ok := private[0]; ok {
		return fmt.Errorf("outstation: attribute set 0 %w", ErrSet)
	}
	for set, attributes := range NewSets(standard, private) {
		for number, a := range attributes {
			if number == 0 || number >= All {
				return fmt.Errorf("outstation: attribute %d of set %d: %w", number, set, ErrNumber)
			}
			if _, err := a.Size(); err != nil {
				return fmt.Errorf("outstation: attribute %d of set %d: %w", number, set, err)
			}
		}
	}
	return nil
}

// Of returns the sets that a header names, in ascending order: the index of an attribute is
// its set.
func (sets Sets) Of(h app.Header) []uint8 {
	var found []uint8
	for set := range sets {
		switch {
		case h.Qualifier.Prefixed():
			for o := range h.Objects() {
				if o.Index == uint32(set) {
					found = append(found, set)
				}
			}
		case !h.Qualifier.Ranged() || h.Start <= uint32(set) && uint32(set) <= h.Stop:
			found = append(found, set)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// List says which attributes a set has, and whether they can be written.
func (sets Sets) List(set uint8, writable bool) object.Attribute {
	property := byte(0)
	if writable {
		property = 1
	}
	var list []byte
	for _, number := range slices.Sorted(maps.Keys(sets[set])) {
		list = append(list, number, property)
	}
	kind := object.AttributeList
	if len(list) > 255 {
		kind = object.AttributeLongList
	}
	return object.Attribute{Type: kind, Data: list}
}
