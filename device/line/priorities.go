package line

import (
	"context"
	"errors"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

var errNoArray = errors.New("its device has no priority array; objects of the driver bacnet that are commanded have one")

// Priorities returns what everybody commands of a point in the priority array of its device, from level 1 on, by a request to
// its line. It waits until ctx ends at most.
func Priorities(ctx context.Context, u *Device, place int) ([]point.Value, error) {
	var array []point.Value
	err := ask(ctx, u, func(lineCtx context.Context, l *Line) error {
		_, err := l.attempt(lineCtx, u, true, onBehalf(ctx, func(ctx context.Context, s driver.Session) (err error) {
			p, can := s.(driver.Prioritizer)
			if !can {
				return fault.E("device.priorities", fault.Refused, "", errNoArray)
			}
			array, err = p.Priorities(ctx, u.names[place])
			return err
		}))
		return err
	})
	if err != nil { // the line may be reading still
		return nil, err
	}
	return array, nil
}
