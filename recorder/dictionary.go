package recorder

import (
	"hash/maphash"

	"voltbus/point"
)

// dictionary finds the points of one block. It contains no other points: its cost does not grow with the
// total number of points.
type dictionary struct {
	seed  maphash.Seed
	slots []uint32 // index in points plus one, 0 for free; the number of slots is a power of two, at most half of them used
}

const fewSlots = 64

// find returns the index of a path in points, adding it if absent. It tries guess first: points recur in the
// order of their first appearance.
func (d *dictionary) find(points []point.Path, path point.Path, guess uint32) (with []point.Path, index uint32) {
	if int(guess) < len(points) && points[guess] == path {
		return points, guess
	}
	if 2*len(points) >= len(d.slots) {
		d.grow(points)
	}
	at := d.place(points, path)
	if d.slots[at] == 0 {
		points = append(points, path)
		d.slots[at] = uint32(len(points))
	}
	return points, d.slots[at] - 1
}

// place returns the slot of a path, which is free if the path is not among the points.
func (d *dictionary) place(points []point.Path, path point.Path) uint64 {
	mask := uint64(len(d.slots) - 1)
	at := maphash.String(d.seed, string(path)) & mask
	for d.slots[at] != 0 && points[d.slots[at]-1] != path {
		at = (at + 1) & mask
	}
	return at
}

func (d *dictionary) grow(points []point.Path) {
	if len(d.slots) == 0 {
		d.seed = maphash.MakeSeed()
	}
	d.slots = make([]uint32, max(fewSlots, 2*len(d.slots)))
	d.fill(points)
}

// fill replaces the content with the points.
func (d *dictionary) fill(points []point.Path) {
	clear(d.slots)
	for i, p := range points {
		d.slots[d.place(points, p)] = uint32(i) + 1
	}
}
