// Package newest holds the newest sample of each point of a history in memory, in 20 bytes and without pointers, by the point's number in
// the history.
package newest

import (
	"strings"

	"voltbus/internal/column"
	"voltbus/point"
)

// Table holds the newest samples by number. The zero Table is empty. Reads may be concurrent with each other, but not with changes.
type Table struct {
	rows  column.Column[row]
	texts map[uint32]string // value of a sample that is text
}

// Sample is a sample without its point.
type Sample struct {
	Time    int64 // microseconds since 1970 UTC
	Value   point.Value
	Quality point.Quality
}

type row struct {
	time    word64 // microseconds since 1970 UTC
	bits    word64
	kind    point.Kind
	quality point.Quality
	known   bool
	worded  bool
}

// word64 is eight bytes without alignment.
type word64 [2]uint32

func word64Of(n uint64) word64 { return word64{uint32(n), uint32(n >> 32)} }

func (o word64) get() uint64 { return uint64(o[0]) | uint64(o[1])<<32 }

// Len returns how many numbers there are.
func (t *Table) Len() int { return t.rows.Len() }

// Grow makes room for so many numbers.
func (t *Table) Grow(numbers int) { t.rows.Grow(numbers) }

// See records the sample as the newest unless a newer one is known.
func (t *Table) See(n uint32, s Sample) {
	if last, known := t.Time(n); !known || s.Time >= last {
		t.Take(n, s)
	}
}

// Take records the sample as the newest.
func (t *Table) Take(n uint32, s Sample) {
	t.rows.Set(n, row{
		time: word64Of(uint64(s.Time)), bits: word64Of(s.Value.Bits()), kind: s.Value.Kind(), quality: s.Quality,
		known: true, worded: t.Worded(n),
	})
	if s.Value.Kind() == point.Text {
		t.Say(n, s.Value.Text())
	} else if len(t.texts) > 0 {
		delete(t.texts, n)
	}
}

// Say stores a copy of the text of a sample, which may be part of a large string.
func (t *Table) Say(n uint32, text string) {
	if t.texts == nil {
		t.texts = map[uint32]string{}
	}
	if old, has := t.texts[n]; !has || old != text {
		t.texts[n] = strings.Clone(text)
	}
}

// Word records that the history may have a text of the point, at any time.
func (t *Table) Word(n uint32) {
	r := t.rows.At(n)
	r.worded = true
	t.rows.Set(n, r)
}

// Worded reports whether Word was called for the point.
func (t *Table) Worded(n uint32) bool { return t.rows.At(n).worded }

// Time returns the time of the newest sample; false if there is none or the number is not in the table.
func (t *Table) Time(n uint32) (time int64, known bool) {
	if int(n) >= t.rows.Len() {
		return 0, false
	}
	r := t.rows.At(n)
	return int64(r.time.get()), r.known
}

// Sample returns the newest sample; false if there is none.
func (t *Table) Sample(n uint32) (s Sample, known bool) {
	r := t.rows.At(n)
	if !r.known {
		return s, false
	}
	return Sample{int64(r.time.get()), point.ValueOf(r.kind, r.bits.get(), t.texts[n]), r.quality}, true
}

// Differs reports whether the newest sample has the time of another one but a different value. For texts only their kind is
// known here; sameText says that they are equal, or that neither is text.
func (t *Table) Differs(n uint32, s Sample, sameText bool) bool {
	r, v := t.rows.At(n), s.Value
	same := r.kind == v.Kind() && r.quality == s.Quality && sameText && (r.kind == point.Text || r.bits.get() == v.Bits())
	return r.known && int64(r.time.get()) == s.Time && !same
}

// Newest returns the time of the newest of all samples; false if there is none.
func (t *Table) Newest() (time int64, known bool) {
	for n := range uint32(t.rows.Len()) {
		if at, is := t.Time(n); is && (!known || at > time) {
			time, known = at, true
		}
	}
	return time, known
}

// Forget removes the samples for whose times gone returns true.
func (t *Table) Forget(gone func(time int64) bool) {
	for n := range uint32(t.rows.Len()) {
		if at, known := t.Time(n); known && gone(at) {
			t.rows.Set(n, row{})
			delete(t.texts, n)
		}
	}
}
