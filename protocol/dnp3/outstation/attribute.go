package outstation

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

// attributeSets are the device attributes (g0) by set and number.
type attributeSets map[uint8]map[uint8]object.Attribute

// Numbers that ask for others instead of being attributes (Annex A, g0).
const (
	allAttributes  = 254
	attributeNames = 255
)

var (
	errAttribute = errors.New("number must be 1 to 253: 254 and 255 ask for the others")
	errSet       = errors.New("is that of the standard: name its attributes in Attributes")
)

// attributeSets returns a copy of the configured attributes.
func (c *Config) attributeSets() attributeSets {
	sets := make(attributeSets)
	if len(c.Attributes) > 0 {
		sets[0] = maps.Clone(c.Attributes)
	}
	for set, attributes := range c.PrivateAttributes {
		if len(attributes) > 0 {
			sets[set] = maps.Clone(attributes)
		}
	}
	return sets
}

func (c *Config) validateAttributes() error {
	if _, ok := c.PrivateAttributes[0]; ok {
		return fmt.Errorf("outstation: attribute set 0 %w", errSet)
	}
	for set, attributes := range c.attributeSets() {
		for number, a := range attributes {
			if number == 0 || number >= allAttributes {
				return fmt.Errorf("outstation: attribute %d of set %d: %w", number, set, errAttribute)
			}
			if _, err := a.Size(); err != nil {
				return fmt.Errorf("outstation: attribute %d of set %d: %w", number, set, err)
			}
		}
	}
	return nil
}

// of returns the sets that a header names, in ascending order: the index of an attribute is
// its set.
func (sets attributeSets) of(h app.Header) []uint8 {
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

// planAttributes plans the device attributes of the sets that a header names.
func (r *reader) planAttributes(h app.Header) app.IIN {
	number := h.Variation.Number()
	planned := len(r.plan)
	for _, set := range r.outstation.attributes.of(h) {
		it := item{source: fromAttributes, set: set, from: int32(number), to: int32(number) + 1}
		switch number {
		case allAttributes:
			it.from, it.to = 0, allAttributes
		case attributeNames:
			it.source = fromAttributeList
		default:
			if _, ok := r.outstation.attributes[set][number]; !ok {
				continue
			}
		}
		r.plan = append(r.plan, it)
	}
	if len(r.plan) == planned {
		return app.IINObjectUnknown
	}
	return 0
}

func (r *reader) writeAttributes(w *app.Writer, it *item) bool {
	for ; it.from < it.to; it.from++ {
		a, ok := r.outstation.attributes[it.set][uint8(it.from)]
		if ok && !written(w, w.Attribute(uint32(it.set), uint8(it.from), a)) {
			return false
		}
	}
	return true
}

// attributeList says which attributes a set has.
func (r *reader) attributeList(set uint8) object.Attribute {
	writable := byte(0)
	if r.outstation.callbacks.WriteAttribute != nil {
		writable = 1
	}
	var list []byte
	for _, number := range slices.Sorted(maps.Keys(r.outstation.attributes[set])) {
		list = append(list, number, writable)
	}
	kind := object.AttributeList
	if len(list) > 255 {
		kind = object.AttributeLongList
	}
	return object.Attribute{Type: kind, Data: list}
}

// writeAttribute handles a write of g0.
func (w *writes) writeAttribute(h app.Header) app.IIN {
	call := w.outstation.callbacks.WriteAttribute
	number := h.Variation.Number()
	for o := range h.Objects() {
		a, ok := o.Attribute()
		set := uint8(o.Index)
		_, exists := w.outstation.attributes[set][number]
		if !ok || o.Index > 255 || !exists || call == nil {
			return app.IINParameterError
		}
		a.Data = append([]byte(nil), a.Data...)
		if !call(set, number, a) {
			return app.IINParameterError
		}
		w.outstation.attributes[set][number] = a
	}
	return 0
}
