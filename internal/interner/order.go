package interner

import (
	"bytes"
	"strings"
)

// Is reports whether the number is that of the text: faster than Find if the number can be guessed.
func (x *Index) Is(number uint32, text string) bool {
	if !x.Has(number) {
		return false
	}
	p := x.parts.At(number)
	head, tail := x.heads.at(p.head), x.tails.at(p.tail)
	return len(head)+len(tail) == len(text) && text[:len(head)] == string(head) && text[len(head):] == string(tail)
}

// Parts returns the numbers of the parts of a numbered text: the part up to its last slash, and the part
// after it.
func (x *Index) Parts(number uint32) (head, tail uint32) {
	p := x.parts.At(number)
	return p.head, p.tail
}

// Heads returns how many heads there are. They are numbered from 0.
func (x *Index) Heads() int { return x.heads.len() }

// Tails returns how many tails there are. They are numbered from 0.
func (x *Index) Tails() int { return x.tails.len() }

// Head returns the head of a number; it must not be modified.
func (x *Index) Head(head uint32) []byte { return x.heads.at(head) }

// Tail returns the tail of a number; it must not be modified.
func (x *Index) Tail(tail uint32) []byte { return x.tails.at(tail) }

// Compare compares the texts of two numbers byte by byte, as strings.Compare does.
func (x *Index) Compare(a, b uint32) int {
	pa, pb := x.parts.At(a), x.parts.At(b)
	ta, tb := x.tails.at(pa.tail), x.tails.at(pb.tail)
	if pa.head == pb.head {
		return bytes.Compare(ta, tb)
	}
	ha, hb := x.heads.at(pa.head), x.heads.at(pb.head)
	n := min(len(ha), len(hb))
	if c := bytes.Compare(ha[:n], hb[:n]); c != 0 {
		return c
	}
	if len(ha) < len(hb) {
		return compareJoined(ta, hb[n:], tb)
	}
	return -compareJoined(tb, ha[n:], ta)
}

// compareJoined compares a text with the concatenation of two others.
func compareJoined(text, head, tail []byte) int {
	n := min(len(text), len(head))
	if c := bytes.Compare(text[:n], head[:n]); c != 0 {
		return c
	}
	if len(text) < len(head) {
		return -1
	}
	return bytes.Compare(text[n:], tail)
}

// CompareText compares the text of a number with another one.
func (x *Index) CompareText(number uint32, text string) int {
	p := x.parts.At(number)
	head, tail := x.heads.at(p.head), x.tails.at(p.tail)
	n := min(len(head), len(text))
	if c := strings.Compare(string(head[:n]), text[:n]); c != 0 {
		return c
	}
	if len(head) > n {
		return 1
	}
	return strings.Compare(string(tail), text[n:])
}
