package device

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// slots returns n good scans of a device from first on.
func slots(device point.Path, q point.Quality, first, step time.Duration, n int) []seen {
	var want []seen
	for i := range n {
		want = append(want, seen{device, first + time.Duration(i)*step, q})
	}
	return want
}

func TestADayOfReadsIsAlignedToTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		pass(3300 * time.Millisecond)
		s.apply(s.device("l", "d"))
		if err := s.runFor(24 * time.Hour); err != nil {
			t.Fatal(err)
		}
		want := slots("b/d", point.Good, 10*time.Second, 10*time.Second, 24*360)
		if diff := cmp.Diff(want, s.out.scansOf("b/d")); diff != "" {
			t.Error(diff)
		}
		if n := s.stateOf("b/d").Overruns; n != 0 {
			t.Errorf("%d overruns", n)
		}
	})
}

func TestAGroupIsSpreadOverItsPeriodAndMovedByItsOffset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		var devices []Config
		for _, name := range []string{"a", "b", "c", "d"} {
			devices = append(devices, s.device(name, name, func(c *Config) {
				c.Group, c.Stagger, c.Offset = "g", 8*time.Second, time.Second
			}))
		}
		s.apply(devices...)
		if err := s.runFor(10500 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
		want := []seen{{"b/a", 1e9, 0}, {"b/c", 3e9, 0}, {"b/b", 5e9, 0}, {"b/d", 7e9, 0}}
		if diff := cmp.Diff(want, s.out.live); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSamplesCarryFullPathsAndTheTimeOfTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.plant.script("d", takes(20*time.Millisecond))
		s.apply(s.device("l", "d"))
		if err := s.runFor(11 * time.Second); err != nil {
			t.Fatal(err)
		}
		answered := s.out.start.Add(10*time.Second + 20*time.Millisecond)
		want := []point.Sample{
			{Point: "b/d/p", Time: answered, Value: point.IntOf(1)},
			{Point: "b/d/q", Time: answered, Value: point.IntOf(1)},
		}
		if diff := cmp.Diff(want, s.out.recorded, cmp.AllowUnexported(point.Value{})); diff != "" {
			t.Error(diff)
		}
		if s.out.times[0] != 10*time.Second+20*time.Millisecond || s.out.forms != FormScan {
			t.Errorf("scan at %v in forms %v", s.out.times[0], s.out.forms)
		}
	})
}

func TestADeviceMayBeReadOnceWhenItJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		pass(time.Second)
		s.apply(s.device("l", "d", func(c *Config) { c.ReadAtStart = true }))
		if err := s.runFor(20 * time.Second); err != nil {
			t.Fatal(err)
		}
		want := []seen{{"b/d", -1, point.Good}, {"b/d", 10 * time.Second, point.Good}, {"b/d", 20 * time.Second, point.Good}}
		if diff := cmp.Diff(want, s.out.scansOf("b/d")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestMissedSlotsAreCountedAndNotMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.plant.script("d", takes(25*time.Second))
		s.apply(s.device("l", "d", func(c *Config) { c.Timeout, c.StaleAfter = time.Minute, time.Minute }))
		if err := s.runFor(80 * time.Second); err != nil {
			t.Fatal(err)
		}
		// Read at 10, done at 35: slot 20 is missed, slot 30 is read late, and done at 60.
		want := []seen{{"b/d", 10e9, 0}, {"b/d", 30e9, 0}}
		if diff := cmp.Diff(want, s.out.scansOf("b/d")); diff != "" {
			t.Error(diff)
		}
		if n := s.stateOf("b/d").Overruns; n != 3 {
			t.Errorf("%d overruns, want 3", n)
		}
	})
}

func TestALineThatIsBehindServesAllItsDevicesInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		var devices []Config
		for _, name := range []string{"a", "b", "c"} {
			s.plant.script(name, takes(6*time.Second))
			devices = append(devices, s.device("l", name, func(c *Config) { c.Timeout = time.Minute }))
		}
		s.apply(devices...)
		if err := s.runFor(10 * time.Minute); err != nil {
			t.Fatal(err)
		}
		for _, d := range s.Devices() {
			if d.Reads < 30 || d.Reads > 35 {
				t.Errorf("%s was read %d times of about 33", d.Path, d.Reads)
			}
		}
	})
}

func TestAWrongConfigurationChangesNothingAndNamesEveryProblem(t *testing.T) {
	s := newSite(t, Limits{})
	s.apply(s.device("l", "d"))
	err := s.Apply([]Config{
		s.device("l", "a", every(0)),
		s.device("l", "b", func(c *Config) { c.Stagger = -1 }),
		s.device("l", "c", func(c *Config) { c.Driver = nil }),
		s.device("l", "e"), s.device("l", "e"),
	})
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("got kind %v", fault.KindOf(err))
	}
	want := strings.Join([]string{
		"b/a: interval is 0s; write 1ms or more",
		"b/b: stagger is -1ns; write a period of 0 or more",
		"b/c: a device needs a driver and its configuration",
		"b/e: two devices have this path; give one of them another",
	}, "\n")
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
	if states := s.Devices(); len(states) != 1 || states[0].Path != "b/d" {
		t.Errorf("devices changed: %v", states)
	}
}

func TestAReloadLeavesUnchangedDevicesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		kept, changed, removed := s.device("l", "kept"), s.device("l", "changed"), s.device("l", "removed")
		s.apply(kept, changed, removed)
		stop := s.start()
		pass(35 * time.Second)
		changed.Driver = &wiring{plant: s.plant, line: "l", unit: "changed", points: []string{"new"}}
		s.apply(s.device("m", "added"), kept, changed)
		pass(30 * time.Second)
		stop()

		if diff := cmp.Diff(slots("b/kept", point.Good, 10e9, 10e9, 6), s.out.scansOf("b/kept")); diff != "" {
			t.Errorf("kept device:\n%s", diff)
		}
		if n := s.plant.opened("kept"); n != 1 {
			t.Errorf("kept device had %d sessions", n)
		}
		if n := len(s.plant.dialled("l")); n != 1 {
			t.Errorf("its line was dialled %d times", n)
		}
		if n := s.stateOf("b/kept").Reads; n != 6 {
			t.Errorf("its statistics were lost: %d reads", n)
		}
		if n := s.plant.opened("changed"); n != 2 {
			t.Errorf("changed device had %d sessions, want 2", n)
		}
		if diff := cmp.Diff(slots("b/removed", point.Good, 10e9, 10e9, 3), s.out.scansOf("b/removed")); diff != "" {
			t.Errorf("removed device:\n%s", diff)
		}
		if diff := cmp.Diff(slots("b/added", point.Good, 40e9, 10e9, 3), s.out.scansOf("b/added")); diff != "" {
			t.Errorf("added device:\n%s", diff)
		}
	})
}

func TestALineOnWhichEveryDeviceChangedIsDialledAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		device := func(baud string) Config {
			c := s.device("l", "d")
			c.Driver.(*wiring).flavor = baud
			return c
		}
		s.apply(device("9600"))
		stop := s.start()
		pass(15 * time.Second)
		s.apply(device("19200"))
		pass(10 * time.Second)
		s.apply()
		pass(10 * time.Second)
		s.apply(device("19200"))
		pass(10 * time.Second)
		stop()
		if n := len(s.plant.dialled("l")); n != 3 {
			t.Errorf("dialled %d times, want 3", n)
		}
		want := []seen{{"b/d", 10e9, 0}, {"b/d", 20e9, 0}, {"b/d", 40e9, 0}}
		if diff := cmp.Diff(want, s.out.scansOf("b/d")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestADeviceThatMovesIsOpenedWhenItsEarlierSessionIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.plant.script("d", func(ctx context.Context) error {
			if time.Since(s.out.start) < 15*time.Second {
				return takes(20 * time.Second)(context.WithoutCancel(ctx))
			}
			return nil
		})
		s.apply(s.device("old", "d"))
		stop := s.start()
		pass(12 * time.Second)
		s.apply(s.device("new", "d"))
		pass(32 * time.Second)
		stop()
		// The old line is in its driver until 30; a second session would fail the test.
		if n := s.plant.opened("d"); n != 2 {
			t.Errorf("%d sessions, want 2", n)
		}
		if got := s.stateOf("b/d"); got.Status != Online || got.Failures == 0 {
			t.Errorf("got %v after %d failures", got.Status, got.Failures)
		}
	})
}

func TestADisabledDeviceIsKnownAndLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.apply(s.device("l", "d", func(c *Config) { c.Disabled = true }))
		if err := s.runFor(time.Minute); err != nil {
			t.Fatal(err)
		}
		if got := s.stateOf("b/d"); got.Status != Disabled || got.Line != "l" || got.Points != 2 {
			t.Errorf("got %+v", got)
		}
		if n := len(s.plant.dialled("l")); n != 0 {
			t.Errorf("dialled %d times", n)
		}
	})
}

func TestAFleetRunsOnlyOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		stop := s.start()
		if err := s.Run(t.Context()); !fault.Is(err, fault.Conflict) {
			t.Errorf("second Run returned %v", err)
		}
		stop()
	})
}

var _ driver.Config = (*wiring)(nil)

func TestADeviceThatNamesNoLineHasOneOfItsOwn(t *testing.T) {
	p := newPlant(t)
	f := New(nil, slog.New(slog.DiscardHandler), Limits{})
	var devices []Config
	for _, path := range []point.Path{"b/x", "b/y"} {
		devices = append(devices, Config{Path: path, Kind: p.kind(), Driver: &wiring{plant: p, unit: string(path)}, Interval: time.Second})
	}
	if err := f.Apply(devices); err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Devices() {
		if s.Line != string(s.Path) {
			t.Errorf("%s is on the line %q", s.Path, s.Line)
		}
	}
	if len(f.roster.lines) != 2 {
		t.Errorf("there are %d lines, want 2", len(f.roster.lines))
	}
}
