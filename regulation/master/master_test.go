package master_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/regulation"
	"voltbus/regulation/master"
)

var begin = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)

// report is that of a unit of 5 kW which needs 2.
func report(name string, at time.Duration, temperature float64, on bool) regulation.Report {
	r := regulation.Report{Unit: name, At: begin.Add(at), Temperature: temperature, Low: 21, High: 23, On: on, Rated: 5, Hold: 2}
	if on {
		r.Power = 5
	}
	return r
}

// fleet has two units on, and three off: baseline 10 kW, power 10 kW.
func fleet(t *testing.T) *master.Master {
	t.Helper()
	m := master.New(master.Config{Capacity: 5})
	for name, r := range map[string]regulation.Report{
		"a": report("a", 0, 21.5, true), "b": report("b", 0, 21.7, true), "c": report("c", 0, 22, false), "d": report("d", 0, 22.6, false), "e": report("e", 0, 22.2, false),
	} {
		if isNew, err := m.Hear(&r); !isNew || err != nil {
			t.Fatal(name, isNew, err)
		}
	}
	return m
}

func TestANodeRegistersWithItsFirstReport(t *testing.T) {
	m := fleet(t)
	r := report("a", time.Second, 21.4, true)
	if isNew, err := m.Hear(&r); isNew || err != nil {
		t.Error(isNew, err)
	}
	if _, st := m.Decide(begin, 0); st.Units != 5 || st.Baseline != 10 || st.Power != 10 || st.Orders != 0 || st.More != 15 || st.Less != 10 {
		t.Errorf("%+v", st)
	}
}

func TestTheSignalMovesTheUnitsNextToSwitching(t *testing.T) {
	for signal, want := range map[float64]struct {
		unit string
		on   bool
	}{1: {"a", false}, -1: {"d", true}} {
		orders, st := fleet(t).Decide(begin, signal)
		if len(orders) != 1 || orders[0].Unit != want.unit || orders[0].On != want.on || st.Expected != 10-5*signal {
			t.Errorf("%v: %+v %+v", signal, orders, st)
		}
	}
}

func TestALostOrderIsRepeated(t *testing.T) {
	m := fleet(t)
	first, _ := m.Decide(begin, 1)
	if again, _ := m.Decide(begin.Add(2*time.Second), 1); len(again) != 0 {
		t.Fatalf("the order is under way: %+v", again)
	}
	again, _ := m.Decide(begin.Add(4*time.Second), 1)
	if len(again) != 1 || again[0].Unit != first[0].Unit || again[0].Number <= first[0].Number {
		t.Errorf("%+v after %+v", again, first)
	}
}

func TestARefusalMovesAnotherUnitAndIsCounted(t *testing.T) {
	m := fleet(t)
	orders, _ := m.Decide(begin, 1)
	m.Answered(begin, &regulation.Answer{Number: orders[0].Number, Code: regulation.Local, Report: report("a", time.Second, 21.5, true)})
	again, st := m.Decide(begin.Add(2*time.Second), 1)
	if len(again) != 1 || again[0].Unit != "b" || st.Refused["local"] != 1 {
		t.Errorf("%+v %+v", again, st)
	}
	// A unit that the node does not have is not believed to have changed.
	m.Answered(begin, &regulation.Answer{Number: again[0].Number, Code: regulation.NoSuchUnit, Report: regulation.Report{Unit: "b"}})
	if _, st := m.Decide(begin.Add(4*time.Second), 1); st.Power != 10 || st.Refused["no-such-unit"] != 1 {
		t.Errorf("%+v", st)
	}
}

func TestASilentUnitIsNotOrdered(t *testing.T) {
	m := fleet(t)
	r := report("c", 6*time.Minute, 22, false)
	if _, err := m.Hear(&r); err != nil {
		t.Fatal(err)
	}
	orders, st := m.Decide(begin.Add(6*time.Minute), -1)
	// The four that are silent count with what holds their temperature: 8 kW.
	if st.Silent != 4 || st.Power != 8 || len(orders) != 1 || orders[0].Unit != "c" {
		t.Errorf("%+v %+v", orders, st)
	}
}

func TestAWrongReportIsRefusedWithTheReason(t *testing.T) {
	for want, change := range map[string]func(*regulation.Report){
		"power of a: 50 kW is not between 0 and the rated power, 5 kW": func(r *regulation.Report) { r.Power = 50 },
		"temperature of a: NaN is no number":                           func(r *regulation.Report) { r.Temperature = math.NaN() },
		"low of a: 23 °C is not below high, 23 °C":                     func(r *regulation.Report) { r.Low = 23 },
		"hold of a: 9 kW is not between 0 and the rated power, 5 kW":   func(r *regulation.Report) { r.Hold = 9 },
		"rated of a: 0 kW: write the power of the unit when it is on":  func(r *regulation.Report) { r.Rated = 0 },
		"unit: write the path of the unit":                             func(r *regulation.Report) { r.Unit = "" },
	} {
		m, r := fleet(t), report("a", time.Second, 22, true)
		change(&r)
		_, err := m.Hear(&r)
		if err == nil || !strings.HasSuffix(err.Error(), want) || fault.KindOf(err) != fault.Invalid {
			t.Errorf("%v, want %s", err, want)
		}
		if _, st := m.Decide(begin, 0); st.Units != 5 || st.Power != 10 {
			t.Errorf("%+v", st)
		}
	}
}
