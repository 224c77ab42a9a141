package meter_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/meter"
)

func TestAMeterIsExchanged(t *testing.T) {
	var s meter.Installations
	if err := s.Install(meter.Installation{Meter: "A", ServicePoint: "P", From: hour(1)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Exchange("P", "B", hour(5)); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[int]string{0: "", 1: "A", 4: "A", 5: "B", 9: "B"} {
		if i, _ := s.At("P", hour(at)); i.Meter != want {
			t.Errorf("at %d: %q, want %q", at, i.Meter, want)
		}
	}
	if _, ok := s.Where("A", hour(6)); ok {
		t.Error("the old meter is still installed")
	}
	want := []meter.Installation{{Meter: "A", ServicePoint: "P", From: hour(1), To: hour(5)}, {Meter: "B", ServicePoint: "P", From: hour(5)}}
	if diff := cmp.Diff(want, s.List("P")); diff != "" {
		t.Error("installations (-want +got):\n" + diff)
	}
	if err := s.Install(meter.Installation{Meter: "A", ServicePoint: "Q", From: hour(7)}); err != nil {
		t.Errorf("the old meter at another place: %v", err)
	}
}

func TestAMeterIsNeverAtTwoPlaces(t *testing.T) {
	var s meter.Installations
	if err := s.Install(meter.Installation{Meter: "A", ServicePoint: "P", From: hour(2), To: hour(6)}); err != nil {
		t.Fatal(err)
	}
	for name, i := range map[string]meter.Installation{
		"the same meter elsewhere":        {Meter: "A", ServicePoint: "Q", From: hour(5)},
		"another meter at the same place": {Meter: "B", ServicePoint: "P", From: hour(1), To: hour(3)},
		"for ever, from before":           {Meter: "B", ServicePoint: "P", From: hour(1)},
		"without a begin":                 {Meter: "C", ServicePoint: "R"},
		"ends before it begins":           {Meter: "C", ServicePoint: "R", From: hour(5), To: hour(4)},
	} {
		if err := s.Install(i); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if s.Exchange("P", "B", hour(7)) == nil || s.Exchange("P", "B", hour(3)) == nil || s.Remove("A", hour(7)) == nil || s.Remove("Z", hour(7)) == nil {
		t.Error("an exchange or removal where no meter is installed for good is accepted")
	}
}
