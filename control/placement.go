package control

import "cmp"

// Places is a set of levels, bit 0 for level 1; the zero Places is empty.
type Places uint16

// With returns the set with a level from 1 to 16.
func (p Places) With(level Level) Places { return p | 1<<(level-1) }

// Placement is where a device with a priority array of its own has what was commanded. The zero Placement is that of a
// device without one, or without anything commanded.
type Placement struct {
	Place  Level  `json:"place,omitempty"`  // of what the point is set to
	Places Places `json:"places,omitempty"` // where the device may have something that was commanded
}

// placeOf returns the level that a value has in the array of the device; 0 if it has no array.
func placeOf(s *Spec, want *Write) Level {
	if s.Array == 0 || want.Release {
		return 0
	}
	return cmp.Or(want.Level, s.Array)
}

// Has reports whether what the point is set to is where a write would put it.
func (p *Placement) Has(s *Spec, want *Write) bool { return placeOf(s, want) == p.Place }

// Put says where in the array of the device a write goes, and what it takes back there. It is called before the write
// is sent, whose outcome may stay unknown.
func (p *Placement) Put(s *Spec, want *Write) {
	if want.Place = placeOf(s, want); want.Place != 0 {
		p.Places = p.Places.With(want.Place)
	}
	if s.Array != 0 {
		want.Back = p.Places
	}
}

// Done notes that a write was carried out: nothing of what was commanded before is left in the device.
func (p *Placement) Done(sent *Write) {
	if p.Place, p.Places = sent.Place, 0; sent.Place != 0 {
		p.Places = p.Places.With(sent.Place)
	}
}
