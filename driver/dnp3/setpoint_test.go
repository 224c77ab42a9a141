package dnp3

import (
	"testing"
	"testing/synctest"
	"time"

	"voltbus/point"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/station"
)

func TestAValueIsEncodedAsTheDeviceWillShowIt(t *testing.T) {
	c := config(t, "127.0.0.1:1", `[
		{name: whole, type: analog_output, index: 0, variation: 2, writable: true},
		{name: tenths, type: analog_output, index: 1, variation: 2, scale: 0.1, writable: true},
		{name: single, type: analog_output, index: 2, variation: 3, writable: true},
		{name: open, type: analog_output, index: 3, writable: true},
		{name: relay, type: binary_output, index: 0, writable: true}]`)
	for _, e := range []struct {
		place int
		value point.Value
		want  point.Value
		fits  bool
	}{
		{0, point.FloatOf(78), point.FloatOf(78), true},
		{0, point.FloatOf(77.5), point.Value{}, false},
		{0, point.FloatOf(99_999), point.Value{}, false},
		{1, point.FloatOf(19.77), point.FloatOf(198 * 0.1), true},
		{2, point.FloatOf(0.1), point.FloatOf(float64(float32(0.1))), true},
		{3, point.FloatOf(77.5), point.FloatOf(77.5), true},
		{4, point.BoolOf(true), point.BoolOf(true), true},
		{4, point.IntOf(2), point.Value{}, false},
	} {
		got, err := c.Encode(e.place, e.value)
		if (err == nil) != e.fits || e.fits && got != e.want {
			t.Errorf("point %d holds %v as %v, %v; want %v", e.place, e.value, got, err, e.want)
		}
	}
}

func TestAWholeNumberIsTakenOfADeviceThatRefusesTheVariationWithFractions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var operated int
		p := &peculiar{Machine: serve(t, plant(t, &operated))}
		p.answer = func(f app.Fragment, out *station.Output) bool {
			for h, err := range f.Headers() {
				if err == nil && h.Variation == object.G30V6 {
					return refuse(f, app.IINObjectUnknown, out)
				}
			}
			return false
		}
		s, _ := join(t, config(t, "relay", "- {name: power, type: analog_input, variation: 6, index: 0}"), p)
		for range 3 {
			samples, err := s.Read(t.Context(), []string{"power"})
			if err != nil {
				t.Fatal(err)
			}
			if samples[0].Quality == point.BadConfig {
				t.Errorf("a point that the device shows as a whole number is %v", samples[0].Quality)
			}
		}
	})
}

func TestAttackWhatTheDeviceDoesNotSayIsNotReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var operated int
		p := &peculiar{Machine: serve(t, plant(t, &operated))}
		p.answer = func(f app.Fragment, out *station.Output) bool {
			return operated > 0 && f.Function == app.FuncRead && refuse(f, app.IINObjectUnknown, out)
		}
		s, _ := join(t, config(t, "relay", few), p)
		if !heard(t, s, time.Minute, named("voltage", point.Good)) {
			t.Fatal("the first value never came")
		}
		if got, err := s.Write(t.Context(), "relay", point.BoolOf(true)); err != nil || got.Kind() != point.None {
			t.Errorf("the device took the command and shows nothing, and Write returns %v, %v", got, err)
		}
	})
}
