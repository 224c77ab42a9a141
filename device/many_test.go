package device

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/driver"
	"voltbus/driver/sim"
	"voltbus/fault"
	"voltbus/point"
)

func TestManyPointsAreSetInParallelOverLinesAndAnsweredOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		var settings []Setting
		var devices []Config
		for i := range 10 {
			name := fmt.Sprint("d", i)
			s.plant.script(name, takes(100*time.Millisecond))
			devices = append(devices, s.device(fmt.Sprint("l", i/2), name, every(time.Hour)))
			settings = append(settings, Setting{Point: point.Path("b/" + name + "/p"), Value: point.IntOf(int64(i))})
		}
		s.plant.script("d3", func(context.Context) error { return fault.E("plant", fault.Rejected, "", errors.New("no")) })
		s.plant.setCut("l4", true) // d8 and d9
		settings = append(settings, Setting{Point: "b/nothing/p", Value: point.IntOf(1)}, Setting{Point: "b/d0/q", Value: point.IntOf(77)})
		s.apply(devices...)
		defer s.start()()
		pass(time.Second)
		begin := time.Now()
		outcomes := s.WriteMany(t.Context(), settings)
		if took := time.Since(begin); took != 300*time.Millisecond { // d0, d1 and d0 again on one line
			t.Errorf("took %v, want as long as the slowest line", took)
		}
		for i, o := range outcomes {
			switch i {
			case 3:
				mustBe(t, i, o.Err, fault.Rejected)
			case 8, 9:
				mustBe(t, i, o.Err, fault.Unreachable)
			case 10:
				mustBe(t, i, o.Err, fault.NotFound)
			default:
				if o.Err != nil || o.Value != settings[i].Value {
					t.Errorf("setting %d gave %v, %v", i, o.Value, o.Err)
				}
			}
		}
	})
}

func mustBe(t *testing.T, i int, err error, kind fault.Kind) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Errorf("%d gave %v, want the kind %v", i, err, kind)
	}
}

func TestManyPointsAreReadADeviceAtATimeAndAnsweredOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.apply(s.device("l", "a", every(time.Hour)), s.device("m", "b", every(time.Hour)))
		s.plant.setCut("m", true)
		defer s.start()()
		pass(time.Second)
		before := len(s.plant.asked("a"))
		got := s.ReadMany(t.Context(), []point.Path{"b/a/q", "b/b/p", "b/a/p", "b/a/nothing"})
		if asked := len(s.plant.asked("a")) - before; asked != 1 {
			t.Errorf("the device was asked %d times", asked)
		}
		for _, i := range []int{0, 2} {
			if r := got[i]; r.Err != nil || r.Sample.Value != point.IntOf(1) || r.Sample.Point != [...]point.Path{"b/a/q", "", "b/a/p"}[i] {
				t.Errorf("reading %d is %+v", i, r)
			}
		}
		mustBe(t, 1, got[1].Err, fault.Unreachable)
		mustBe(t, 3, got[3].Err, fault.NotFound)
	})
}

func TestACallForManyPointsDelaysNeitherScansNorASingleCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{Queue: 2}) // the call counts as one
		for _, name := range []string{"a", "b"} {
			s.plant.script(name, takes(20*time.Millisecond))
		}
		s.apply(s.device("l", "a", every(time.Second)), s.device("l", "b", every(time.Second)))
		stop := s.start()
		settings := make([]Setting, 1000)
		for i := range settings {
			settings[i] = Setting{Point: []point.Path{"b/a/p", "b/b/p"}[i%2], Value: point.IntOf(int64(i))}
		}
		done := make(chan []Outcome)
		go func() { done <- s.WriteMany(t.Context(), settings) }()
		pass(5*time.Second + 7*time.Millisecond)
		begin := time.Now()
		if _, err := s.Write(t.Context(), "b/a/q", point.IntOf(5)); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 100*time.Millisecond { // two writes, and at most two scans
			t.Errorf("a single command took %v amid the call", took)
		}
		for i, o := range <-done {
			if o.Err != nil || o.Value != settings[i].Value {
				t.Fatalf("setting %d gave %v, %v", i, o.Value, o.Err)
			}
		}
		stop()
		for i, scan := range s.out.live {
			if late := s.out.times[i] - scan.At; scan.At >= 0 && late > 200*time.Millisecond {
				t.Errorf("%s was read %v late", scan.Device, late)
			}
		}
		for _, d := range s.Devices() {
			if d.Overruns > 0 {
				t.Errorf("%s: %d overruns", d.Path, d.Overruns)
			}
		}
	})
}

