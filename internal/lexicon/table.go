package lexicon

// table finds numbers by the hashes of what they stand for: open addressing, a power of two of slots,
// at most three of four in use.
type table struct {
	slots []uint32 // a number plus one; 0 is free
	used  int
}

const fewSlots = 16

// find returns the number with the hash of which is holds.
func (t *table) find(hash uint64, is func(number uint32) bool) (number uint32, known bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(t.slots) - 1)
	for at := hash & mask; t.slots[at] != 0; at = (at + 1) & mask {
		if n := t.slots[at] - 1; is(n) {
			return n, true
		}
	}
	return 0, false
}

// put adds a number that is not there. hashOf gives the hash of each number that is, and of this one.
func (t *table) put(number uint32, hashOf func(number uint32) uint64) {
	if 4*(t.used+1) > 3*len(t.slots) {
		old := t.slots
		t.slots = make([]uint32, max(fewSlots, 2*len(old)))
		for _, n := range old {
			if n != 0 {
				t.place(n, hashOf(n-1))
			}
		}
	}
	t.place(number+1, hashOf(number))
	t.used++
}

func (t *table) place(slot uint32, hash uint64) {
	mask := uint64(len(t.slots) - 1)
	at := hash & mask
	for t.slots[at] != 0 {
		at = (at + 1) & mask
	}
	t.slots[at] = slot
}
