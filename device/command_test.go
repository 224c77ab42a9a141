package device

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

func TestReadingOnRequestNeedsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.apply(s.device("l", "d", every(time.Hour)))
		stop := s.start()
		defer stop()
		pass(time.Second)
		got, err := s.Read(t.Context(), "b/d", []string{"q"})
		if err != nil {
			t.Fatal(err)
		}
		want := []point.Sample{{Point: "b/d/q", Time: s.out.start.Add(time.Second), Value: point.IntOf(1)}}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(point.Value{})); diff != "" {
			t.Error(diff)
		}
		if all, err := s.Read(t.Context(), "b/d", nil); err != nil || len(all) != 2 {
			t.Errorf("all points: %v, %v", all, err)
		}
	})
}

func TestWhoAsksBeforeTheFleetRunsWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.apply(s.device("l", "d", every(time.Hour)))
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Read(impatient, "b/d", nil); !fault.Is(err, fault.Timeout) {
			t.Errorf("without a fleet that runs: %v", err)
		}
		wrote := make(chan error, 1)
		go func() {
			_, err := s.Write(t.Context(), "b/d/p", point.IntOf(7))
			wrote <- err
		}()
		many := make(chan []Outcome, 1)
		go func() { many <- s.WriteMany(t.Context(), []Setting{{Point: "b/d/q", Value: point.IntOf(8)}}) }()
		synctest.Wait()
		if len(wrote)+len(many) > 0 {
			t.Error("it is answered before the fleet runs")
		}
		stop := s.start()
		defer stop()
		if err := <-wrote; err != nil {
			t.Errorf("the write: %v", err)
		}
		if list := <-many; list[0].Err != nil {
			t.Errorf("the writes: %+v", list)
		}
	})
}

func TestAWriteIsDoneOnceAndItsResultEmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		c := s.device("l", "d", every(time.Hour))
		c.Driver.(*wiring).points = []string{"p", "group/q"}
		s.apply(c, s.device("m", "d/group", every(time.Hour)))
		stop := s.start()
		defer stop()
		pass(time.Second)
		// Both the point q of d/group and the point group/q of d: the longer device wins.
		got, err := s.Write(t.Context(), "b/d/group/q", point.IntOf(7))
		if err != nil || got != point.IntOf(7) {
			t.Fatalf("wrote %v, %v", got, err)
		}
		if _, err := s.Write(t.Context(), "b/d/p", point.IntOf(8)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"d/group/q=7", "d/p=8"}, written(s)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"1s good"}, s.out.recordedOf("b/d/p")); diff != "" {
			t.Error(diff)
		}
	})
}

// written returns what was written, in order.
func written(s *site) []string {
	s.plant.mu.Lock()
	defer s.plant.mu.Unlock()
	return s.plant.written
}

func TestRequestsThatCannotBeServedSayWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		plain := s.device("plain", "plain")
		plain.Driver.(*wiring).plain = true
		s.apply(s.device("l", "d"), plain,
			s.device("off", "off", func(c *Config) { c.Disabled = true }),
			s.device("cut", "cut", every(time.Second)))
		s.plant.setCut("cut", true)
		stop := s.start()
		pass(time.Second)
		for name, c := range map[string]struct {
			do   func() error
			kind fault.Kind
			text string
		}{
			"an unknown device": {
				func() error { _, err := s.Read(t.Context(), "b/x", nil); return err },
				fault.NotFound, "b/x: there is no such device",
			},
			"an unknown point": {
				func() error { _, err := s.Read(t.Context(), "b/d", []string{"x"}); return err },
				fault.NotFound, "b/d/x: the device has no such point",
			},
			"a write to an unknown point": {
				func() error { _, err := s.Write(t.Context(), "b/d/x", point.IntOf(1)); return err },
				fault.NotFound, "b/d/x: no device has such a point",
			},
			"a disabled device": {
				func() error { _, err := s.Write(t.Context(), "b/off/p", point.IntOf(1)); return err },
				fault.Unavailable, "b/off/p: it is disabled in the configuration",
			},
			"a driver that cannot write": {
				func() error { _, err := s.Write(t.Context(), "b/plain/p", point.IntOf(1)); return err },
				fault.Refused, "b/plain/p: its driver cannot write",
			},
		} {
			err := c.do()
			if !fault.Is(err, c.kind) || err.Error() != c.text {
				t.Errorf("%s: %v of kind %v", name, err, fault.KindOf(err))
			}
		}
		_, lost := s.Read(t.Context(), "b/cut", nil)
		if !fault.Is(lost, fault.Unreachable) {
			t.Errorf("a lost line: %v of kind %v", lost, fault.KindOf(lost))
		}
		<-time.After(20 * time.Millisecond) // of the test's own clock
		if _, err := s.Read(t.Context(), "b/cut", nil); err == nil || err.Error() != lost.Error() {
			t.Errorf("what is said of a lost line is out of date %v later: %v", 20*time.Millisecond, lost)
		}
		if n := len(s.plant.dialled("cut")); n != 1 {
			t.Errorf("a request made the resting line dial: %d dials", n)
		}
		stop()
		if _, err := s.Read(t.Context(), "b/d", nil); !fault.Is(err, fault.Unavailable) {
			t.Errorf("after Run: %v", err)
		}
	})
}

func TestAStormOfWritesDelaysNoScanByMoreThanAnInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		for _, name := range []string{"a", "b", "c"} {
			s.plant.script(name, takes(20*time.Millisecond))
		}
		s.apply(s.device("l", "a", every(time.Second)), s.device("l", "b", every(time.Second)), s.device("l", "c", every(time.Second)))
		stop := s.start()
		var writers sync.WaitGroup
		for i := range 1000 {
			writers.Go(func() {
				path := point.Path([]string{"b/a/p", "b/b/p", "b/c/p"}[i%3])
				if _, err := s.Write(t.Context(), path, point.IntOf(int64(i))); err != nil {
					t.Error(err)
				}
			})
		}
		writers.Wait()
		took := time.Since(s.out.start)
		stop()
		if took < 20*time.Second || took > 24*time.Second {
			t.Errorf("the storm took %v", took)
		}
		for i, scan := range s.out.live {
			if late := s.out.times[i] - scan.At; scan.At >= 0 && late > time.Second {
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

func TestAFullQueueRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{Queue: 2})
		s.plant.script("d", takes(800*time.Millisecond))
		s.apply(s.device("l", "d"))
		stop := s.start()
		pass(time.Second)
		var done sync.WaitGroup
		var mu sync.Mutex
		kinds := make(map[string]int)
		for range 10 {
			done.Go(func() {
				_, err := s.Read(t.Context(), "b/d", nil)
				mu.Lock()
				defer mu.Unlock()
				kinds[fmt.Sprint(err)]++
			})
			synctest.Wait()
		}
		done.Wait()
		stop()
		want := map[string]int{"<nil>": 3, "b/d: too many requests wait for its line; try again later": 7}
		if diff := cmp.Diff(want, kinds); diff != "" {
			t.Error(diff)
		}
	})
}

func TestACallerThatGivesUpBlamesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.plant.script("d", takes(800*time.Millisecond))
		s.apply(s.device("l", "d"))
		stop := s.start()
		pass(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := s.Read(ctx, "b/d", nil)
		if !fault.Is(err, fault.Timeout) || time.Since(s.out.start) != 1100*time.Millisecond {
			t.Errorf("got %v of kind %v after %v", err, fault.KindOf(err), time.Since(s.out.start))
		}
		pass(10 * time.Second)
		if got := s.stateOf("b/d"); got.Failures != 0 || got.Status != Online {
			t.Errorf("%v after %d failures", got.Status, got.Failures)
		}
		stop()
	})
}

