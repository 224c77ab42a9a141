package enum_test

import (
	"testing"

	"voltbus/protocol/bacnet/enum"
)

func TestNamesOfTheStandardAreShownAndRead(t *testing.T) {
	for name, property := range map[string]enum.Property{
		"present-value": 85, "object-list": 76, "priority-array": 87, "acked-transitions": 0, "5120": 5120,
	} {
		if got := property.String(); got != name {
			t.Errorf("property %d is shown as %q, want %q", uint32(property), got, name)
		}
		if got, err := enum.ParseProperty(name); err != nil || got != property {
			t.Errorf("property %q is read as %d (%v), want %d", name, got, err, uint32(property))
		}
	}
	if _, err := enum.ParseProperty("presentvalue"); err == nil {
		t.Error("a property that nobody knows was read without an error")
	}
	if _, err := enum.ParseObjectType("1024"); err == nil {
		t.Error("an object type above 1023 was read without an error")
	}
}

func TestUnitsHaveSymbols(t *testing.T) {
	for unit, want := range map[enum.Unit]string{
		enum.UnitDegreesCelsius: "°C", enum.UnitNoUnits: "", enum.UnitPercent: "%", 132: "mW", 135: "m³/h", 208: "g/g",
		enum.UnitPercentRelativeHumidity: "%RH", 253: "Pa·s", 60000: "",
	} {
		if got := unit.Symbol(); got != want {
			t.Errorf("unit %v has the symbol %q, want %q", unit, got, want)
		}
	}
}

func TestNumbersOfErrorsAndReasonsAreNamed(t *testing.T) {
	for got, want := range map[string]string{
		enum.ErrorClass(2).String():    "property",
		enum.ErrorCode(32).String():    "unknown-property",
		enum.RejectReason(9).String():  "unrecognized-service",
		enum.AbortReason(4).String():   "segmentation-not-supported",
		enum.EventState(2).String():    "offnormal",
		enum.EventType(5).String():     "out-of-range",
		enum.Reliability(7).String():   "unreliable-other",
		enum.AbortReason(200).String(): "200",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
