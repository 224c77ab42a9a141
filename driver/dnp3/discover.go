package dnp3

import (
	"context"
	"errors"

	"voltbus/driver"
	"voltbus/driver/dnp3/survey"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/master"
)

// Discover implements driver.Discoverer: a read of the present values, and a request for each type without a
// point in them.
func (n *session) Discover(ctx context.Context) ([]driver.Found, error) {
	const op = "dnp3.Discover"
	if err := n.ready(ctx); err != nil {
		return nil, n.fail(op, err)
	}
	y := &survey.Survey{}
	n.station.survey(y)
	defer n.station.survey(nil)
	if _, err := n.do(ctx, master.ReadClasses(app.Class0)); err != nil {
		return nil, n.fail(op, err)
	}
	for _, r := range n.station.rest(y) {
		if _, err := n.do(ctx, r); err != nil && !errors.Is(err, master.ErrRefused) {
			return nil, n.fail(op, err)
		}
	}
	n.station.survey(nil)
	return y.Found(), nil
}
