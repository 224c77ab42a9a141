package master_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"voltbus/regulation"
	"voltbus/regulation/master"
	"voltbus/regulation/unit"
)

// device is a unit with a node that may not say what is true, or not do what it is told.
type device struct {
	*unit.Unit

	bends  func(r *regulation.Report)                                          // what it reports; nil: the truth
	orders func(d *device, now time.Time, o *regulation.Order) regulation.Code // nil: it obeys
	claims *regulation.Order                                                   // what it pretends to have done
}

func (d *device) report(now time.Time) regulation.Report {
	r := d.Unit.Report(now, 30)
	if d.bends != nil {
		d.bends(&r)
	}
	if d.claims != nil {
		if r.On = d.claims.On; r.On {
			r.Power = r.Rated
		} else {
			r.Power = 0
		}
	}
	return r
}

func (d *device) order(now time.Time, o *regulation.Order) regulation.Answer {
	var code regulation.Code
	if d.orders == nil {
		code = d.Order(now, o)
	} else {
		code = d.orders(d, now, o)
	}
	return regulation.Answer{Number: o.Number, Code: code, Report: d.report(now)}
}

// regulated lets forty units follow a signal for half an hour, of which some are spoiled. The signal changes each three minutes. It returns by how much
// the true power misses the target at the end of each stretch, kW, at most, and what was refused.
func regulated(t *testing.T, spoil func(i int, d *device)) (miss float64, refused map[string]int) {
	t.Helper()
	const step, capacity = 2 * time.Second, 20.0
	m, refused := master.New(master.Config{Capacity: capacity}), map[string]int{}
	devices := map[string]*device{}
	var all []*device
	for i := range 40 {
		name := fmt.Sprintf("campus/b%02d/ac", i)
		u := unit.New(unit.Config{Name: name, R: 2, C: 2, COP: 2.5, Rated: 5, Set: 22, Band: 1, Lockout: time.Minute, Variable: i%4 == 3}, 21.6+0.02*float64(i), i%3 == 0)
		d := &device{Unit: u}
		spoil(i, d)
		devices[name], all = d, append(all, d)
	}
	for at := time.Duration(0); at < 30*time.Minute; at += step {
		now, power := begin.Add(at), 0.0
		for _, d := range all {
			d.Step(now, step, 30)
			r := d.report(now)
			if _, err := m.Hear(&r); err != nil {
				t.Fatal(err)
			}
			power += d.Power()
		}
		signal := 0.6
		if at/(3*time.Minute)%2 == 0 {
			signal = -0.6
		}
		orders, st := m.Decide(now, signal)
		for i := range orders {
			a := devices[orders[i].Unit].order(now, &orders[i])
			m.Answered(now, &a)
		}
		for code, n := range st.Refused {
			refused[code] += n
		}
		if (at+step)%(3*time.Minute) == 0 && at > 6*time.Minute {
			miss = max(miss, math.Abs(power-st.Target))
		}
	}
	return miss, refused
}

// A quarter of the units is spoiled. Those that show what they do not do cost nothing but their part; what is hidden costs at most what it hides.
func TestUnitsThatLieRefuseOrClipAreMadeGoodByTheOthers(t *testing.T) {
	quarter := func(i int) bool { return i%4 == 1 }
	honest, _ := regulated(t, func(int, *device) {})
	for name, c := range map[string]struct {
		spoil func(i int, d *device)
		most  float64 // kW
		why   string  // that is counted
	}{
		"they say done, and do nothing": {func(i int, d *device) {
			if quarter(i) {
				d.orders = func(*device, time.Time, *regulation.Order) regulation.Code { return regulation.Done }
			}
		}, 5, master.Unchanged},
		"they refuse": {func(i int, d *device) { d.SetLocal(quarter(i)) }, 5, "local"},
		"fans clip": {func(i int, d *device) {
			d.orders = func(d *device, now time.Time, o *regulation.Order) regulation.Code {
				within := *o
				within.Speed = min(0.7, max(0.4, o.Speed))
				return d.Order(now, &within)
			}
		}, 5, master.Unchanged},
		"they claim twice the power": {func(i int, d *device) {
			if quarter(i) {
				d.bends = func(r *regulation.Report) { r.Rated, r.Power = 2*r.Rated, 2*r.Power }
			}
		}, 50, ""},
		"they claim to have switched": {func(i int, d *device) {
			if quarter(i) {
				d.orders = func(d *device, _ time.Time, o *regulation.Order) regulation.Code {
					d.claims = o
					return regulation.Done
				}
			}
		}, 50, ""},
	} {
		t.Run(name, func(t *testing.T) {
			miss, refused := regulated(t, c.spoil)
			t.Logf("%.1f kW missed, %.1f without; %v", miss, honest, refused)
			if miss > c.most || c.why != "" && refused[c.why] == 0 {
				t.Errorf("%.1f kW missed, at most %.1f; refused: %v", miss, c.most, refused)
			}
		})
	}
}