func TestAWriteWhoseCallerGaveUpIsNotDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.plant.script("d", takes(800*time.Millisecond))
		s.apply(s.device("l", "d"))
		stop := s.start()
		pass(10*time.Second + 100*time.Millisecond) // the line is busy until 10.8
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := s.Write(ctx, "b/d/p", point.IntOf(1)); !fault.Is(err, fault.Timeout) {
			t.Errorf("got %v of kind %v", err, fault.KindOf(err))
		}
		pass(5 * time.Second)
		stop()
		if w := written(s); len(w) > 0 {
			t.Errorf("written: %v", w)
		}
	})
}

func TestAWriteIsNotRepeatedWhenTheLineIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.apply(s.device("l", "d"))
		stop := s.start()
		pass(11 * time.Second)
		s.plant.script("d", func(context.Context) error {
			return fmt.Errorf("EOF: %w", driver.ErrNotConnected)
		})
		_, err := s.Write(t.Context(), "b/d/p", point.IntOf(1))
		if !fault.Is(err, fault.Timeout) { // it may have arrived
			t.Errorf("got %v of kind %v", err, fault.KindOf(err))
		}
		s.plant.script("d", nil)
		if _, err := s.Write(t.Context(), "b/d/p", point.IntOf(2)); err != nil {
			t.Errorf("the next write: %v", err)
		}
		stop()
		if diff := cmp.Diff([]string{"d/p=1", "d/p=2"}, written(s)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRequestsWaitingWhenTheFleetStopsAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		release := make(chan struct{})
		s.plant.script("d", hangs(release))
		s.apply(s.device("l", "d"))
		stop := s.start()
		errs := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := s.Read(context.Background(), "b/d", nil)
				errs <- err
			}()
			synctest.Wait()
		}
		time.AfterFunc(time.Second, func() { close(release) })
		stop()
		first, second := <-errs, <-errs
		if !fault.Is(first, fault.Unavailable) {
			t.Errorf("the waiting one: %v", first)
		}
		if second != nil {
			t.Errorf("the one under way: %v", second)
		}
	})
}

func TestAReportingDeviceIsHeardBetweenSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.apply(s.device("l", "d", func(c *Config) { c.Subscribe, c.Interval, c.Offset = true, time.Minute, 5*time.Second }))
		stop := s.start()
		pass(35 * time.Second)
		if _, err := s.Write(t.Context(), "b/d/p", point.IntOf(3)); err != nil {
			t.Error(err)
		}
		pass(33 * time.Second)
		stop()
		want := []string{
			"5s good",                          // read
			"10s good", "20s good", "30s good", // reports
			"35s good", // written
			"40s good", "50s good", "1m0s good",
			"1m5s good", // read
		}
		got := s.out.recordedOf("b/d/p")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if n := s.plant.opened("d"); n != 1 {
			t.Errorf("%d sessions", n)
		}
	})
}

func TestADeviceThatOnlyReportsIsDialledAtOnceAndAgainWhenLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.apply(s.device("l", "d", func(c *Config) { c.Subscribe, c.Interval = true, 0 }))
		stop := s.start()
		pass(15 * time.Second)
		s.plant.setCut("l", true)
		pass(2 * time.Minute)
		if got := s.stateOf("b/d"); got.Status != Offline {
			t.Errorf("%v while the line is cut", got.Status)
		}
		s.plant.setCut("l", false)
		pass(2 * time.Minute)
		if got := s.stateOf("b/d"); got.Status != Online {
			t.Errorf("%v after the line is back", got.Status)
		}
		stop()
		if first := s.plant.dialled("l")[0].Sub(s.out.start); first != 0 {
			t.Errorf("dialled after %v", first)
		}
		qualities := make(map[point.Quality]int)
		for _, scan := range s.out.scansOf("b/d") {
			qualities[scan.Quality]++
		}
		if qualities[point.BadUnreachable] == 0 || qualities[point.Good] < 6 || len(qualities) != 2 {
			t.Errorf("got %v", qualities)
		}
	})
}

