package billing

import (
	"fmt"
	"math"
	"time"

	"voltbus/meter"
)

// Frozen is a register at a bill date.
type Frozen struct {
	At            time.Time // the bill date
	Value         float64   // of the register, without multiplier
	Interpolated  bool      // between the readings Before and After; otherwise read at At
	Before, After time.Time // of the readings; both At if it was read then
}

// Freeze returns the value of a register at a bill date, as it was known at a moment: the reading of that moment,
// else the straight line between the nearest readings before and after, each at most within away. A roll-over
// between them counts. It returns an error if there are none, or if the register fell.
func Freeze(h *meter.History, r meter.Register, at time.Time, within time.Duration, known time.Time) (Frozen, error) {
	var before, after *meter.Version
	versions := h.AsKnown(nil, at.Add(-within-time.Microsecond), at.Add(within), known)
	for i := range versions {
		v := &versions[i]
		switch v.End.Compare(at) {
		case 0:
			return Frozen{At: at, Value: v.Value, Before: at, After: at}, nil
		case -1:
			before = v
		case 1:
			if after == nil {
				after = v
			}
		}
	}
	if before == nil || after == nil {
		return Frozen{}, fmt.Errorf("register at %s: no reading then, nor one before and one after within %s: read the meter or estimate", stamp(at), within)
	}
	d, how := r.Difference(before.Value, after.Value, 0)
	if how != meter.Forward && how != meter.RollOver {
		return Frozen{}, fmt.Errorf("register at %s: reads %v at %s and %v at %s (%s): correct one of them", stamp(at), before.Value, stamp(before.End), after.Value, stamp(after.End), how)
	}
	part := float64(at.Sub(before.End)) / float64(after.End.Sub(before.End))
	value := before.Value + d*part
	if m := r.Modulus(); m > 0 {
		value = math.Mod(value, m)
	}
	return Frozen{At: at, Value: value, Interpolated: true, Before: before.End, After: after.End}, nil
}
