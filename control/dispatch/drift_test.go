package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/control"
	"voltbus/control/dispatch"
	"voltbus/fault"
	"voltbus/point"
)

// turn changes a point at the device, behind the node's back.
func (p *plant) turn(path point.Path, value float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.values[path] = point.FloatOf(value)
}

// amiss returns what the dispatcher says is not as it should be.
func (s *site) amiss() string {
	var list []string
	for _, a := range s.MismatchedPoints() {
		list = append(list, string(a.Point)+" "+string(a.Output))
	}
	return strings.Join(list, ", ")
}

func scanning(t *testing.T, devices int, f func(t *testing.T, s *site)) {
	t.Helper()
	virtual(t, devices, func(t *testing.T, s *site) {
		s.interval = 10 * time.Second
		f(t, s)
	})
}

func TestAttackAValueChangedAtTheDeviceIsAMismatchAndNotHeld(t *testing.T) {
	scanning(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.set(wish("tune", "b/d0/sp", 22))
		pass(15 * time.Second)
		s.plant.turn("b/d0/sp", 25)
		pass(15 * time.Second)
		if v := s.view("b/d0/sp"); v.Output != control.Mismatch || v.Reported != point.FloatOf(25) || v.Commanded != point.FloatOf(22) {
			t.Errorf("the point is %v with %v, commanded %v", v.Output, v.Reported, v.Commanded)
		}
		if s.amiss() != "b/d0/sp mismatch" {
			t.Errorf("amiss is %q", s.amiss())
		}
		s.says("b/d0/sp", "control.mismatch", "another value")
		s.plant.turn("b/d0/sp", 22)
		pass(15 * time.Second)
		if v := s.view("b/d0/sp"); v.Output != control.Confirmed || s.amiss() != "" {
			t.Errorf("the point is %v, amiss is %q", v.Output, s.amiss())
		}
		s.says("b/d0/sp", "control.mismatch-ended", "ok")
		if n := len(s.plant.written()); n != 1 {
			t.Errorf("%d writes", n)
		}
	})
}

func TestAttackTheSameCommandAgainIsAnsweredByTheDevice(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) { // the next scan is an hour away
		defer s.start().stop()
		s.set(wish("tune", "b/d0/sp", 22))
		s.plant.turn("b/d0/sp", 25)
		if r := s.set(wish("tune", "b/d0/sp", 22)); r.Output != control.Confirmed || r.Reported != point.FloatOf(22) {
			t.Errorf("gives %+v", r)
		}
		s.holds("b/d0/sp", 22)
		s.plant.turn("b/d0/sp", 25)
		d, err := s.Release(t.Context(), "agent:tune", control.Selection{}, "")
		if err != nil || d.Err != nil {
			t.Fatal(d.Err, err)
		}
		pass(time.Second)
		s.holds("b/d0/sp", 20)
	})
}

func TestAttackAReleaseToTheDefaultThatThePointHadIsWritten(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.set(wish("tune", "b/d0/sp", 20)) // which is the default, too
		s.plant.turn("b/d0/sp", 25)
		_, err := s.Release(t.Context(), "agent:tune", control.Selection{}, "")
		s.must(err)
		pass(time.Second)
		s.holds("b/d0/sp", 20)
	})
}

func TestAttackFailsafeWritesWhatSomebodyHasChanged(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.set(wish("tune", "b/d0/sp", 20))
		s.plant.turn("b/d0/sp", 25)
		_, err := s.Override(t.Context(), control.Override{Pattern: "b/**", Requester: "person:eve", Failsafe: true})
		s.must(err)
		pass(time.Second)
		s.holds("b/d0/sp", 20)
	})
}

func TestAttackANodeThatStartsLooksAtWhatDevicesHave(t *testing.T) {
	scanning(t, 2, func(t *testing.T, s *site) {
		s.points[4].Policy = &control.Policy{Assert: control.AssertNever} // b/d1/plain
		s.start()
		s.set(wish("tune", "b/d0/sp", 22))
		s.set(wish("tune", "b/d1/plain", 5))
		s.stop()
		s.plant.turn("b/d0/sp", 25)
		s.plant.turn("b/d1/plain", 7)
		defer s.start().stop()
		pass(time.Second)
		s.holds("b/d0/sp", 22)
		s.holds("b/d1/plain", 7)
		if s.amiss() != "b/d1/plain mismatch" {
			t.Errorf("amiss is %q", s.amiss())
		}
		s.says("b/d0/sp", "control.write", "sent")
	})
}

