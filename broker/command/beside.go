package command

import (
	"context"
	"sync"

	"voltbus/control/dispatch"
	"voltbus/device"
	"voltbus/point"
)

// Beside returns all devices of a node: those of the commander, and others. A nil commander has none.
func (c *Commander) Beside(others dispatch.Devices) dispatch.Devices {
	if c == nil {
		return others
	}
	return owners{c, others}
}

// owners hands points to who owns their device.
type owners struct {
	mqtt   *Commander
	others dispatch.Devices
}

// share is the places of one owner's points.
type share struct {
	owner  dispatch.Devices
	places []int
}

// shares divides places by the owners of their points.
func (o owners) shares(n int, path func(int) point.Path) []share {
	list := []share{{owner: o.others}, {owner: o.mqtt}}
	for i := range n {
		at := 0
		if o.mqtt.Owns(path(i)) {
			at = 1
		}
		list[at].places = append(list[at].places, i)
	}
	return list
}

// WriteEach implements dispatch.Devices.
func (o owners) WriteEach(ctx context.Context, settings []device.Setting, notify func(place int, out device.Outcome)) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, s := range o.shares(len(settings), func(i int) point.Path { return settings[i].Point }) {
		if len(s.places) == 0 {
			continue
		}
		own := make([]device.Setting, len(s.places))
		for i, place := range s.places {
			own[i] = settings[place]
		}
		all.Go(func() {
			s.owner.WriteEach(ctx, own, func(i int, out device.Outcome) { notify(s.places[i], out) })
		})
	}
}

// WriteMany implements dispatch.Devices.
func (o owners) WriteMany(ctx context.Context, settings []device.Setting) []device.Outcome {
	outcomes := make([]device.Outcome, len(settings))
	o.WriteEach(ctx, settings, func(i int, out device.Outcome) { outcomes[i] = out })
	return outcomes
}

// ReadMany implements dispatch.Devices.
func (o owners) ReadMany(ctx context.Context, paths []point.Path) []device.Reading {
	readings := make([]device.Reading, len(paths))
	var all sync.WaitGroup
	defer all.Wait()
	for _, s := range o.shares(len(paths), func(i int) point.Path { return paths[i] }) {
		if len(s.places) == 0 {
			continue
		}
		own := make([]point.Path, len(s.places))
		for i, place := range s.places {
			own[i] = paths[place]
		}
		all.Go(func() {
			for i, r := range s.owner.ReadMany(ctx, own) {
				readings[s.places[i]] = r
			}
		})
	}
	return readings
}
