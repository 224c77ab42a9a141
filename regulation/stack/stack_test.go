package stack_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/regulation"
	"voltbus/regulation/stack"
)

func cooler(temperature float64, on bool) regulation.Report {
	r := regulation.Report{Unit: "a", Temperature: temperature, Low: 21, High: 23, On: on, Rated: 5}
	if on {
		r.Power = 5
	}
	return r
}

func TestTheUnitThatWouldSwitchNextComesFirst(t *testing.T) {
	units := []regulation.Report{cooler(21.5, true), cooler(22.6, false), cooler(21.3, true), cooler(22.2, false)}
	locked := cooler(22.7, false)
	locked.Free = 1
	units = append(units, locked)
	heater := regulation.Report{Unit: "h", Temperature: 22.9, Low: 21, High: 23, Heating: true, On: true, Power: 5, Rated: 5}
	for name, c := range map[string]struct {
		units  []regulation.Report
		target float64
		want   []stack.Change
	}{
		"more by one unit":                        {units, 15, []stack.Change{{Unit: 1, On: true}}},
		"more than there is":                      {units, 100, []stack.Change{{Unit: 1, On: true}, {Unit: 3, On: true}}},
		"less by one unit":                        {units, 5, []stack.Change{{Unit: 2}}},
		"not beyond the target":                   {[]regulation.Report{cooler(22.6, false), cooler(22.5, false), cooler(22.4, false)}, 3, []stack.Change{{Unit: 0, On: true}}},
		"nothing for less than half a unit":       {units, 12, nil},
		"a warm heater goes off before a cool AC": {append(units[:4:4], heater), 10, []stack.Change{{Unit: 4}}},
	} {
		t.Run(name, func(t *testing.T) {
			var s stack.Stack
			d := s.Decide(c.units, c.target)
			if diff := cmp.Diff(c.want, d.Changes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsLeftIsReported(t *testing.T) {
	units := []regulation.Report{cooler(21.5, true), cooler(22.6, false), cooler(22.2, false)}
	var s stack.Stack
	d := s.Decide(units, 10)
	if d.Expected != 10 || d.More != 5 || d.Less != 5 {
		t.Errorf("%+v", d)
	}
}

// Two fans of 8 kW at half speed take 1 kW each; 7 kW more of 14 that are possible is half the room of each: 4.5 kW, a speed of cbrt(4.5/8).
func TestFansTakeTheRest(t *testing.T) {
	fan := regulation.Report{Unit: "f", Temperature: 22, Low: 21, High: 23, Variable: true, On: true, Speed: 0.5, Power: 1, Rated: 8}
	var s stack.Stack
	d := s.Decide([]regulation.Report{fan, fan}, 9)
	if len(d.Changes) != 2 || math.Abs(d.Changes[0].Speed-math.Cbrt(4.5/8)) > 1e-12 || math.Abs(d.Expected-9) > 1e-12 {
		t.Errorf("%+v", d)
	}
}

func TestADecisionNeverMakesItWorse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) regulation.Report {
			r := regulation.Report{
				Unit: "u", Low: 20, High: 22, Temperature: rapid.Float64Range(19, 23).Draw(t, "t"), Rated: rapid.Float64Range(1, 9).Draw(t, "kW"),
				On: rapid.Bool().Draw(t, "on"), Heating: rapid.Bool().Draw(t, "heats"), Variable: rapid.Bool().Draw(t, "fan"),
			}
			if r.On {
				r.Power = r.Rated
			}
			if rapid.Bool().Draw(t, "locked") {
				r.Free = 1
			}
			return r
		}), 0, 40).Draw(t, "units")
		now := 0.0
		for i := range units {
			now += units[i].Power
		}
		target := rapid.Float64Range(-50, 400).Draw(t, "target")
		var s stack.Stack
		d := s.Decide(units, target)
		if math.Abs(target-d.Expected) > math.Abs(target-now)+1e-9 {
			t.Fatalf("from %v to %v, target %v", now, d.Expected, target)
		}
		if d.More < -1e-9 || d.Less < -1e-9 {
			t.Fatalf("%+v", d)
		}
		seen := map[int]bool{}
		for _, c := range d.Changes {
			u := &units[c.Unit]
			if u.Free > 0 || seen[c.Unit] || c.Speed < 0 || c.Speed > 1 || !u.Variable && c.On == u.On {
				t.Fatalf("%+v of %+v", c, u)
			}
			seen[c.Unit] = true
		}
	})
}
