package dnp3

import (
	"strings"
	"testing"

	"voltbus/driver"
	"voltbus/fault"
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
