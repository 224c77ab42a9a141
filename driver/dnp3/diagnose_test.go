package dnp3

import (
	"context"
	"strings"
	"testing"
	"time"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
)

// diagnosis reads the points and returns what the session says of the device.
func diagnosis(t *testing.T, s driver.Session, names ...string) error {
	t.Helper()
	if _, err := s.Read(t.Context(), names); err != nil {
		t.Fatal(err)
	}
	d, can := s.(driver.Diagnoser)
	if !can {
		t.Fatal("the driver does not say why points are bad")
	}
	return d.Diagnose()
}

func TestAPointThatTheDeviceDoesNotHaveIsNamed(t *testing.T) {
	s := connect(t, config(t, newDevice(t).listen(t, nil, 10), `
- {name: there, type: analog_input, index: 2}
- {name: nix, type: analog_input, index: 99}
- {name: nothing, type: octet_string, index: 7}
`))
	for range 2 { // also while it is not asked for
		err := diagnosis(t, s, "there", "nix", "nothing")
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(),
			"does not give 2 of 3 points: nix (analog_input 99), nothing (octet_string 7); correct type and index in the registry") {
			t.Errorf("it says %v", err)
		}
	}
	if err := diagnosis(t, s, "there"); err != nil {
		t.Errorf("of a point that is there: %v", err)
	}
}

func TestAPointWithoutAValueSinceTheDeviceStartedIsNamedUntilItHasOne(t *testing.T) {
	d := newDevice(t)
	restart := func(flags object.Flags) {
		d.Update(func(tx *outstation.Tx) {
			tx.Set(object.KindAnalogInput, object.Point{Index: 2, Value: object.Float(-20), Flags: flags}, outstation.Suppress)
		})
	}
	restart(object.FlagOnline | object.FlagRestart)
	s := connect(t, config(t, d.listen(t, nil, 10), "[{name: level, type: analog_input, index: 2}]"))
	err := diagnosis(t, s, "level")
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "1 point has no value since the device restarted (flag RESTART): level (analog_input 2)") {
		t.Errorf("it says %v", err)
	}
	restart(object.FlagOnline)
	if err := diagnosis(t, s, "level"); err != nil {
		t.Errorf("of a point that has a value: %v", err)
	}
}

// lacks takes reports until the session knows what its device does not give.
func lacks(t *testing.T, s *session, names ...string) (map[string]point.Quality, error) {
	t.Helper()
	got := map[string]point.Quality{}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	news := make(chan struct{}, 1)
	news <- struct{}{}
	if err := s.Subscribe(ctx, names, func() {
		select {
		case news <- struct{}{}:
		default:
		}
	}); err != nil {
		t.Fatal(err)
	}
	for {
		select {
		case <-news:
		case <-ctx.Done():
			t.Fatal("it is never known what the device lacks")
		}
		if err := s.Take(ctx, func(p point.Sample) { got[string(p.Point)] = p.Quality }); err != nil {
			t.Fatal(err)
		}
		if known, why := s.Lacks(); known && (why == nil || len(got) == len(names)) {
			return got, why
		}
	}
}

func TestAPointThatTheDeviceDoesNotHaveIsNamedWithoutAScan(t *testing.T) {
	s := connect(t, config(t, newDevice(t).listen(t, nil, 10), `
- {name: there, type: analog_input, index: 2}
- {name: nix, type: analog_input, index: 99}
- {name: nothing, type: octet_string, index: 7}
`))
	got, why := lacks(t, s, "there", "nix", "nothing")
	if fault.KindOf(why) != fault.Invalid || !strings.Contains(why.Error(), "does not give 2 of 3 points: nix (analog_input 99), nothing (octet_string 7); correct") {
		t.Errorf("it says %v", why)
	}
	if got["nix"] != point.BadConfig || got["nothing"] != point.BadConfig || got["there"] != point.Good {
		t.Errorf("reported: %v", got)
	}
}

func TestADeviceThatHasAllItsPointsLacksNoneWithoutAScan(t *testing.T) {
	s := connect(t, config(t, newDevice(t).listen(t, nil, 10), "[{name: there, type: analog_input, index: 2}]"))
	if _, why := lacks(t, s, "there"); why != nil {
		t.Errorf("it says %v", why)
	}
}

func TestAPointWithoutAValueSinceTheDeviceStartedIsNamedWithoutAScan(t *testing.T) {
	d := newDevice(t)
	restart := func(flags object.Flags) {
		d.Update(func(tx *outstation.Tx) {
			tx.Set(object.KindAnalogInput, object.Point{Index: 2, Value: object.Float(-20), Flags: flags}, outstation.Force)
		})
	}
	restart(object.FlagOnline | object.FlagRestart)
	s := connect(t, config(t, d.listen(t, nil, 10), "[{name: level, type: analog_input, index: 2}]"))
	if _, why := lacks(t, s, "level"); fault.KindOf(why) != fault.Unavailable || !strings.Contains(why.Error(), "no value since the device restarted") {
		t.Errorf("it says %v", why)
	}
	restart(object.FlagOnline)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := false
	if err := listen(ctx, s, []string{"level"}, func(p point.Sample) {
		if known, why := s.Lacks(); !p.Quality.IsBad() && known && why == nil {
			ended = true
			cancel()
		}
	}); err != nil || !ended {
		t.Errorf("it stays named: %v", err)
	}
}