func TestWhoGivesUpACallForManyPointsGetsAnAnswerForEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.plant.script("a", takes(100*time.Millisecond))
		s.apply(s.device("l", "a", every(time.Hour)))
		defer s.start()()
		pass(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
		defer cancel()
		settings := make([]Setting, 10)
		for i := range settings {
			settings[i] = Setting{Point: "b/a/p", Value: point.IntOf(int64(i))}
		}
		outcomes := s.WriteMany(ctx, settings)
		for i, o := range outcomes {
			if i < 2 && o.Err != nil {
				t.Errorf("setting %d: %v", i, o.Err)
			}
			if i >= 2 && !fault.Is(o.Err, fault.Timeout) && !fault.Is(o.Err, fault.Canceled) {
				t.Errorf("setting %d gave %v", i, o.Err)
			}
		}
		pass(time.Second)
		if n := len(written(s)); n != 3 {
			t.Errorf("%d were begun, want 3: what was not begun is not done", n)
		}
	})
}

func TestACallForManyPointsIsAnsweredWhenTheFleetStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.plant.script("a", takes(900*time.Millisecond))
		s.apply(s.device("l", "a", every(time.Hour)))
		stop := s.start()
		pass(time.Second)
		done := make(chan []Outcome)
		go func() {
			done <- s.WriteMany(t.Context(), []Setting{{Point: "b/a/p", Value: point.IntOf(1)}, {Point: "b/a/p", Value: point.IntOf(2)}, {Point: "b/a/p", Value: point.IntOf(3)}})
		}()
		synctest.Wait()
		stop()
		for i, o := range <-done {
			if o.Err == nil {
				t.Errorf("setting %d was answered without an error", i)
			}
			if i > 0 {
				mustBe(t, i, o.Err, fault.Unavailable)
			}
		}
		for _, o := range s.WriteMany(t.Context(), []Setting{{Point: "b/a/p", Value: point.IntOf(1)}}) {
			mustBe(t, 0, o.Err, fault.Unavailable)
		}
	})
}

// BenchmarkWriteMany sets one point of each of 4,000 simulated devices in one call, on a line each
// and on 40 lines.
func BenchmarkWriteMany(b *testing.B) {
	for _, lines := range []int{4000, 40} {
		b.Run(fmt.Sprint(lines, " lines"), func(b *testing.B) {
			f := New(&counter{}, slog.New(slog.DiscardHandler), Limits{})
			devices, settings := make([]Config, 4000), make([]Setting, 4000)
			for i := range devices {
				c := sim.NewConfig()
				c.Seed, c.Line = int64(i), fmt.Sprint(i%lines)
				devices[i] = Config{Path: point.Path(fmt.Sprint("b/zone", i)), Kind: sim.Kind(), Driver: c, Interval: time.Minute, Publish: FormScan, Record: true}
				settings[i].Point = devices[i].Path.Join("setpoint")
			}
			if err := f.Apply(devices); err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan error, 1)
			go func() { done <- f.Run(ctx) }()
			round := 0
			write := func() {
				round++
				for i := range settings {
					settings[i].Value = point.FloatOf(float64(18 + round%5))
				}
				for _, o := range f.WriteMany(ctx, settings) {
					if o.Err != nil {
						b.Fatal(o.Err)
					}
				}
			}
			write() // opens every session, and moves every room from the beginning to now
			b.ReportAllocs()
			for b.Loop() {
				write()
			}
			cancel()
			if err := <-done; err != nil {
				b.Error(err)
			}
		})
	}
}

var _ driver.Writer = (*fullSession)(nil)
