// Package unit is a model of a building with a cooling or heating unit: its temperature, the thermostat, lock-outs, and what becomes of orders.
//
// The temperature follows the equation of model.Room. Between two steps the power is constant, so that it is solved exactly.
package unit

import (
	"math"
	"time"

	"voltbus/regulation"
	"voltbus/virtual/model"
)

// Config describes a unit and its building.
type Config struct {
	Name     string
	R        float64 // K/kW: thermal resistance to the outside
	C        float64 // kWh/K: thermal capacity
	COP      float64 // heat moved by the electric power
	Rated    float64 // kW electric
	Set      float64 // °C
	Band     float64 // K: the thermostat keeps Set ± Band/2
	Heating  bool
	Variable bool          // a fan of variable speed: power rises with its cube, heat with the speed
	Lockout  time.Duration // least time between two changes of an on/off unit
}

// Unit is the state. It is for one goroutine.
type Unit struct {
	c           Config
	temperature float64
	on          bool
	speed       float64
	changed     time.Time // zero: never
	token       regulation.Token
	local       bool // a person operates it
	failed      bool
	decay       struct { // of the last length of a step
		dt     time.Duration
		factor float64
	}
}

// New returns a unit at a temperature. A variable one runs at a speed that holds its set-point at the first step.
func New(c Config, temperature float64, on bool) *Unit {
	return &Unit{c: c, temperature: temperature, on: on}
}

// Name is the path of the unit.
func (u *Unit) Name() string { return u.c.Name }

// Low and High are the temperatures at which the thermostat switches, °C.
func (u *Unit) Low() float64 { return u.c.Set - u.c.Band/2 }

// High is the upper bound of the temperature, °C.
func (u *Unit) High() float64 { return u.c.Set + u.c.Band/2 }

// Temperature is that of the building, °C.
func (u *Unit) Temperature() float64 { return u.temperature }

// On reports whether the unit runs.
func (u *Unit) On() bool { return u.on }

// Lockout is the least time between two changes.
func (u *Unit) Lockout() time.Duration { return u.c.Lockout }

// Token is the newest that an order had.
func (u *Unit) Token() regulation.Token { return u.token }

// SetLocal says whether a person operates the unit: it then refuses orders.
func (u *Unit) SetLocal(is bool) { u.local = is }

// Fail says whether the unit is broken: it then is off.
func (u *Unit) Fail(is bool) {
	u.failed = is
	if is {
		u.on, u.speed = false, 0
	}
}

// Power is the electric power, kW.
func (u *Unit) Power() float64 {
	if u.c.Variable {
		return u.c.Rated * u.speed * u.speed * u.speed
	}
	if u.on {
		return u.c.Rated
	}
	return 0
}

// heat is what the unit moves into the building, kW.
func (u *Unit) heat() float64 {
	q := 0.0
	switch {
	case u.c.Variable:
		q = u.c.COP * u.c.Rated * u.speed
	case u.on:
		q = u.c.COP * u.c.Rated
	}
	if u.c.Heating {
		return q
	}
	return -q
}

// Hold is the mean power that holds the set-point at an outside temperature, kW, at most the rated one.
func (u *Unit) Hold(outside float64) float64 {
	need := (outside - u.c.Set) / u.c.R
	if u.c.Heating {
		need = -need
	}
	share := min(1, max(0, need/(u.c.COP*u.c.Rated)))
	if u.c.Variable {
		share *= share * share
	}
	return u.c.Rated * share
}

// Step lets time pass until now, with an outside temperature in °C and a power that did not change. Then the thermostat acts.
func (u *Unit) Step(now time.Time, dt time.Duration, outside float64) {
	if u.decay.dt != dt {
		u.decay.dt, u.decay.factor = dt, u.room().Decay(dt.Hours())
	}
	u.temperature = u.room().After(u.temperature, outside, u.heat(), u.decay.factor)
	u.thermostat(now)
}

func (u *Unit) room() model.Room { return model.Room{Capacity: u.c.C, Resistance: u.c.R} }

// thermostat keeps the temperature as far as the lock-out allows it.
func (u *Unit) thermostat(now time.Time) {
	if u.failed {
		return
	}
	p := u.position()
	switch {
	case u.c.Variable && p > 1:
		u.speed = 1
	case u.c.Variable && p < 0:
		u.speed = 0
	case u.c.Variable || u.free(now) > 0:
	case p >= 1 && !u.on, p <= 0 && u.on:
		u.change(now, !u.on)
	}
}

func (u *Unit) change(now time.Time, on bool) { u.on, u.changed = on, now }

func (u *Unit) position() float64 {
	p := (u.temperature - u.Low()) / u.c.Band
	if u.c.Heating {
		return 1 - p
	}
	return p
}

// free returns the time until the lock-out ends.
func (u *Unit) free(now time.Time) time.Duration {
	if u.changed.IsZero() || u.c.Variable {
		return 0
	}
	return max(0, u.c.Lockout-now.Sub(u.changed))
}

// Report is the state.
func (u *Unit) Report(now time.Time, outside float64) regulation.Report {
	return regulation.Report{
		Unit: u.c.Name, At: now, Temperature: u.temperature, Low: u.Low(), High: u.High(), Heating: u.c.Heating, Variable: u.c.Variable,
		On: u.on || u.speed > 0, Speed: u.speed, Power: u.Power(), Rated: u.c.Rated, Hold: u.Hold(outside), Free: u.free(now),
	}
}

// Order carries an order out, or says why not. The order of an old leader never changes anything.
func (u *Unit) Order(now time.Time, o *regulation.Order) regulation.Code {
	if !u.token.Admits(o.Token) {
		return regulation.OldTerm
	}
	u.token = o.Token
	switch p := u.position(); {
	case u.failed:
		return regulation.Failed
	case u.local:
		return regulation.Local
	case u.c.Variable:
		return u.turn(o.Speed, p)
	case o.On == u.on:
		return regulation.Done
	case u.free(now) > 0:
		return regulation.LockedOut
	case o.On && p <= 0, !o.On && p >= 1:
		return regulation.Uncomfortable
	}
	u.change(now, o.On)
	return regulation.Done
}

// turn changes the speed of a variable unit.
func (u *Unit) turn(speed, position float64) regulation.Code {
	switch {
	case speed < 0 || speed > 1 || math.IsNaN(speed):
		return regulation.OutOfRange
	case speed > u.speed && position <= 0, speed < u.speed && position >= 1:
		return regulation.Uncomfortable
	}
	u.speed = speed
	return regulation.Done
}
