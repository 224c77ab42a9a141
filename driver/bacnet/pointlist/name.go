package pointlist

import (
	"strconv"
	"strings"

	"voltbus/driver/registry"
	"voltbus/protocol/bacnet/encoding"
)

// Namer gives points names that people can read, made of the names that a device gives its objects. The zero Namer
// knows no names.
type Namer struct {
	Prefix string // what all names of the device begin with, such as its own name; it is left out
	used   map[string]bool
}

// Name returns a name for an object that no other has had: what separates words becomes an underscore, and an
// object without a name is called by its type and instance.
func (n *Namer) Name(object encoding.ObjectID, name string) string {
	if rest, cut := strings.CutPrefix(name, n.Prefix); cut && n.Prefix != "" {
		if rest = strings.TrimLeft(rest, " ._-/:'\\"); rest != "" {
			name = rest
		}
	}
	text := registry.Readable(name)
	if text == "" {
		text = object.Type.String() + "_" + strconv.FormatUint(uint64(object.Instance), 10)
	}
	if n.used == nil {
		n.used = make(map[string]bool)
	}
	if n.used[text] {
		text += "_" + object.Type.String() + "_" + strconv.FormatUint(uint64(object.Instance), 10)
	}
	n.used[text] = true
	return text
}
