// Package concentrator decides for a concentrator when a bulk of readings is sent, to which system, and up to which position of the log
// everything has been delivered. It is pure: it neither reads the log nor sends anything.
package concentrator

import (
	"time"

	"voltbus/meter"
)

// Place is a place in the log of a node: behind so many readings of the block with a sequence, and behind all blocks before it.
type Place struct {
	Sequence uint64 `json:"sequence"`
	Readings int    `json:"readings,omitempty"` // of that block; 0 with all of it behind: see After
	Whole    bool   `json:"whole,omitempty"`    // all of the block
}

// After returns the place behind a block.
func After(sequence uint64) Place { return Place{Sequence: sequence, Whole: true} }

// Next returns the first block of which something lies behind the place, and how many readings of it lie before.
func (p Place) Next() (sequence uint64, skip int) {
	if p.Whole || p.Sequence == 0 {
		return p.Sequence + 1, 0
	}
	return p.Sequence, p.Readings
}

// Bulk is readings that go in one request.
type Bulk struct {
	Readings []meter.Reading
	Oldest   time.Time // when the first of them was recorded
	End      Place     // behind the last of them
	Passed   []Passed  // the blocks of which it has the last readings
}

// Passed is a block whose readings are all in bulks.
type Passed struct {
	Origin  string
	Samples uint64 // of the origin, up to the end of the block
	Lost    uint64 // of them those before the block that the log had dropped
}

// Gatherer puts readings into bulks. It is not safe for concurrent use.
type Gatherer struct {
	most int
	age  time.Duration
	open Bulk
}

// NewGatherer returns a gatherer of bulks of so many readings, or of fewer when the first of them is of an age.
func NewGatherer(most int, age time.Duration) *Gatherer { return &Gatherer{most: most, age: age} }

// Add adds a reading that was recorded at a moment and stands before a place. It returns a bulk if that is full.
func (g *Gatherer) Add(r *meter.Reading, recorded time.Time, end Place) *Bulk {
	if len(g.open.Readings) == 0 {
		g.open = Bulk{Readings: make([]meter.Reading, 0, g.most), Oldest: recorded}
	}
	g.open.Readings, g.open.End = append(g.open.Readings, *r), end
	if len(g.open.Readings) < g.most {
		return nil
	}
	return g.Take()
}

// Extend says that up to a place nothing else is to be sent, and which block ends there, if it holds readings. It reports whether
// there is a bulk which that place belongs to.
func (g *Gatherer) Extend(end Place, passed []Passed) bool {
	if len(g.open.Readings) == 0 {
		return false
	}
	g.open.End, g.open.Passed = end, append(g.open.Passed, passed...)
	return true
}

// Due returns when the bulk must go although it is not full; false if there is none.
func (g *Gatherer) Due() (time.Time, bool) {
	return g.open.Oldest.Add(g.age), len(g.open.Readings) > 0
}

// Take returns the bulk as it is; nil if there is none.
func (g *Gatherer) Take() *Bulk {
	if len(g.open.Readings) == 0 {
		return nil
	}
	b := g.open
	g.open = Bulk{}
	return &b
}
