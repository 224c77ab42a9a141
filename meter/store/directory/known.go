package directory

import (
	"voltbus/meter"
	"voltbus/meter/store"
)

// Known is what a store tells of its meters without touching the disk: the part of store.Registry that an engine embeds.
type Known struct{ directory *Directory }

// Known returns what is asked of the directory by callers of a store.
func (d *Directory) Known() Known { return Known{d} }

// Knows implements store.Registry.
func (k Known) Knows(dst []bool, keys []store.ChannelKey) []bool { return k.directory.Knows(dst, keys) }

// KnowsMeter implements store.Registry.
func (k Known) KnowsMeter(id string) bool {
	_, known := k.directory.Number(id)
	return known
}

// ChannelOf implements store.Registry.
func (k Known) ChannelOf(id string, t meter.ReadingType) (int, bool) {
	return k.directory.ChannelOf(id, t)
}