func TestADeviceThatRestartsGetsTheWishAgainAndIsWrittenAtOnceWhenItReturns(t *testing.T) {
	scanning(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.set(wish("tune", "b/d0/sp", 22))
		s.plant.disturb(failing(fault.Unreachable, errors.New("nobody answers")))
		pass(time.Minute)
		if v := s.view("b/d0/sp"); v.Output != control.Unknown || v.Reported.Kind() != point.None {
			t.Errorf("while it is away the point is %v with %v", v.Output, v.Reported)
		}
		s.plant.turn("b/d0/sp", 15)
		s.plant.disturb(nil)
		for begin := time.Now(); s.plant.value("b/d0/sp") != point.FloatOf(22); pass(time.Second) {
			if time.Since(begin) > time.Minute {
				t.Fatal("nothing was written")
			}
		}
		if v := s.view("b/d0/sp"); v.Output != control.Confirmed || s.amiss() != "" {
			t.Errorf("the point is %v, amiss %q", v.Output, s.amiss())
		}
	})
}

// A command whose write failed is written when the device answers again, and not when a timer says so.
func TestAfterAnOutageTheWishIsWrittenWithTheFirstReading(t *testing.T) {
	scanning(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.plant.disturb(failing(fault.Unreachable, errors.New("nobody answers")))
		pass(10 * time.Minute)
		s.set(wish("tune", "b/d0/sp", 22))
		pass(10*time.Minute + 3*time.Second)
		s.plant.disturb(nil)
		var heard time.Time
		for s.plant.value("b/d0/sp") != point.FloatOf(22) {
			if v := s.view("b/d0/plain"); heard.IsZero() && v.Observed.Kind() != point.None {
				heard = time.Now()
			}
			pass(100 * time.Millisecond)
		}
		if late := time.Since(heard); !heard.IsZero() && late > time.Second {
			t.Errorf("written %v after the device answered", late)
		}
	})
}

func TestAttackADeviceThatStaysAwayFillsNoAuditLog(t *testing.T) {
	scanning(t, 2, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.plant.disturb(failing(fault.Unreachable, errors.New("nobody answers")))
		s.set(wish("tune", "b/d0/sp", 22))
		pass(time.Minute)
		before := len(s.told("b/d0/sp"))
		pass(72 * time.Hour)
		if more := len(s.told("b/d0/sp")) - before; more != 3 {
			t.Errorf("%d entries in three days, want one a day: %q", more, s.told("b/d0/sp"))
		}
		s.says("b/d0/sp", "control.write-failed", "more tries failed since")
	})
}

// A point that flickers is said to do so, and not each time.
func TestAttackAPointThatFlickersFillsNoAuditLog(t *testing.T) {
	scanning(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.set(wish("tune", "b/d0/sp", 22))
		for i := range 2 * 360 { // two hours
			s.plant.turn("b/d0/sp", 22+float64(i%2))
			pass(10 * time.Second)
		}
		s.plant.turn("b/d0/sp", 23)
		pass(2 * time.Hour)
		told := s.told("b/d0/sp")
		if n := len(told); n > 30 {
			t.Errorf("%d entries", n)
		}
		if last := told[len(told)-1]; !strings.HasPrefix(last, "control.mismatch ") {
			t.Errorf("the last word is %q, and the point is %v", last, s.view("b/d0/sp").Output)
		}
	})
}

func TestAttackAValueThatTheDeviceRefusesLeavesTheCommandThatStood(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.set(wish("tune", "b/d0/sp", 22))
		s.plant.disturb(func(_ context.Context, path point.Path, write bool) error {
			if write {
				return fault.E("plant", fault.Rejected, string(path), errors.New("illegal value"))
			}
			return nil
		})
		typo := wish("tune", "b/d0/sp", 29)
		r := s.set(typo)
		if r.Status != control.Unfulfilled || r.Output != control.Failed || r.Wins || !fault.Is(r.Failed, fault.Rejected) {
			t.Errorf("gives %+v", r)
		}
		if again := s.set(typo); again.Status != control.Unfulfilled || again.Output != control.Failed || again.Failed == nil {
			t.Errorf("a repeat gives %+v", again)
		}
		pass(time.Hour)
		s.holds("b/d0/sp", 22)
		if v := s.view("b/d0/sp"); len(v.Array) != 1 || v.Array[0].Value != point.FloatOf(22) || v.Output != control.Confirmed {
			t.Errorf("the point is %+v", v)
		}
		s.says("b/d0/sp", "control.command-restored", "ok")
	})
}

