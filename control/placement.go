package control

import "cmp"

// Places is a set of levels, bit 0 for level 1; the zero Places is empty.
type Places uint16

// With returns the set with a level from 1 to 16.
func (p Places) With(level Level) Places { return p | 1<<(level-1) }

// Placement is where a device with its own priority array holds commanded values. The zero Placement is that of a
// device without one, or without anything commanded.
type Placement struct {
	Place  Level  `json:"place,omitempty"`  // level of the value the point is set to
	Places Places `json:"places,omitempty"` // levels at which the device may hold something commanded
}

// placeOf returns the level of a value in the device's array; 0 if it has no array.
func placeOf(s *Spec, want *Write) Level {
	if s.Array == 0 || want.Release {
		return 0
	}
	return cmp.Or(want.Level, s.Array)
}

// Has reports whether what the point is set to is where a write would put it.
func (p *Placement) Has(s *Spec, want *Write) bool { return placeOf(s, want) == p.Place }

// Put returns where in the device's array a write goes, and what it relinquishes there. It is called before the write
// is sent, whose outcome may remain unknown.
func (p *Placement) Put(s *Spec, want *Write) {
	if want.Place = placeOf(s, want); want.Place != 0 {
		p.Places = p.Places.With(want.Place)
	}
	if s.Array != 0 {
		want.Back = p.Places
	}
}

// Done records that a write was carried out: the device holds nothing commanded earlier any more.
func (p *Placement) Done(sent *Write) {
	if p.Place, p.Places = sent.Place, 0; sent.Place != 0 {
		p.Places = p.Places.With(sent.Place)
	}
}
