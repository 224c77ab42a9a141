package interner

import "math/bits"

// table finds numbers by the hashes of their texts: open addressing, at most three of four slots in use. It
// grows by half, so that there are at most twice as many slots as numbers.
type table struct {
	slots []uint32 // a number plus one; 0 is free
	used  int
}

const fewSlots = 16

// find returns the number with the hash for which is returns true.
func (t *table) find(hash uint64, is func(number uint32) bool) (number uint32, known bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	for at := t.slot(hash); t.slots[at] != 0; at = t.next(at) {
		if n := t.slots[at] - 1; is(n) {
			return n, true
		}
	}
	return 0, false
}

// enter returns the number with the hash for which is returns true, and adds the given one if there is none. hashOf
// returns the hash of each existing number.
func (t *table) enter(number uint32, hash uint64, is func(number uint32) bool, hashOf func(number uint32) uint64) (found uint32, known bool) {
	if found, known = t.find(hash, is); known {
		return found, true
	}
	t.put(number, hash, hashOf)
	return number, false
}

// put adds a new number.
func (t *table) put(number uint32, hash uint64, hashOf func(number uint32) uint64) {
	if 4*(t.used+1) > 3*len(t.slots) {
		t.resize(len(t.slots)+len(t.slots)/2, hashOf)
	}
	t.place(number+1, hash)
	t.used++
}

// reserve makes room for so many more numbers.
func (t *table) reserve(more int, hashOf func(number uint32) uint64) {
	if slots := (4*(t.used+more) + 2) / 3; slots > len(t.slots) {
		t.resize(slots, hashOf)
	}
}

func (t *table) resize(slots int, hashOf func(number uint32) uint64) {
	old := t.slots
	t.slots = make([]uint32, max(fewSlots, slots))
	for _, n := range old {
		if n != 0 {
			t.place(n, hashOf(n-1))
		}
	}
}

func (t *table) place(slot uint32, hash uint64) {
	at := t.slot(hash)
	for t.slots[at] != 0 {
		at = t.next(at)
	}
	t.slots[at] = slot
}

// slot is where the search for a hash begins: hashes in their order, spread over the slots.
func (t *table) slot(hash uint64) int {
	at, _ := bits.Mul64(hash, uint64(len(t.slots)))
	return int(at)
}

func (t *table) next(at int) int {
	if at++; at < len(t.slots) {
		return at
	}
	return 0
}
