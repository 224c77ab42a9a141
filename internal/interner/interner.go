// Package interner assigns numbers to path strings and finds them again, with little memory: devices of one make have points of the same
// names, and a device's path is a prefix of many. It stores each part before the last slash once, each part after it once, and 8 bytes
// per path besides an index of about the same size. It contains few pointers, so the garbage collector has little to follow.
package interner

import (
	"encoding/binary"
	"hash/maphash"
	"strings"

	"voltbus/internal/column"
)

// Index numbers texts. Reads may be concurrent with each other, but not with Add and Put.
type Index struct {
	seed  maphash.Seed
	heads dictionary           // up to and including the last slash
	tails dictionary           // after it
	parts column.Column[parts] // by number
	index table
}

// parts are the parts of a text.
type parts struct{ head, tail uint32 }

const nothing = ^uint32(0) // head and tail of an unused number

// New returns an empty index.
func New() *Index {
	seed := maphash.MakeSeed()
	return &Index{seed: seed, heads: dictionary{seed: seed}, tails: dictionary{seed: seed}}
}

// Len returns the number of texts.
func (x *Index) Len() int { return x.index.used }

// Next returns the number above all assigned ones.
func (x *Index) Next() uint32 { return uint32(x.parts.Len()) }

// Reserve makes room in the index for so many more texts, to avoid rebuilding it while they are added.
func (x *Index) Reserve(more int) { x.index.reserve(more, x.hashOf) }

// Enter returns the number of a text, assigning the next one if it has none.
func (x *Index) Enter(text string) (number uint32, known bool) {
	p := x.divide(text)
	number, known = x.index.enter(x.Next(), x.hash(p), func(n uint32) bool { return x.parts.At(n) == p }, x.hashOf)
	if !known {
		x.parts.Append(p)
	}
	return number, known
}

// Add assigns the next number to a text without one.
func (x *Index) Add(text string) uint32 {
	n := x.Next()
	x.Put(n, text)
	return n
}

// Put assigns a free number to a text without one. Smaller unassigned numbers stay free.
func (x *Index) Put(number uint32, text string) {
	for x.Next() <= number {
		x.parts.Append(parts{nothing, nothing})
	}
	p := x.divide(text)
	x.parts.Set(number, p)
	x.index.put(number, x.hash(p), x.hashOf)
}

// divide returns the parts of a text, numbering new ones.
func (x *Index) divide(text string) parts {
	head, tail := cut(text)
	return parts{x.heads.add(head), x.tails.add(tail)}
}

// Find returns the number of a text.
func (x *Index) Find(text string) (number uint32, known bool) {
	head, tail := cut(text)
	var p parts
	if p.head, known = x.heads.find(head); !known {
		return 0, false
	}
	if p.tail, known = x.tails.find(tail); !known {
		return 0, false
	}
	return x.index.find(x.hash(p), func(n uint32) bool { return x.parts.At(n) == p })
}

// Has reports whether the number is that of a text.
func (x *Index) Has(number uint32) bool {
	return number < x.Next() && x.parts.At(number).head != nothing
}

// Append appends the text of a number to dst; nothing if there is none.
func (x *Index) Append(dst []byte, number uint32) []byte {
	if !x.Has(number) {
		return dst
	}
	p := x.parts.At(number)
	return append(append(dst, x.heads.at(p.head)...), x.tails.at(p.tail)...)
}

// cut divides a text after its last slash.
func cut(text string) (head, tail string) {
	at := strings.LastIndexByte(text, '/') + 1
	return text[:at], text[at:]
}

// hash uses a separate seed for each index: names come from devices, which could otherwise choose them so
// that all collide.
func (x *Index) hash(p parts) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint32(b[:4], p.head)
	binary.LittleEndian.PutUint32(b[4:], p.tail)
	return maphash.Bytes(x.seed, b[:])
}

func (x *Index) hashOf(number uint32) uint64 { return x.hash(x.parts.At(number)) }
