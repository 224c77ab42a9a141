package field

import (
	"context"

	"voltbus/driver"
	"voltbus/driver/dnp3"
	"voltbus/driver/dnp3/survey"
	"voltbus/fault"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/master"
)

// Survey finds out which points an outstation has. It leaves the device's events alone.
func Survey(ctx context.Context, c *dnp3.Config) ([]driver.Found, error) {
	y := &survey.Survey{}
	f, err := Open(ctx, c, c.ReadOnlyMaster(), y, nil)
	if err != nil {
		return nil, err
	}
	_, err = f.Ask(ctx, master.ReadClasses(app.Class0))
	for _, r := range y.Rest() {
		if err == nil {
			_, err = f.Ask(ctx, r)
		}
		if fault.Is(err, fault.Rejected) {
			err = nil // the device has none of that type
		}
	}
	f.Close() // the findings are then no longer modified
	if err != nil {
		return nil, err
	}
	return y.Found(), nil
}
