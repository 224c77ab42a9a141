package control

import (
	"errors"
	"fmt"
	"math"
	"time"

	"voltbus/point"
)

// Level is a place in the priority array: 1 is the most urgent, 16 the least. The usual meanings are those of
// BACnet: 1 and 2 life safety, 5 critical equipment, 8 manual operator, 9 to 16 programs.
type Level uint8

// Levels is the number of levels.
const Levels = 16

// Revert tells what a point is set to when its last command has ended.
type Revert string

// The ways to revert. The zero Revert is RevertRelinquish.
const (
	// RevertRelinquish gives the point its relinquish default, Spec.Default. Without one, the write has
	// Release set: the driver releases the point to the device.
	RevertRelinquish Revert = "relinquish"
	// RevertDefault is the same, but requires Spec.Default.
	RevertDefault Revert = "default"
	// RevertBefore gives the point the value observed before its first command; without one it is
	// RevertRelinquish.
	RevertBefore Revert = "before"
)

// Spec is what the model knows about a point.
type Spec struct {
	Point    point.Path
	Device   point.Path // for people; "" if it belongs to none
	About    string     // the description of the registry, for people; "" for none
	Unit     string     // as the registry writes it, such as "degC"
	Kind     point.Kind // the kind of its values; None accepts any
	Writable bool
	Default  point.Value // the relinquish default; the zero Value if there is none
	Revert   Revert
	// Array is the level in the device's own priority array for values that are not commanded; 0 if it has none. In such
	// an array, every command has its own level and is relinquished when it ends.
	Array  Level
	Policy *Policy // may be shared by any number of points; must not be modified; nil requires nothing
	// Encode returns what the point reports after accepting a value: rounded to the register's step. An error
	// says why the point can never accept it, with the limit. It must be a pure function; nil for a point
	// that accepts every value of its kind unchanged.
	Encode func(point.Value) (point.Value, error)
}

// Assert tells when a value that a point lost is written again.
type Assert string

// The choices. The zero Assert is AssertReturn.
const (
	AssertReturn Assert = "return" // after the point could not be read for a while, and at the start of the node
	AssertAlways Assert = "always" // whenever a reading shows a different value
	AssertNever  Assert = "never"
)

// Policy is what a point requires of commands. The zero Policy requires nothing.
type Policy struct {
	Reservation bool          `json:"reservation,omitempty"` // only a requester whose reservation covers the point now
	Approval    bool          `json:"approval,omitempty"`    // a second person must agree
	Longest     time.Duration `json:"longest,omitempty"`     // a lease is required, of at most this length; 0: none is
	Range       Range         `json:"range"`                 // values that may be commanded, in the point's unit
	Rate        Rate          `json:"rate"`                  // how fast the point may change
	MinOn       time.Duration `json:"min_on,omitempty"`      // minimum time other than zero
	MinOff      time.Duration `json:"min_off,omitempty"`     // minimum time at zero
	Interlocks  []Interlock   `json:"interlocks,omitempty"`
	Assert      Assert        `json:"assert,omitempty"`       // when a value that the point lost is written again
	AssertPause time.Duration `json:"assert_pause,omitempty"` // minimum time between two such writes; it doubles up to an hour; 0: 1 min
	Tolerance   float64       `json:"tolerance,omitempty"`    // how far a reading may be off, in the point's unit, in addition to the register's rounding
}

// Range is an inclusive range of numbers; a nil end is open.
type Range struct {
	Min *float64 `json:"min,omitempty"`
	Max *float64 `json:"max,omitempty"`
}

// Rate bounds changes: at most one write every Per, of at most Most in the point's unit. A command beyond it
// is accepted, and the point follows in steps. The zero Rate means no bound.
type Rate struct {
	Most float64       `json:"most,omitempty"`
	Per  time.Duration `json:"per,omitempty"`
}

// Interlock allows values in Guards only while the point Other was observed within Needs. A command that it
// forbids is refused; one that it allowed ends when Other leaves Needs.
type Interlock struct {
	Guards Range      `json:"guards"` // the point's own values that need it; the zero Range is every number
	Other  point.Path `json:"other"`
	Needs  Range      `json:"needs"`
}

// Contains reports whether x lies within; NaN never does.
func (r Range) Contains(x float64) bool {
	return !math.IsNaN(x) && (r.Min == nil || x >= *r.Min) && (r.Max == nil || x <= *r.Max)
}

// String returns "from 10 to 30", "at least 10", "at most 30" or "any number".
func (r Range) String() string {
	switch {
	case r.Min != nil && r.Max != nil:
		return fmt.Sprintf("from %g to %g", *r.Min, *r.Max)
	case r.Min != nil:
		return fmt.Sprintf("at least %g", *r.Min)
	case r.Max != nil:
		return fmt.Sprintf("at most %g", *r.Max)
	}
	return "any number"
}

func (r Range) validate(what string) error {
	for _, end := range []*float64{r.Min, r.Max} {
		if end != nil && math.IsNaN(*end) {
			return fmt.Errorf("the %s has an end that is no number; write a number or leave it out", what)
		}
	}
	if r.Min != nil && r.Max != nil && *r.Min > *r.Max {
		return fmt.Errorf("the %s is empty: %g is above %g; exchange them", what, *r.Min, *r.Max)
	}
	return nil
}

