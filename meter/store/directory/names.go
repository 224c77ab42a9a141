package directory

import (
	"hash/maphash"
	"math/bits"
	"unsafe"

	"voltbus/internal/column"
)

// names numbers the ids of meters from 0 on, and finds them again. Readings come in any order of their meters, and with
// millions of meters each step of a search waits for the memory. So a place of the table tells most other ids apart by
// itself, and find goes step by step with many ids at a time, so that they wait together. An id takes its bytes, one for
// their number, 4 for where they stand, and 11 to 16 in the table. Nothing of it is a pointer but that to whole pages.
type names struct {
	seed  maphash.Seed
	slots []uint64              // hash in the upper half, number plus one in the lower one; 0 is free
	at    column.Column[uint32] // by number: page and offset of the text
	pages []*[pageBytes]byte    // texts behind their lengths
	used  int                   // of the last page
}

const (
	pageBits  = 16
	pageBytes = 1 << pageBits
	fewSlots  = 16
)

func newNames() *names { return &names{seed: maphash.MakeSeed(), used: pageBytes} }

// len returns how many ids there are.
func (x *names) len() int { return x.at.Len() }

// full reports whether there is no room for so many more ids of any length.
func (x *names) full(more int) bool {
	return len(x.pages)+more/(pageBytes/(MaxID+1))+1 > 1<<(32-pageBits)
}

// hash is of a seed of its own for each table: ids come from devices, which could else choose them so that all fall into
// one place.
func (x *names) hash(id string) uint32 { return uint32(maphash.String(x.seed, id) >> 32) }

// text returns the id with a number, which is there.
func (x *names) text(number uint32) string { return x.textAt(x.at.At(number)) }

func (x *names) textAt(at uint32) string {
	page := x.pages[at>>pageBits]
	from := at & (pageBytes - 1)
	return unsafe.String(&page[from], int(page[from])+1)[1:]
}

// add gives an id that is not there the next number.
func (x *names) add(id string) {
	if 4*(x.len()+1) > 3*len(x.slots) {
		x.resize(len(x.slots) + len(x.slots)/2)
	}
	if x.used+1+len(id) > pageBytes {
		x.pages, x.used = append(x.pages, new([pageBytes]byte)), 0
	}
	page := x.pages[len(x.pages)-1]
	page[x.used] = byte(len(id))
	copy(page[x.used+1:], id)
	x.at.Append(uint32(len(x.pages)-1)<<pageBits | uint32(x.used))
	x.used += 1 + len(id)
	x.place(uint64(x.hash(id))<<32 | uint64(x.len()))
}

// reserve makes room in the table for so many more ids, so that it need not grow while they come.
func (x *names) reserve(more int) {
	if slots := (4*(x.len()+more) + 2) / 3; slots > len(x.slots) {
		x.resize(slots)
	}
}

func (x *names) resize(slots int) {
	old := x.slots
	x.slots = make([]uint64, max(fewSlots, slots))
	for _, s := range old {
		if s != 0 {
			x.place(s)
		}
	}
}

func (x *names) place(s uint64) {
	at := x.slot(uint32(s >> 32))
	for x.slots[at] != 0 {
		at = x.next(at)
	}
	x.slots[at] = s
}

// slot is where the search for a hash begins: hashes in their order, spread over the slots.
func (x *names) slot(hash uint32) int {
	at, _ := bits.Mul64(uint64(hash)<<32, uint64(len(x.slots)))
	return int(at)
}

func (x *names) next(at int) int {
	if at++; at < len(x.slots) {
		return at
	}
	return 0
}

// one returns the number of an id.
func (x *names) one(id string) (number uint32, known bool) {
	if len(x.slots) == 0 {
		return 0, false
	}
	hash := x.hash(id)
	for at := x.slot(hash); x.slots[at] != 0; at = x.next(at) {
		if n := uint32(x.slots[at]) - 1; uint32(x.slots[at]>>32) == hash && x.text(n) == id {
			return n, true
		}
	}
	return 0, false
}

// together is how many ids are sought at a time.
const together = 32

// search is ids that are sought together.
type search struct {
	ids  [together]string
	hash [together]uint32
	slot [together]uint64
	at   [together]uint32
	n    [together]uint32 // number plus one; 0 of an id that is not there
}

// find sets n of the first ids of a search. Each loop has one load that waits for the memory, of which the processor has
// those of several rounds under way.
func (x *names) find(s *search, count int) {
	if len(x.slots) == 0 {
		clear(s.n[:count])
		return
	}
	for i := range count {
		s.hash[i] = x.hash(s.ids[i])
	}
	for i := range count {
		s.slot[i] = x.slots[x.slot(s.hash[i])]
	}
	for i := range count {
		if s.n[i] = 0; s.slot[i] != 0 && uint32(s.slot[i]>>32) == s.hash[i] {
			s.n[i] = uint32(s.slot[i])
			s.at[i] = x.at.At(s.n[i] - 1)
		}
	}
	for i := range count {
		if s.slot[i] == 0 || s.n[i] != 0 && x.textAt(s.at[i]) == s.ids[i] {
			continue
		}
		s.n[i] = 0
		if n, known := x.one(s.ids[i]); known { // it stands further on
			s.n[i] = n + 1
		}
	}
}