func TestAttackAValueThatCannotBeEncodedChangesNothing(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		s.points[1].Encode = func(v point.Value) (point.Value, error) { // b/d0/plain, an int16 of scale 0.1
			x, _ := v.Number()
			if math.Abs(x) > 3276.7 {
				return v, fmt.Errorf("%v does not fit; write a number from -3276.8 to 3276.7", v)
			}
			return point.FloatOf(math.Round(x*10) / 10), nil
		}
		s.plant.report = func(v point.Value) point.Value {
			x, _ := v.Number()
			return point.FloatOf(math.Round(x*10) / 10)
		}
		defer s.start().stop()
		if r := s.set(wish("tune", "b/d0/plain", 19.77)); r.Output != control.Confirmed || r.Reported != point.FloatOf(19.8) {
			t.Errorf("gives %+v", r)
		}
		if r := s.set(wish("tune", "b/d0/plain", 99999)); r.Status != control.Refused || r.Why != control.WhyRange || !strings.Contains(r.Err.Error(), "3276.7") {
			t.Errorf("gives %+v", r)
		}
		pass(time.Hour)
		if v := s.view("b/d0/plain"); v.Output != control.Confirmed || len(s.plant.written()) != 1 {
			t.Errorf("the point is %v after %d writes", v.Output, len(s.plant.written()))
		}
	})
}

// A device that is busy declines a new command, whose level is then as it was, with what is left of the lease.
func TestAttackABusyDeviceLeavesTheCommandThatStood(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		stands := wish("tune", "b/d0/sp", 22)
		stands.Lease = time.Hour
		s.set(stands)
		end := s.view("b/d0/sp").Array[0].Until
		pass(10 * time.Minute)
		s.plant.disturb(failing(fault.Unavailable, errors.New("busy")))
		hasty := wish("tune", "b/d0/sp", 25)
		hasty.Lease = 5 * time.Minute
		for _, r := range []dispatch.Result{s.set(hasty), s.set(hasty)} {
			if r.Status != control.Unfulfilled || r.Why != control.WhyDeclined || r.Output != control.Failed || r.Wins || !r.Until.IsZero() || !fault.Is(r.Failed, fault.Unavailable) {
				t.Errorf("gives %+v", r)
			}
		}
		if v := s.view("b/d0/sp"); len(v.Array) != 1 || v.Array[0].Value != point.FloatOf(22) || v.Array[0].Until != end {
			t.Errorf("the point is %+v", v)
		}
		s.plant.disturb(nil)
		pass(2 * time.Second)
		s.holds("b/d0/sp", 22)
		if n := len(s.plant.written()); n != 1 {
			t.Errorf("%d writes", n)
		}
		pass(time.Hour)
		s.holds("b/d0/sp", 20)
	})
}

// Of many commands in a call each is answered by what its device says; a line that is lost is no answer.
func TestAttackABusyDeviceDeclinesOnlyWhatIsItsOwn(t *testing.T) {
	virtual(t, 3, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.plant.disturb(func(_ context.Context, path point.Path, _ bool) error {
			switch path.Parent() {
			case "b/d0":
				return fault.E("plant", fault.Unavailable, string(path), errors.New("busy"))
			case "b/d1":
				return fault.E("plant", fault.Unreachable, string(path), errors.New("no route"))
			}
			return nil
		})
		results, err := s.CommandMany(t.Context(), []control.Command{
			wish("tune", "b/d0/sp", 22), wish("tune", "b/d1/sp", 22), wish("tune", "b/d2/sp", 22),
		}, time.Minute)
		s.must(err)
		for i, want := range []control.Status{control.Unfulfilled, control.Accepted, control.Accepted} {
			if results[i].Status != want || (results[i].Failed == nil) != (i == 2) {
				t.Errorf("%d gives %+v", i, results[i])
			}
		}
		s.plant.disturb(nil)
		pass(time.Minute)
		s.holds("b/d0/sp", 0)
		s.holds("b/d1/sp", 22)
		s.holds("b/d2/sp", 22)
	})
}

// Who does not wait for the outcome finds it at the point, in the audit log, and with the same identifier.
func TestABusyDeviceThatAnswersLateIsToldByEvents(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.plant.disturb(func(_ context.Context, path point.Path, _ bool) error {
			<-time.After(20 * time.Second) // virtual
			return fault.E("plant", fault.Unavailable, string(path), errors.New("busy"))
		})
		late := wish("tune", "b/d0/sp", 22)
		r, err := s.Command(t.Context(), late, 10*time.Second)
		s.must(err)
		if r.Status != control.Accepted || r.Output != control.Writing {
			t.Errorf("gives %+v", r)
		}
		pass(time.Minute)
		if v := s.view("b/d0/sp"); len(v.Array) != 0 {
			t.Errorf("the point is %+v", v)
		}
		s.says("b/d0/sp", "control.write-failed", "busy")
		s.says("b/d0/sp", "control.command-ended", "ok")
		if r := s.set(late); r.Status != control.Unfulfilled || !r.Repeat {
			t.Errorf("a repeat gives %+v", r)
		}
	})
}

