package model

import (
	"math"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
)

var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func made(t *testing.T, kind string, p map[string]float64, m Method) *Model {
	t.Helper()
	o, err := New(kind, p, midnight, m)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func advance(t *testing.T, m *Model, to time.Duration) {
	t.Helper()
	if err := m.Advance(to); err != nil {
		t.Fatal(err)
	}
}

func TestARoomFollowsTheExactSolution(t *testing.T) {
	for _, method := range []Method{{Step: time.Minute}, {Adaptive: true, Step: time.Hour}} {
		m := made(t, "room", map[string]float64{"temp": 20}, method)
		m.Set(m.Kind.Input("on"), 0.5)
		for at := time.Duration(0); at <= 12*time.Hour; at += 7 * time.Minute {
			advance(t, m, at)
			end := 32 - 2*2.5*2.8 // where it settles: outdoor − R·COP·P
			want := end + (20-end)*math.Exp(-at.Hours()/4)
			if got := m.Out(m.Kind.Output("temp")); math.Abs(got-want) > 1e-4 {
				t.Fatalf("adaptive %t: %g °C after %s, want %g", method.Adaptive, got, at, want)
			}
		}
	}
}

func TestAZoneKeepsEnergy(t *testing.T) {
	m := made(t, "zone", map[string]float64{"outside": 1e6, "direction": heating, "cop": 1, "rated": 2}, Method{})
	m.Set(m.Kind.Input("on"), 1)
	advance(t, m, 5*time.Hour)
	stored := (m.Out(m.Kind.Output("temp")) - 22) + 6*(m.Out(m.Kind.Output("mass_temp"))-22)
	if math.Abs(stored-10) > 0.01 {
		t.Errorf("2 kW for 5 h stored %g kWh", stored)
	}
}

func TestABatteryEndsFullAndEmpty(t *testing.T) {
	m := made(t, "battery", nil, Method{})
	for _, step := range []struct{ power, charge float64 }{{5, 1}, {-5, 0}} {
		m.Set(0, step.power)
		advance(t, m, stateOf(t, m).At+6*time.Hour)
		if c := m.Out(m.Kind.Output("charge")); c != step.charge || m.Out(m.Kind.Output("power")) != 0 {
			t.Errorf("with %g kW it ends at %g with %g kW", step.power, c, m.Out(1))
		}
	}
}

func TestSunAndLoadHaveTheirHours(t *testing.T) {
	w, v, f := made(t, "weather", nil, Method{}), made(t, "pv", nil, Method{}), made(t, "feeder", nil, Method{})
	most, at := 0.0, time.Duration(0)
	for h := time.Duration(0); h < 24*time.Hour; h += 30 * time.Minute {
		for _, m := range []*Model{w, f} {
			advance(t, m, h)
		}
		v.Set(v.Kind.Input("irradiance"), w.Out(w.Kind.Output("irradiance")))
		advance(t, v, h)
		night := h < 6*time.Hour || h >= 18*time.Hour
		if p := v.Out(0); p > 0 || night && p < -1e-9 || h == 12*time.Hour && p > -7 {
			t.Errorf("the plant has %g kW at %s", p, h)
		}
		if p := f.Out(0); p > most {
			most, at = p, h
		}
	}
	if at != 19*time.Hour+30*time.Minute {
		t.Errorf("the load is highest at %s", at)
	}
}

func TestAThermostatKeepsARoomInItsBand(t *testing.T) {
	r, c := made(t, "room", nil, Method{}), made(t, "thermostat", nil, Method{})
	for at := time.Duration(0); at < 24*time.Hour; at += 10 * time.Second {
		c.Set(0, r.Out(0))
		advance(t, c, at)
		r.Set(r.Kind.Input("on"), c.Out(0))
		advance(t, r, at)
		if temp := r.Out(0); at > time.Hour && (temp < 21.4 || temp > 22.6) {
			t.Fatalf("%g °C at %s", temp, at)
		}
	}
}

// runaway doubles each second.
type runaway struct{}

func (runaway) Begin() []float64                    { return []float64{1} }
func (runaway) Slope(_ float64, x, _, dx []float64) { dx[0] = x[0] * x[0] }
func (runaway) Output(_ float64, x, _, y []float64) { y[0] = x[0] }

func TestAModelThatDivergesIsAnError(t *testing.T) {
	kind := &Kind{Name: "runaway", Outputs: []Port{{Name: "x"}}}
	for _, adaptive := range []bool{false, true} {
		m := Of(kind, runaway{}, midnight, Method{Adaptive: adaptive, Step: time.Second})
		err := m.Advance(time.Minute)
		if !fault.Is(err, fault.Rejected) || !strings.Contains(err.Error(), "diverges") {
			t.Errorf("adaptive %t: %v", adaptive, err)
		}
	}
}

func TestAModelDoesNotGoBack(t *testing.T) {
	m := made(t, "room", nil, Method{})
	advance(t, m, time.Hour)
	if err := m.Advance(time.Minute); !fault.Is(err, fault.Invalid) {
		t.Errorf("it went back: %v", err)
	}
	state := stateOf(t, m)
	other := made(t, "room", nil, Method{})
	if err := other.Restore(state); err != nil || other.Out(0) != m.Out(0) {
		t.Errorf("restored: %v, %g °C instead of %g", err, other.Out(0), m.Out(0))
	}
	if err := other.Restore(State{}); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a state of nothing was taken: %v", err)
	}
}

func TestWrongParametersAreToldTogether(t *testing.T) {
	_, err := New("room", map[string]float64{"capacity": 0, "colour": 3, "cop": math.NaN()}, midnight, Method{})
	for _, want := range []string{"capacity: 0 is out of range", "colour: a room has no such parameter", "cop: NaN"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if _, err := New("igloo", nil, midnight, Method{}); !fault.Is(err, fault.NotFound) {
		t.Errorf("an igloo was made: %v", err)
	}
}

func TestEveryKindRunsForADay(t *testing.T) {
	for _, k := range Kinds() {
		for _, adaptive := range []bool{false, true} {
			advance(t, made(t, k.Name, nil, Method{Adaptive: adaptive}), 24*time.Hour)
		}
	}
}

func BenchmarkZoneHour(b *testing.B) {
	m, err := New("zone", nil, midnight, Method{})
	if err != nil {
		b.Fatal(err)
	}
	at := time.Duration(0)
	for b.Loop() {
		at += time.Hour
		if err := m.Advance(at); err != nil {
			b.Fatal(err)
		}
	}
}

func stateOf(t *testing.T, m *Model) State {
	t.Helper()
	s, err := m.State()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
