package device

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/control"
	"voltbus/control/model"
	"voltbus/fault"
	"voltbus/point"
)

// desk is a model of control whose writes the fleet carries out.
type desk struct {
	*model.Model
	site  *site
	begin time.Time
}

func newDesk(tb testing.TB, s *site, names ...string) *desk {
	tb.Helper()
	d := &desk{Model: model.New(control.Limits{}), site: s, begin: time.Now()}
	var specs []control.Spec
	for _, name := range names {
		specs = append(specs, control.Spec{Point: point.Path("b/" + name + "/p"), Kind: point.Int, Writable: true, Default: point.IntOf(0)})
	}
	if _, err := d.Declare(d.now(), specs); err != nil {
		tb.Fatal(err)
	}
	return d
}

func (d *desk) now() control.Instant {
	return control.Instant{Wall: time.Now(), Steady: time.Since(d.begin)}
}

// carryOut has the fleet do what the model demands, all of one time in one call.
func (d *desk) carryOut(ctx context.Context, e control.Effects) {
	for len(e.Writes) > 0 {
		var settings []Setting
		var setters []control.Write
		var next control.Effects
		answer := func(w control.Write, v point.Value, err error) {
			more := d.Answer(d.now(), w.Point, control.Outcome{Write: w.ID, Value: v, Err: err})
			next.Writes = append(next.Writes, more.Writes...)
		}
		for _, w := range e.Writes {
			if w.Read {
				r := d.site.ReadMany(ctx, []point.Path{w.Point})[0]
				answer(w, r.Sample.Value, r.Err)
				continue
			}
			settings, setters = append(settings, Setting{Point: w.Point, Value: w.Value}), append(setters, w)
		}
		for i, o := range d.site.WriteMany(ctx, settings) {
			answer(setters[i], o.Value, o.Err)
		}
		e = next
	}
}

// until lets time pass, in which the model does what is due.
func (d *desk) until(ctx context.Context, moment time.Duration) {
	for {
		left := moment - time.Since(d.begin)
		if left <= 0 {
			return
		}
		wait, ok := d.Next(d.now())
		if !ok || wait > left {
			wait = left
		}
		pass(wait)
		d.carryOut(ctx, d.Advance(d.now()))
	}
}

func (d *desk) command(ctx context.Context, id, name string, value int64, lease time.Duration) {
	d.carryOut(ctx, d.Command(d.now(), control.Command{
		ID: id, Point: point.Path("b/" + name + "/p"), Requester: "tune", Level: 10, Value: point.IntOf(value), Lease: lease,
	}).Effects)
}

func TestALeaseThatEndsWhileTheLineIsLostIsRevertedWhenItIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.apply(s.device("l", "a", every(time.Hour)))
		defer s.start()()
		pass(time.Second)
		d := newDesk(t, s, "a")
		d.command(t.Context(), "1", "a", 5, 30*time.Second)
		s.plant.setCut("l", true)
		s.plant.script("a", func(context.Context) error { return errors.New("cut") })
		d.until(t.Context(), 50*time.Second)
		if v, _ := d.View("b/a/p"); !v.Reverting || v.Output == control.Confirmed {
			t.Errorf("while the line is lost the view is %+v", v)
		}
		s.plant.setCut("l", false)
		s.plant.script("a", nil)
		d.until(t.Context(), 4*time.Minute)
		if all := written(s); len(all) < 2 || all[0] != "a/p=5" || all[len(all)-1] != "a/p=0" {
			t.Errorf("written was %v", all)
		}
		if left := d.Commanded(); len(left) > 0 {
			t.Errorf("still commanded: %v", left)
		}
	})
}

func TestWhenHalfOfACallFailsTheOtherHalfIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		names, devices := make([]string, 10), make([]Config, 10)
		for i := range names {
			names[i] = fmt.Sprint("d", i)
			devices[i] = s.device("l"+names[i], names[i], every(time.Hour))
			if i%2 > 0 {
				s.plant.script(names[i], func(context.Context) error {
					return fault.E("plant", fault.Rejected, "", errors.New("local control"))
				})
			}
		}
		s.apply(devices...)
		defer s.start()()
		pass(time.Second)
		d := newDesk(t, s, names...)
		var all control.Effects
		for i, name := range names {
			e := d.Command(d.now(), control.Command{
				ID: name, Point: point.Path("b/" + name + "/p"), Requester: "tune", Level: 10, Value: point.IntOf(int64(10 + i)),
			}).Effects
			all.Writes = append(all.Writes, e.Writes...)
		}
		d.carryOut(t.Context(), all)
		for i, name := range names {
			v, _ := d.View(point.Path("b/" + name + "/p"))
			switch {
			case i%2 == 0 && (v.Output != control.Confirmed || v.Held != point.IntOf(int64(10+i))):
				t.Errorf("%s is %v with %v", name, v.Output, v.Held)
			case i%2 > 0 && (len(v.Array) > 0 || v.Reverting || v.Output != control.Idle || v.FailedWith == ""):
				t.Errorf("%s, which its device refused, is %+v", name, v)
			}
		}
	})
}

func TestAWriteOfANodeThatDiedIsReadBeforeAnythingIsWrittenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.apply(s.device("l", "a", every(time.Hour)))
		defer s.start()()
		pass(time.Second)
		d := newDesk(t, s, "a")
		e := d.Command(d.now(), control.Command{ID: "1", Point: "b/a/p", Requester: "tune", Level: 10, Value: point.IntOf(1)}).Effects
		state := d.Export(d.now())
		s.WriteMany(t.Context(), []Setting{{Point: "b/a/p", Value: e.Writes[0].Value}}) // and nobody hears the answer
		d = newDesk(t, s, "a")
		e, err := d.Import(d.now(), state)
		if err != nil {
			t.Fatal(err)
		}
		d.carryOut(t.Context(), e)
		if v, _ := d.View("b/a/p"); v.Output != control.Confirmed || v.Held != point.IntOf(1) {
			t.Errorf("the point is %v with %v", v.Output, v.Held)
		}
		if n := len(written(s)); n != 1 {
			t.Errorf("written %d times, want once", n)
		}
	})
}
