package packet

import (
	"bytes"
	"encoding/binary"
)

// WithUint appends a number or flag and returns the longer properties, like append. A property
// that has no number is left out.
func (p Properties) WithUint(id Property, v uint32) Properties {
	switch id.kind() {
	case kindFlag:
		return append(p, byte(id), byte(v))
	case kindUint16:
		return binary.BigEndian.AppendUint16(append(p, byte(id)), uint16(v))
	case kindUint32:
		return binary.BigEndian.AppendUint32(append(p, byte(id)), v)
	case kindVariable:
		return appendVariable(append(p, byte(id)), min(v, maxRemaining))
	default:
		return p
	}
}

// WithBytes appends binary data. A property that has none, or data of more than 65,535 bytes, is
// left out.
func (p Properties) WithBytes(id Property, v []byte) Properties {
	if k := id.kind(); k != kindText && k != kindBinary || len(v) > 65_535 {
		return p
	}
	return appendField(append(p, byte(id)), v)
}

// WithText appends a text, which must be UTF-8 without the null character, see
// [Properties.WithBytes].
func (p Properties) WithText(id Property, v string) Properties { return p.WithBytes(id, []byte(v)) }

// WithUser appends a user property. Texts of more than 65,535 bytes are left out.
func (p Properties) WithUser(name, value string) Properties {
	if len(name) > 65_535 || len(value) > 65_535 {
		return p
	}
	return appendField(appendField(append(p, byte(UserProperty)), name), value)
}

// Without returns a copy without some properties, nil if nothing is left.
func (p Properties) Without(ids ...Property) Properties {
	var kept Properties
	rest := reader{body: p}
	for len(rest.body) > 0 {
		before := rest.body
		one := rest.property()
		if rest.err != nil {
			break
		}
		if bytes.IndexByte(numbers(ids), byte(one.id)) < 0 {
			kept = append(kept, before[:len(before)-len(rest.body)]...)
		}
	}
	return kept
}

func numbers(ids []Property) []byte {
	b := make([]byte, len(ids))
	for i, id := range ids {
		b[i] = byte(id)
	}
	return b
}

// sectionSize is how many bytes properties take in a packet of the version.
func (p Properties) sectionSize(v Version) int {
	if v != V5 {
		return 0
	}
	return variableSize(uint32(len(p))) + len(p)
}

// appendSection appends properties with their length.
func (p Properties) appendSection(b []byte, v Version) []byte {
	if v != V5 {
		return b
	}
	return append(appendVariable(b, uint32(len(p))), p...)
}
