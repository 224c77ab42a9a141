package term

import (
	"context"

	"voltbus/control/dispatch"
	"voltbus/device"
	"voltbus/fault"
	"voltbus/point"
)

// held are devices that are reached for as long as a right holds.
type held struct {
	dispatch.Devices
	hold context.Context //nolint:containedctx // it outlasts a call
}

func (h held) ended(path point.Path) error {
	return fault.E("term.write", fault.Unavailable, string(path), errEnded)
}

// WriteEach implements dispatch.Devices.
func (h held) WriteEach(ctx context.Context, settings []device.Setting, tell func(place int, o device.Outcome)) {
	if h.hold.Err() == nil {
		h.Devices.WriteEach(ctx, settings, tell)
		return
	}
	for i := range settings {
		tell(i, device.Outcome{Err: h.ended(settings[i].Point)})
	}
}

// WriteMany implements dispatch.Devices.
func (h held) WriteMany(ctx context.Context, settings []device.Setting) []device.Outcome {
	if h.hold.Err() == nil {
		return h.Devices.WriteMany(ctx, settings)
	}
	list := make([]device.Outcome, len(settings))
	for i := range settings {
		list[i].Err = h.ended(settings[i].Point)
	}
	return list
}
