// Package regulation has the words between those who regulate and the units that they regulate: reports, orders, answers with codes, and
// the token by which a unit tells the leader of now from one of before.
//
// What regulates is below: signal and score say what is asked and how well it was done, unit is a model of a unit, stack chooses units, master
// regulates centrally, member elects a leader among nodes, share and market divide a need among campuses. None of them reads a clock or
// sends a message: time and messages are handed to them.
package regulation

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Report is the state of a unit, by itself. A unit registers by its first one.
type Report struct {
	Unit        string    `json:"unit"` // its path, such as campus/building/ahu
	At          time.Time `json:"at"`
	Temperature float64   `json:"temperature"` // °C
	Low         float64   `json:"low"`         // °C: the unit keeps the temperature between low and high by itself
	High        float64   `json:"high"`        // °C
	Heating     bool      `json:"heating,omitempty"`
	Variable    bool      `json:"variable,omitempty"` // a fan whose speed is ordered, not an on/off unit
	On          bool      `json:"on"`
	Speed       float64   `json:"speed,omitempty"` // of a variable one, 0 to 1
	Power       float64   `json:"power"`           // kW, now
	Rated       float64   `json:"rated"`           // kW, on or at full speed
	Hold        float64   `json:"hold"`            // kW: what holds the temperature on average, as far as the unit knows
	// Free is the time until an order is possible, because of the lock-out. 0: now.
	Free time.Duration `json:"free,omitempty"`
}

// Position says how much the unit wants to run: 0 where it switches itself off, 1 where it switches itself on, outside of 0 to 1 where comfort
// is lost.
func (r *Report) Position() float64 {
	width := r.High - r.Low
	if width <= 0 {
		return 0.5
	}
	if r.Heating {
		return (r.High - r.Temperature) / width
	}
	return (r.Temperature - r.Low) / width
}

// Check finds what is wrong with a report: no name, numbers that are none, or a power that cannot be.
func (r *Report) Check() error {
	if r.Unit == "" {
		return errors.New("unit: write the path of the unit")
	}
	for i, v := range [...]float64{r.Temperature, r.Low, r.High, r.Speed, r.Power, r.Rated, r.Hold} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			name := [...]string{"temperature", "low", "high", "speed", "power", "rated", "hold"}[i]
			return fmt.Errorf("%s of %s: %v is no number", name, r.Unit, v)
		}
	}
	switch {
	case r.Low >= r.High:
		return fmt.Errorf("low of %s: %g °C is not below high, %g °C", r.Unit, r.Low, r.High)
	case r.Rated <= 0:
		return fmt.Errorf("rated of %s: %g kW: write the power of the unit when it is on", r.Unit, r.Rated)
	case r.Power < 0 || r.Power > 1.2*r.Rated:
		return fmt.Errorf("power of %s: %g kW is not between 0 and the rated power, %g kW", r.Unit, r.Power, r.Rated)
	case r.Hold < 0 || r.Hold > r.Rated:
		return fmt.Errorf("hold of %s: %g kW is not between 0 and the rated power, %g kW", r.Unit, r.Hold, r.Rated)
	}
	return nil
}

// Token says in whose name and in which term orders are given. The zero token is that of a master without elections.
type Token struct {
	Term   uint64 `json:"term"`
	Leader string `json:"leader,omitempty"`
}

// Admits reports whether orders with another token may follow this one: of a later term, or of the same leader in the same term.
func (t Token) Admits(next Token) bool {
	return next.Term > t.Term || next == t
}

// Ballot is a message of an election by a majority, see regulation/quorum.
type Ballot struct {
	From string `json:"from"`
	To   string `json:"to"`
	Raft []byte `json:"raft"`
}

// Order asks a unit to change.
type Order struct {
	Unit   string  `json:"unit"`
	Number uint64  `json:"number"` // of the one who orders; rising
	Token  Token   `json:"token"`
	On     bool    `json:"on"`
	Speed  float64 `json:"speed,omitempty"` // of a variable unit, 0 to 1
}

// Answer is what became of an order.
type Answer struct {
	Number uint64 `json:"number"`
	Code   Code   `json:"code"`
	Token  Token  `json:"token"` // the newest that the unit knows
	Report Report `json:"report"`
}

// Code says whether an order was carried out, and why not.
type Code uint8

// The codes of answers.
const (
	Done          Code = iota // carried out, or so already
	LockedOut                 // too soon after the last change
	Uncomfortable             // the temperature would leave its bounds
	OldTerm                   // another leader orders now
	Local                     // a person operates the unit
	Failed                    // the unit does not work
	NoSuchUnit                // the node has no unit of that name
	OutOfRange                // the speed is not between 0 and 1
)

// String returns the code as messages have it, such as "locked-out".
func (c Code) String() string {
	codes := [...]string{"done", "locked-out", "uncomfortable", "old-term", "local", "failed", "no-such-unit", "out-of-range"}
	if int(c) < len(codes) {
		return codes[c]
	}
	return "unknown"
}
