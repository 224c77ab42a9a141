package unit_test

import (
	"math"
	"testing"
	"time"

	"voltbus/regulation"
	"voltbus/regulation/unit"
)

var begin = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)

// cooler is an air conditioner with the parameters of Hao and others: R 2 K/kW, C 2 kWh/K, 5.6 kW electric, COP 2.5.
func cooler() unit.Config {
	return unit.Config{Name: "a", R: 2, C: 2, COP: 2.5, Rated: 5.6, Set: 22, Band: 1, Lockout: 3 * time.Minute}
}

// From 22 °C at 32 °C outside with the unit off, after an hour: 32 − 10·exp(−1/4).
func TestTheTemperatureFollowsTheEquation(t *testing.T) {
	c := cooler()
	c.Band = 100
	off, on := unit.New(c, 22, false), unit.New(c, 22, true)
	for i := range 3600 {
		off.Step(begin.Add(time.Duration(i)*time.Second), time.Second, 32)
		on.Step(begin.Add(time.Duration(i)*time.Second), time.Second, 32)
	}
	if want := 32 - 10*math.Exp(-0.25); math.Abs(off.Temperature()-want) > 1e-9 {
		t.Errorf("off: %v, want %v", off.Temperature(), want)
	}
	// On, 14 kW of heat leave: the end is 32 − 28 = 4 °C.
	if want := 4 + 18*math.Exp(-0.25); math.Abs(on.Temperature()-want) > 1e-9 {
		t.Errorf("on: %v, want %v", on.Temperature(), want)
	}
	// 10 K through 2 K/kW are 5 kW of heat, 2 kW electric.
	if got := on.Hold(32); math.Abs(got-2) > 1e-9 {
		t.Errorf("hold: %v", got)
	}
	c.Variable = true // 5 of 14 kW of heat at the speed 5/14, whose cube is the power
	if got, want := unit.New(c, 22, false).Hold(32), 5.6*(5.0/14)*(5.0/14)*(5.0/14); math.Abs(got-want) > 1e-9 {
		t.Errorf("hold of a fan: %v, want %v", got, want)
	}
}

func TestTheThermostatKeepsItsBand(t *testing.T) {
	for name, outside := range map[string]float64{"cooling": 32, "heating": 5} {
		t.Run(name, func(t *testing.T) {
			c := cooler()
			c.Heating = name == "heating"
			u := unit.New(c, 22, false)
			energy, hours := 0.0, 48.0
			for now := begin; now.Before(begin.Add(48 * time.Hour)); now = now.Add(2 * time.Second) {
				u.Step(now, 2*time.Second, outside)
				energy += u.Power() * 2 / 3600
				if u.Temperature() < 21.49 || u.Temperature() > 22.51 {
					t.Fatalf("%v °C at %s", u.Temperature(), now)
				}
			}
			if mean := energy / hours; math.Abs(mean-u.Hold(outside)) > 0.1*u.Hold(outside) {
				t.Errorf("the mean power is %v, and Hold %v", mean, u.Hold(outside))
			}
		})
	}
}

func TestAnOrderIsCarriedOutOrRefusedWithACode(t *testing.T) {
	c := cooler()
	fan := c
	fan.Variable = true
	token := regulation.Token{Term: 2, Leader: "10.0.0.1"}
	on := regulation.Order{Token: token, On: true}
	for name, s := range map[string]struct {
		unit  *unit.Unit
		order regulation.Order
		set   func(*unit.Unit)
		want  regulation.Code
		runs  bool
	}{
		"switch on":                         {unit.New(c, 22, false), on, nil, regulation.Done, true},
		"on already":                        {unit.New(c, 22, true), on, nil, regulation.Done, true},
		"too soon":                          {unit.New(c, 22, false), regulation.Order{Token: token}, func(u *unit.Unit) { u.Order(begin, &on) }, regulation.LockedOut, true},
		"cold already":                      {unit.New(c, 21.4, false), on, nil, regulation.Uncomfortable, false},
		"hot already":                       {unit.New(c, 22.6, true), regulation.Order{Token: token}, nil, regulation.Uncomfortable, true},
		"broken":                            {unit.New(c, 22, true), on, func(u *unit.Unit) { u.Fail(true) }, regulation.Failed, false},
		"operated by a person":              {unit.New(c, 22, false), on, func(u *unit.Unit) { u.SetLocal(true) }, regulation.Local, false},
		"an earlier term":                   {unit.New(c, 22, true), regulation.Order{Token: regulation.Token{Term: 1, Leader: "10.0.0.1"}}, func(u *unit.Unit) { u.Order(begin, &on) }, regulation.OldTerm, true},
		"another leader in this term":       {unit.New(c, 22, true), regulation.Order{Token: regulation.Token{Term: 2, Leader: "10.0.0.2"}}, func(u *unit.Unit) { u.Order(begin, &on) }, regulation.OldTerm, true},
		"a later term":                      {unit.New(c, 22, true), regulation.Order{Token: regulation.Token{Term: 3, Leader: "10.0.0.2"}}, func(u *unit.Unit) { u.Order(begin, &on) }, regulation.Done, false},
		"a fan with a speed":                {unit.New(fan, 22, false), regulation.Order{Token: token, Speed: 0.5}, nil, regulation.Done, true},
		"a fan with a speed that cannot be": {unit.New(fan, 22, false), regulation.Order{Token: token, Speed: 1.5}, nil, regulation.OutOfRange, false},
	} {
		t.Run(name, func(t *testing.T) {
			if s.set != nil {
				s.set(s.unit)
			}
			if got := s.unit.Order(begin.Add(time.Minute), &s.order); got != s.want {
				t.Errorf("%s, want %s", got, s.want)
			}
			if r := s.unit.Report(begin.Add(time.Minute), 30); r.On != s.runs {
				t.Errorf("runs: %v", r.On)
			}
		})
	}
}