// A command that the line kept from its device was accepted, and stays while the device is busy.
func TestACommandThatWaitedForItsDeviceStaysWhileThatIsBusy(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.plant.disturb(failing(fault.Unreachable, errors.New("no route")))
		if r := s.set(wish("tune", "b/d0/sp", 22)); r.Status != control.Accepted || r.Output != control.Failed {
			t.Errorf("gives %+v", r)
		}
		s.plant.disturb(failing(fault.Unavailable, errors.New("busy")))
		pass(time.Minute)
		if v := s.view("b/d0/sp"); len(v.Array) != 1 || v.Output != control.Failed {
			t.Errorf("the point is %+v", v)
		}
		s.plant.disturb(nil)
		pass(2 * time.Minute)
		s.holds("b/d0/sp", 22)
	})
}

// What many lines hear and what the dispatcher knows do not part.
func TestReadingsThatCrossOutcomesAreNotMissed(t *testing.T) {
	scanning(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		for i := range 50 {
			value := 12 + float64(i%10)
			s.set(wish("tune", "b/d0/sp", value))
			s.plant.turn("b/d0/sp", value+5)
			pass(12 * time.Second)
			if v := s.view("b/d0/sp"); v.Output != control.Mismatch {
				t.Fatalf("round %d: the point is %v with %v", i, v.Output, v.Reported)
			}
		}
	})
}

// BenchmarkScansOfManyDevices is the scan path of 10,000 devices of 18 points: what the dispatcher costs it.
func BenchmarkScansOfManyDevices(b *testing.B) {
	for _, commanded := range []int{0, 1} {
		for _, writable := range []int{0, 4} {
			b.Run(fmt.Sprintf("%d writable points, %d commanded, a device", writable, min(commanded, writable)), func(b *testing.B) {
				if writable < commanded {
					b.Skip("there is none to command")
				}
				benchScans(b, writable, commanded)
			})
		}
	}
}

func benchScans(b *testing.B, writable, commanded int) {
	const devices, each = 10_000, 18
	s := &site{t: b, dir: b.TempDir(), interval: time.Hour, plant: &plant{values: map[point.Path]point.Value{}}}
	scans, next := make([]point.Scan, devices), make([]point.Scan, devices)
	var commands []control.Command
	for i := range scans {
		at := point.Path(fmt.Sprint("b/d", i))
		scans[i].Device = at
		for k := range each {
			path := at.Join(fmt.Sprint("p", k))
			s.points = append(s.points, dispatch.Point{Spec: control.Spec{Point: path, Device: at, Kind: point.Float, Writable: k < writable, Default: point.FloatOf(0)}})
			scans[i].Samples = append(scans[i].Samples, point.Sample{Point: path, Value: point.FloatOf(0)})
			if k < commanded && k < writable && i < 1000 {
				commands = append(commands, wish("tune", path, 0))
			}
		}
	}
	for i := range scans { // the next scan, in which all has changed but what is commanded
		next[i] = point.Scan{Device: scans[i].Device, Samples: slices.Clone(scans[i].Samples)}
		for k := commanded; k < each; k++ {
			next[i].Samples[k].Value = point.FloatOf(1)
		}
	}
	defer s.start().stop()
	if len(commands) > 0 {
		_, err := s.CommandMany(b.Context(), commands, time.Minute)
		s.must(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for i := range scans {
			s.Hear(&scans[i])
		}
		scans, next = next, scans
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/devices/each, "ns/sample")
}

func TestWhatIsAmissSaysWhyTheLastWriteFailed(t *testing.T) {
	for text, want := range map[string]struct {
		kind   fault.Kind
		output control.Output
	}{
		"server device busy": {fault.Unavailable, control.Failed},
		"no route":           {fault.Unreachable, control.Failed},
		"no answer":          {fault.Timeout, control.Unknown},
	} {
		t.Run(text, func(t *testing.T) {
			virtual(t, 1, func(t *testing.T, s *site) {
				defer s.start().stop()
				s.plant.disturb(failing(fault.Unreachable, errors.New("no line")))
				s.set(wish("tune", "b/d0/sp", 22))
				s.plant.disturb(failing(want.kind, errors.New(text)))
				pass(time.Minute)
				synctest.Wait()
				list := s.MismatchedPoints()
				if len(list) != 1 || list[0].Output != want.output || !strings.Contains(list[0].Why, text) {
					t.Errorf("amiss is %+v", list)
				}
				s.plant.disturb(failing(want.kind, errors.New("something else")))
				pass(time.Minute)
				if list := s.MismatchedPoints(); len(list) != 1 || !strings.Contains(list[0].Why, "something else") {
					t.Errorf("later amiss is %+v", list)
				}
			})
		})
	}
}