// Validate returns every problem, each with what to write instead.
func (s *Spec) Validate() []error {
	var problems []error
	add := func(wrong bool, err error) {
		if wrong && err != nil {
			problems = append(problems, err)
		}
	}
	err := s.Point.Validate()
	add(err != nil, err)
	none := s.Default.Kind() == point.None
	add(s.Revert == RevertDefault && none, errors.New("it reverts to a default and has none; write default, or revert: relinquish"))
	add(s.Revert != "" && s.Revert != RevertRelinquish && s.Revert != RevertDefault && s.Revert != RevertBefore,
		fmt.Errorf("%q is no way to revert; write relinquish, default or before", s.Revert))
	if !none {
		err := s.Fits(s.Default)
		if err == nil {
			_, err = s.Encoded(s.Default)
		}
		add(err != nil, fmt.Errorf("its default: %w", err))
	}
	if s.Policy != nil {
		problems = append(problems, s.Policy.Validate()...)
	}
	return problems
}

// Validate returns every problem, each with what to write instead.
func (p *Policy) Validate() []error {
	var problems []error
	add := func(err error) {
		if err != nil {
			problems = append(problems, err)
		}
	}
	add(p.Range.validate("range"))
	for _, d := range []time.Duration{p.Longest, p.MinOn, p.MinOff, p.Rate.Per, p.AssertPause} {
		if d < 0 {
			add(fmt.Errorf("%v is below zero; write a duration such as 5m", d))
		}
	}
	if r := p.Rate; r != (Rate{}) && !(r.Most > 0 && r.Per > 0 && !math.IsInf(r.Most, 0)) {
		add(errors.New("the rate needs both: the most that the value may change, and per which time"))
	}
	if a := p.Assert; a != "" && a != AssertReturn && a != AssertAlways && a != AssertNever {
		add(fmt.Errorf("%q does not say when to assert; write return, always or never", a))
	}
	if !(p.Tolerance >= 0 && !math.IsInf(p.Tolerance, 0)) {
		add(fmt.Errorf("the tolerance %g is no distance; write a number from 0", p.Tolerance))
	}
	for _, lock := range p.Interlocks {
		add(lock.Guards.validate("interlock's range of own values"))
		add(lock.Needs.validate("interlock's range of the other point"))
		add(lock.Other.Validate())
	}
	return problems
}

// Demands returns the policy, an empty one if there is none.
func (s *Spec) Demands() *Policy {
	if s.Policy == nil {
		return &Policy{}
	}
	return s.Policy
}

// Encoded returns what the point reports after accepting a value.
func (s *Spec) Encoded(v point.Value) (point.Value, error) {
	if s.Encode == nil {
		return v, nil
	}
	return s.Encode(v)
}

// Minimal reports whether the point has minimum on or off times.
func (p *Policy) Minimal() bool { return p.MinOn > 0 || p.MinOff > 0 }

// Fits returns why a value cannot be set, with the limit.
func (s *Spec) Fits(v point.Value) error {
	number, numeric := v.Number()
	text := v.Kind() == point.Text
	switch {
	case v.Kind() == point.None:
		return errors.New("there is no value; write one, or release the point")
	case s.Kind == point.Bool && text:
		return fmt.Errorf("%q is neither on nor off; write on, off, true or false", v)
	case s.Kind == point.Text && !text, s.Kind != point.Text && s.Kind != point.None && text:
		return fmt.Errorf("%q is a %v, and the point takes %v; write one", v, v.Kind(), s.Kind)
	case numeric && (math.IsNaN(number) || math.IsInf(number, 0)):
		return fmt.Errorf("%v is not a value that a point can take; write a number, %v%s", v, s.Demands().Range, s.suffix())
	case numeric && !s.Demands().Range.Contains(number):
		return fmt.Errorf("%v is out of range; write a number %v%s", v, s.Demands().Range, s.suffix())
	case s.Kind == point.Bool && number != 0 && number != 1:
		return fmt.Errorf("%v is neither on nor off; write true or false", v)
	case s.Kind == point.Int && number != math.Trunc(number):
		return fmt.Errorf("%v is not a whole number; write one", v)
	}
	return nil
}

// suffix returns the unit for the end of a number.
func (s *Spec) suffix() string {
	if s.Unit == "" {
		return ""
	}
	return " " + s.Unit
}

// nearly is the relative difference that a value read back may have from the one written: a device that
// computes with 32 bits rounds.
const nearly = 1e-6

// Alike reports whether a point with a value has the value it should have, within its register's rounding and
// its tolerance.
func (s *Spec) Alike(has, wants point.Value) bool {
	if Same(has, wants) {
		return true
	}
	if rounded, err := s.Encoded(wants); err == nil {
		wants = rounded
	}
	x, isX := has.Number()
	y, isY := wants.Number()
	return Same(has, wants) || isX && isY && math.Abs(x-y) <= s.Demands().Tolerance
}

// Same reports whether two values are the same for a device.
func Same(a, b point.Value) bool {
	x, isX := a.Number()
	y, isY := b.Number()
	if !isX || !isY {
		return a == b
	}
	return x == y || math.Abs(x-y) <= nearly*max(math.Abs(x), math.Abs(y))
}
