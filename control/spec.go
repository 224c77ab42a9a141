package control

import (
	"errors"
	"fmt"
	"math"
	"time"

	"voltbus/point"
)

// Level is a place in the priority array: 1 is the most urgent, 16 the least. The usual meanings are
// those of BACnet: 1 and 2 life safety, 5 critical equipment, 8 a person by hand, 9 to 16 programs.
type Level uint8

// Levels is how many there are.
const Levels = 16

// Revert says what a point is set to when its last command ended.
type Revert string

// The ways to revert. The zero Revert is RevertRelinquish.
const (
	// RevertRelinquish gives the point its relinquish default, Spec.Default. Without one, the write
	// has Release set: the driver gives the point back to the device.
	RevertRelinquish Revert = "relinquish"
	// RevertDefault is the same, and Spec.Default must be there.
	RevertDefault Revert = "default"
	// RevertBefore gives the point the value that was observed before its first command; if none was,
	// it is as RevertRelinquish.
	RevertBefore Revert = "before"
)

// Spec is what the model knows about one point.
type Spec struct {
	Point    point.Path
	Device   point.Path // for people; "" if it belongs to none
	Unit     string     // as the registry writes it, such as "degC"
	Kind     point.Kind // what its values are; None takes any
	Writable bool
	Default  point.Value // the relinquish default; the zero Value if there is none
	Revert   Revert
	// Array is the level of values that nobody commands, in the priority array that the device has of its own; 0 if it has
	// none. In such an array, every command has its own level, and is relinquished when it ends.
	Array  Level
	Policy *Policy // shared by any number of points, and not changed any more; nil demands nothing
	// Encode returns what the point reports once it has taken a value: rounded to the register's step. The
	// error says why the point can never take it, with the limit. It is a pure function; nil for a point
	// that takes every value of its kind as it is.
	Encode func(point.Value) (point.Value, error)
}

// Assert says when a value that a point lost is written again.
type Assert string

// The choices. The zero Assert is AssertReturn.
const (
	AssertReturn Assert = "return" // after the point could not be read for a while, and at the start of the node
	AssertAlways Assert = "always" // whenever a reading shows another value
	AssertNever  Assert = "never"
)

// Policy is what a point demands of commands. The zero Policy demands nothing.
type Policy struct {
	Reservation bool          `json:"reservation,omitempty"` // only a requester whose reservation covers the point now
	Approval    bool          `json:"approval,omitempty"`    // a second person must agree
	Longest     time.Duration `json:"longest,omitempty"`     // a lease is demanded, of this length at most; 0: none is
	Range       Range         `json:"range"`                 // values that may be commanded, in the point's unit
	Rate        Rate          `json:"rate"`                  // how fast the point may change
	MinOn       time.Duration `json:"min_on,omitempty"`      // once other than zero, it stays so
	MinOff      time.Duration `json:"min_off,omitempty"`     // once zero, it stays so
	Interlocks  []Interlock   `json:"interlocks,omitempty"`
	Assert      Assert        `json:"assert,omitempty"`       // when a value that the point lost is written again
	AssertPause time.Duration `json:"assert_pause,omitempty"` // between two such writes at least; it doubles up to an hour; 0: 1 min
	Tolerance   float64       `json:"tolerance,omitempty"`    // how far a reading may be off, in the point's unit, beside the rounding of the register
}

// Range is a span of numbers, ends included; a nil end is open.
type Range struct {
	Min *float64 `json:"min,omitempty"`
	Max *float64 `json:"max,omitempty"`
}

// Rate bounds change: at most one write every Per, of at most Most in the point's unit. A command
// beyond it is accepted, and the point follows in steps. The zero Rate is no bound.
type Rate struct {
	Most float64       `json:"most,omitempty"`
	Per  time.Duration `json:"per,omitempty"`
}

// Interlock allows values of Guards only while the point Other was observed within Needs. A command
// that it does not allow is refused; one that it allowed before ends when Other leaves Needs.
type Interlock struct {
	Guards Range      `json:"guards"` // own values that need it; the zero Range is every number
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

// Demands returns the policy, which demands nothing if there is none.
func (s *Spec) Demands() *Policy {
	if s.Policy == nil {
		return &Policy{}
	}
	return s.Policy
}

// Encoded returns what the point reports once it has taken a value.
func (s *Spec) Encoded(v point.Value) (point.Value, error) {
	if s.Encode == nil {
		return v, nil
	}
	return s.Encode(v)
}

// Minimal reports whether the point has minimum on or off times.
func (p *Policy) Minimal() bool { return p.MinOn > 0 || p.MinOff > 0 }

// Fits reports why a value cannot be set, with the limit.
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

// suffix writes the unit behind a number.
func (s *Spec) suffix() string {
	if s.Unit == "" {
		return ""
	}
	return " " + s.Unit
}

// nearly is how far a value that is read back may be from the one that was written, relatively: a
// device that computes with 32 bits rounds.
const nearly = 1e-6

// Alike reports whether a point that has a value has what it is to have, as far as its register and its
// tolerance tell.
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

// Same reports whether two values are one for a device.
func Same(a, b point.Value) bool {
	x, isX := a.Number()
	y, isY := b.Number()
	if !isX || !isY {
		return a == b
	}
	return x == y || math.Abs(x-y) <= nearly*max(math.Abs(x), math.Abs(y))
}