func TestALineIsHeardFromAllItsReportingDevicesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		var devices []Config
		for i := range 100 {
			devices = append(devices, s.device("l", fmt.Sprint("d", i), func(c *Config) { c.Subscribe, c.Interval = true, 0 }))
		}
		s.apply(devices...)
		stop := s.start()
		pass(time.Second) // no device speaks by itself within the next nine
		for turn := range int64(3) {
			for i := range 100 {
				s.plant.speak(fmt.Sprint("d", i), "p", turn)
			}
			synctest.Wait() // without any time passing
			for _, d := range s.Devices() {
				if d.Reports != uint64(turn)+1 || d.Status != Online {
					t.Errorf("%s is %v and was heard %d times, want %d", d.Path, d.Status, d.Reports, turn+1)
				}
			}
		}
		if s.plant.takes > 300 {
			t.Errorf("%d takes for 300 reports", s.plant.takes)
		}
		s.plant.setCut("l", true)
		pass(10 * time.Second)
		stop()
		for _, d := range s.Devices() {
			scans := s.out.scansOf(d.Path)
			if last := scans[len(scans)-1]; last.Quality != point.BadUnreachable || d.Status != Offline {
				t.Errorf("%s is %v, %v after its line was cut", d.Path, d.Status, last.Quality)
			}
		}
	})
}

func TestLostReportsAreCountedAndToldWithoutCallingTheDeviceSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.apply(s.device("l", "d", func(c *Config) { c.Subscribe, c.Interval = true, 0 }))
		stop := s.start()
		pass(time.Second)
		s.plant.speak("d", "p", 1)
		for _, n := range []uint64{7, 5} {
			s.plant.lose("d", n)
			synctest.Wait()
		}
		stop()
		got := s.stateOf("b/d")
		if got.Lost != 12 || got.Status != Online || got.Failures != 0 {
			t.Errorf("%d are lost, the device is %v after %d failures", got.Lost, got.Status, got.Failures)
		}
		if got.LastErrorKind != fault.Unavailable || !strings.Contains(got.LastError, "5 reports were lost") {
			t.Errorf("it says %q (%v)", got.LastError, got.LastErrorKind)
		}
	})
}

func TestReportsBecomeScansThatHoldEachPointOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		release := make(chan struct{})
		s.plant.script("d", hangs(release))
		s.apply(s.device("l", "d", func(c *Config) { c.Subscribe, c.Interval, c.Timeout = true, time.Hour, time.Minute }))
		stop := s.start()
		reading := make(chan error, 1)
		go func() {
			_, err := s.Read(t.Context(), "b/d", nil)
			reading <- err
		}()
		synctest.Wait()
		for _, name := range []string{"p", "q", "p", "p", "q", "nonsense"} {
			s.plant.speak("d", name, 5)
		}
		close(release)
		if err := <-reading; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		stop()
		if got := len(s.out.scansOf("b/d")); got != 3 { // p q, p, p q
			t.Errorf("%d scans", got)
		}
		if got := len(s.out.recordedOf("b/d/p")) + len(s.out.recordedOf("b/d/q")); got != 5 {
			t.Errorf("%d samples", got)
		}
	})
}

func TestADriverThatCannotSubscribeIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		c := s.device("l", "d", func(c *Config) { c.Subscribe, c.Interval = true, 0 })
		c.Driver.(*wiring).plain = true
		s.apply(c)
		if err := s.runFor(time.Minute); err != nil {
			t.Fatal(err)
		}
		got := s.stateOf("b/d")
		if want := "b/d: driver plant cannot subscribe; remove subscribe and give an interval"; got.LastError != want {
			t.Errorf("last error %q", got.LastError)
		}
	})
}
