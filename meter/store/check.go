package store

import (
	"errors"
	"fmt"
	"math"
	"time"

	"voltbus/fault"
	"voltbus/meter"
)

// Moment returns when something that happens now is recorded: moments of recording are whole seconds, rounded up,
// so that nothing is known before it was there.
func Moment(now time.Time) time.Time {
	t := now.UTC().Truncate(time.Second)
	if t.Before(now) {
		t = t.Add(time.Second)
	}
	return t
}

// Unknown returns the error for a channel that is not registered.
func Unknown(op string, key ChannelKey) error {
	return fault.E(op, fault.NotFound, fmt.Sprintf("%s/%d", key.Meter, key.Channel), errors.New("no meter is registered with this id and channel"))
}

// CheckRevision returns what is wrong with versions for a channel, which is nil if it is not registered.
func CheckRevision(op string, c *meter.Channel, key ChannelKey, versions []meter.Version) error {
	if c == nil {
		return Unknown(op, key)
	}
	for i, v := range versions {
		problem := ""
		switch {
		case math.IsNaN(v.Value) || math.IsInf(v.Value, 0):
			problem = "is not a finite number"
		case v.Stage == meter.Raw || v.Stage > meter.Edited:
			problem = "is " + v.Stage.String() + ": write validated, estimated or edited"
		case v.End.IsZero():
			problem = "has no end of its interval"
		case v.End.Nanosecond()%1_000_000 != 0:
			problem = "ends at a part of a millisecond: write whole milliseconds"
		}
		if problem != "" {
			return fault.E(op, fault.Invalid, key.Meter, fmt.Errorf("versions[%d]: %s", i, problem))
		}
	}
	return nil
}

// Unregistered returns the error for a meter that is not registered.
func Unregistered(op, id string) error {
	return fault.E(op, fault.NotFound, id, errors.New("no meter is registered with this id"))
}
