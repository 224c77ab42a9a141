package command

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"voltbus/device"
	"voltbus/fault"
	"voltbus/point"
)

// WriteMany implements dispatch.Devices.
func (c *Commander) WriteMany(ctx context.Context, settings []device.Setting) []device.Outcome {
	outcomes := make([]device.Outcome, len(settings))
	c.WriteEach(ctx, settings, func(i int, o device.Outcome) { outcomes[i] = o })
	return outcomes
}

// WriteEach implements dispatch.Devices: all points at once, each by a message.
func (c *Commander) WriteEach(ctx context.Context, settings []device.Setting, notify func(place int, o device.Outcome)) {
	var all sync.WaitGroup
	defer all.Wait()
	for i := range settings {
		s := &settings[i]
		t := c.find(s.Point)
		if t == nil {
			notify(i, device.Outcome{Err: fault.E("command.Write", fault.NotFound, string(s.Point), errNone)})
			continue
		}
		all.Go(func() {
			v, err := c.write(ctx, t, s.Value)
			if err != nil {
				err = fault.E("command.Write", fault.KindOf(err), string(s.Point), err)
			}
			notify(i, device.Outcome{Value: v, Err: err})
		})
	}
}

// write sets a point and returns what the device then reports.
func (c *Commander) write(ctx context.Context, t *target, v point.Value) (point.Value, error) {
	payload, err := t.Payload(v)
	if err != nil {
		return point.Value{}, fault.E("command.Write", fault.Invalid, "", err)
	}
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return point.Value{}, ctx.Err()
	}
	_, before := t.last()
	if !c.cfg.Send(t.Topic, payload, t.Wait()) {
		return point.Value{}, absent(t.Topic)
	}
	got, heard, err := c.await(ctx, t, before, func(s *point.Sample) bool { return t.spec.Alike(s.Value, v) })
	switch {
	case err != nil:
		return point.Value{}, err
	case heard:
		return got.Value, nil // control compares
	}
	return point.Value{}, fault.E("command.Write", fault.Timeout, "", fmt.Errorf("the value was sent to %s, but the device reported nothing within %s", t.Topic, t.Wait()))
}

// await waits until the device reports what is wanted, and returns its last good report since it had given so many. heard is false if
// there was none in time. Half of the time before its end the device is asked, if it can be.
func (c *Commander) await(ctx context.Context, t *target, before uint64, wanted func(*point.Sample) bool) (got point.Sample, heard bool, err error) {
	limit, half := time.NewTimer(t.Wait()), time.NewTimer(t.Wait()/2)
	defer limit.Stop()
	defer half.Stop()
	for {
		s, count := t.last()
		if count != before && !s.Quality.IsBad() {
			got, heard = s, true
			if wanted(&s) {
				return got, true, nil
			}
		}
		select {
		case <-t.news:
		case <-half.C:
			if t.Ask != "" {
				c.cfg.Send(t.Ask, []byte(t.AskPayload), t.Wait())
			}
		case <-limit.C:
			return got, heard, nil
		case <-ctx.Done():
			return got, false, ctx.Err()
		}
	}
}

var errSilent = errors.New("the device has not reported it since the node started; it is known when it does")

// ReadMany implements dispatch.Devices: a device that can be asked is asked, of another the last report counts while it is
// connected.
func (c *Commander) ReadMany(ctx context.Context, paths []point.Path) []device.Reading {
	readings := make([]device.Reading, len(paths))
	var all sync.WaitGroup
	defer all.Wait()
	for i, path := range paths {
		t := c.find(path)
		if t == nil {
			readings[i].Err = fault.E("command.Read", fault.NotFound, string(path), errNone)
			continue
		}
		all.Go(func() {
			s, err := c.read(ctx, t)
			if err != nil {
				err = fault.E("command.Read", fault.KindOf(err), string(path), err)
			}
			readings[i] = device.Reading{Sample: s, Err: err}
		})
	}
	return readings
}

func (c *Commander) read(ctx context.Context, t *target) (point.Sample, error) {
	s, before := t.last()
	if t.Ask == "" {
		if before == 0 {
			return s, fault.E("command.Read", fault.Timeout, "", errSilent)
		}
		return s, nil
	}
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return s, ctx.Err()
	}
	_, before = t.last()
	if !c.cfg.Send(t.Ask, []byte(t.AskPayload), t.Wait()) {
		return s, absent(t.Ask)
	}
	got, heard, err := c.await(ctx, t, before, func(*point.Sample) bool { return true })
	if err == nil && !heard {
		err = fault.E("command.Read", fault.Timeout, "", fmt.Errorf("it was asked at %s, but reported nothing within %s", t.Ask, t.Wait()))
	}
	return got, err
}
