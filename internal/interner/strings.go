package interner

import (
	"encoding/binary"
	"hash/maphash"

	"voltbus/internal/column"
)

// dictionary numbers strings from 0. They are stored consecutively in pages, each preceded by its length, so
// that growth needs no copying.
type dictionary struct {
	seed  maphash.Seed
	pages [][]byte
	begin column.Column[uint32] // by number: the page, and then the position in the page
	index table
	last  uint32 // last number added or found
}

// The size of a page in bytes, except one with a single longer word.
const (
	placeBits = 14
	pageSize  = 1 << placeBits
)

func (w *dictionary) len() int { return w.begin.Len() }

func (w *dictionary) at(number uint32) []byte {
	begin := w.begin.At(number)
	page := w.pages[begin>>placeBits][begin&(pageSize-1):]
	if n := page[0]; n < 0x80 { // the usual case
		return page[1 : 1+n]
	}
	n, width := binary.Uvarint(page)
	return page[width : width+int(n)]
}

func (w *dictionary) find(word string) (number uint32, known bool) {
	return w.index.find(maphash.String(w.seed, word), func(n uint32) bool { return string(w.at(n)) == word })
}

// add returns the number of the word, a new one if it was absent. The last word recurs when texts come in
// order.
func (w *dictionary) add(word string) uint32 {
	if int(w.last) < w.len() && string(w.at(w.last)) == word {
		return w.last
	}
	n, known := w.index.enter(uint32(w.len()), maphash.String(w.seed, word), func(n uint32) bool { return string(w.at(n)) == word }, w.hashOf)
	if !known {
		w.begin.Append(w.write(word))
	}
	w.last = n
	return n
}

func (w *dictionary) hashOf(number uint32) uint64 { return maphash.Bytes(w.seed, w.at(number)) }

// write returns the position of the written word.
func (w *dictionary) write(word string) (begin uint32) {
	var length [binary.MaxVarintLen64]byte
	width := binary.PutUvarint(length[:], uint64(len(word)))
	last := len(w.pages) - 1
	if last < 0 || len(w.pages[last])+width+len(word) > pageSize {
		var page []byte // the first one grows from zero: many have few strings
		if last >= 0 {
			page = make([]byte, 0, max(pageSize, width+len(word)))
		}
		w.pages = append(w.pages, page)
		last++
		if last >= 1<<(32-placeBits) {
			panic("interner: more than 4 GiB of texts")
		}
	}
	page := w.pages[last]
	begin = uint32(last)<<placeBits | uint32(len(page))
	w.pages[last] = append(append(page, length[:width]...), word...)
	return begin
}
