package trend

import (
	"context"
	"time"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// Clock is how a device counts the time of its records. They are in its local time, without a zone.
type Clock struct {
	Zone  *time.Location
	Error time.Duration // by which it is ahead of ours, apart from the zone
}

// quarter is the step of the zones of the world. Rounded to it the zone is the same at each question, so that a record that is read
// twice has one time.
const quarter = 15 * time.Minute

// AskClock asks a device for its date and time. One that does not tell counts in the zone of this machine.
func AskClock(ctx context.Context, remote client.Remote) (Clock, error) {
	results, err := remote.Read(ctx, []client.Property{
		{Object: remote.ID(), Property: enum.PropertyLocalDate}, {Object: remote.ID(), Property: enum.PropertyLocalTime},
	})
	if err != nil {
		return Clock{}, err
	}
	now := time.Now()
	date, okDate := one(results[0])
	clock, okTime := one(results[1])
	if okDate && okTime {
		if local, ok := (encoding.DateTime{Date: date.Date(), Time: clock.Time()}).In(time.UTC); ok {
			return clockOf(local.Sub(now)), nil
		}
	}
	return Clock{Zone: time.Local}, nil //nolint:gosmopolitan // a device that does not tell is most likely nearby
}

func one(r client.Result) (encoding.Value, bool) {
	if r.Err != nil {
		return encoding.Value{}, false
	}
	v, err := r.Value.One()
	return v, err == nil
}

// clockOf splits how far local time is ahead of UTC into a zone and an error.
func clockOf(ahead time.Duration) Clock {
	zone := ahead.Round(quarter)
	if zone < -24*time.Hour || zone > 24*time.Hour { // the date is wrong: no zone explains it
		return Clock{Zone: time.UTC, Error: ahead}
	}
	return Clock{Zone: time.FixedZone("", int(zone/time.Second)), Error: ahead - zone}
}
