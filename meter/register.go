package meter

import (
	"fmt"
	"math"
)

// Register is a counter with so many digits. The zero Register has no bound: it never rolls over.
type Register struct {
	Digits   int // before the point; 0 to 15
	Decimals int // behind the point; 0 to 9
}

func (r Register) check() error {
	if r.Digits < 0 || r.Digits > 15 || r.Decimals < 0 || r.Decimals > 9 {
		return fmt.Errorf("%d digits and %d decimals: write 0 to 15 digits and 0 to 9 decimals", r.Digits, r.Decimals)
	}
	return nil
}

// Modulus returns the value at which the register rolls over to 0: 100000 with five digits; 0 if it never does.
func (r Register) Modulus() float64 {
	if r.Digits == 0 {
		return 0
	}
	return math.Pow10(r.Digits)
}

// Advance says how a register came from one value to the next.
type Advance uint8

// How a register advanced.
const (
	Forward  Advance = iota // it counted up, or stands
	RollOver                // it passed its highest value
	Reset                   // it began again at 0
	Backward                // it counted down, which no register does: the quantity is unknown
)

var advanceNames = [...]string{"forward", "roll-over", "reset", "backward"}

// String returns the name.
func (a Advance) String() string {
	if int(a) < len(advanceNames) {
		return advanceNames[a]
	}
	return "advance(?)"
}

// Difference returns the quantity between two readings of the register, and how it advanced. Limit is the most
// that can pass between the readings. A fall that a roll-over explains within the limit is a roll-over; one that
// a start at 0 explains is a reset, and the quantity is then only what came after it; any other is Backward with
// the negative difference. A limit of 0 or less allows half the range of the register, and no reset.
func (r Register) Difference(from, to, limit float64) (float64, Advance) {
	d := to - from
	if d >= 0 {
		return d, Forward
	}
	modulus := r.Modulus()
	rollLimit := limit
	if limit <= 0 {
		rollLimit = modulus / 2
	}
	if rolled := d + modulus; modulus > 0 && rolled >= 0 && rolled <= rollLimit {
		return r.round(rolled), RollOver
	}
	if limit > 0 && to >= 0 && to <= limit {
		return to, Reset
	}
	return d, Backward
}

// round removes what binary arithmetic adds behind the last decimal.
func (r Register) round(v float64) float64 {
	scale := math.Pow10(r.Decimals)
	return math.Round(v*scale) / scale
}
