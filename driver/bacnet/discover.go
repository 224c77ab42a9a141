package bacnet

import (
	"context"
	"maps"

	"voltbus/driver"
	"voltbus/driver/bacnet/survey"
	"voltbus/point"
)

// Discover implements driver.Discoverer: the objects that have a present value, with their names, units and states.
func (s *session) Discover(ctx context.Context) ([]driver.Found, error) {
	const op = "bacnet.Discover"
	remote, err := s.reach(ctx)
	if err != nil {
		return nil, s.fail(op, err)
	}
	about, err := survey.Describe(ctx, remote)
	if err != nil {
		return nil, s.fail(op, err)
	}
	described, err := survey.Points(ctx, remote, about.Name)
	if err != nil {
		return nil, s.fail(op, err)
	}
	found := make([]driver.Found, len(described))
	for i := range described {
		d := &described[i]
		found[i] = driver.Found{Info: d.Item.Info(), Entry: maps.Clone(d.Entry)}
		if guess := survey.Guess(d); guess != "" {
			found[i].Entry[survey.GuessColumn] = guess
		}
		found[i].Sample = point.Sample{Point: point.Path(d.Item.Name), Quality: point.BadDevice}
		if v, ok := d.Item.Decode(d.Value); ok && d.Value != nil {
			found[i].Sample.Value, found[i].Sample.Quality = v, point.Good
		}
	}
	return found, nil
}

var _ driver.Discoverer = (*session)(nil)
