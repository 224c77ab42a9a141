package device

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/fault"
	"voltbus/point"
)

func TestWhenALostLineIsBackItsSilentDevicesAreAskedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{Probe: time.Hour, RedialMost: time.Second})
		s.plant.script("dead", timesOut(100*time.Millisecond))
		s.apply(s.device("l", "well"), s.device("l", "dead"))
		stop := s.start()
		pass(time.Hour + 5*time.Second)
		s.plant.setCut("l", true)
		pass(time.Minute)
		s.plant.setCut("l", false)
		s.plant.script("dead", nil)
		pass(20 * time.Second)
		stop()
		if got := s.stateOf("b/dead"); got.Status != Online {
			t.Errorf("%v twenty seconds after all is well", got.Status)
		}
	})
}

func TestASilentDeviceOfAnOverloadedLineIsStillProbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.plant.script("dead", timesOut(100*time.Millisecond))
		s.plant.script("slow", takes(700*time.Millisecond))
		s.plant.script("slower", takes(900*time.Millisecond))
		s.apply(s.device("l", "dead", every(time.Second)), s.device("l", "slow", every(time.Second)),
			s.device("l", "slower", every(time.Second)))
		stop := s.start()
		pass(5 * time.Minute)
		s.plant.script("dead", nil)
		pass(3 * time.Minute)
		asked, begin := false, time.Since(s.out.start)
		if _, err := s.Read(t.Context(), "b/slow", nil); err == nil {
			asked = true
		}
		if took := time.Since(s.out.start) - begin; !asked || took > 3*time.Second {
			t.Errorf("a request to the overloaded line took %v", took)
		}
		stop()
		if got := s.stateOf("b/dead"); got.Status != Online {
			t.Errorf("%v three minutes after it could answer", got.Status)
		}
	})
}

func TestASilentDeviceThatAnswersARequestGivesItsSlotOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.plant.script("d", timesOut(100*time.Millisecond))
		s.plant.script("slow", takes(200*time.Millisecond))
		s.apply(s.device("l", "d"), s.device("l", "slow"))
		stop := s.start()
		pass(15 * time.Second)
		s.plant.script("d", nil)
		pass(5*time.Second + 100*time.Millisecond) // its probe waits for the other's read
		if _, err := s.Read(t.Context(), "b/d", nil); err != nil {
			t.Error(err)
		}
		pass(15 * time.Second)
		stop()
		want := []seen{{"b/d", 10e9, point.BadTimeout}, {"b/d", 20e9, 0}, {"b/d", 30e9, 0}}
		if diff := cmp.Diff(want, s.out.scansOf("b/d")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestADeviceThatIsRemovedWhileItWaitsForItsProbeIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		devices := []Config{s.device("l", "well"), s.device("l", "a"), s.device("l", "b")}
		s.plant.script("a", timesOut(800*time.Millisecond))
		s.plant.script("b", timesOut(800*time.Millisecond))
		s.apply(devices...)
		stop := s.start()
		pass(21 * time.Second) // a was probed at 20, and b waits
		asked := len(s.plant.asked("b"))
		s.apply(devices[:2]...)
		pass(time.Minute)
		stop()
		if n := len(s.plant.asked("b")); n != asked || n != 1 {
			t.Errorf("asked %d times, %d before it was removed", n, asked)
		}
		if n := len(s.out.scansOf("b/b")); n != 1 {
			t.Errorf("%d scans", n)
		}
	})
}

func TestASilentDeviceCostsItsLineLittleAndComesBackByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.plant.script("dead", timesOut(500*time.Millisecond))
		s.apply(s.device("l", "dead", every(time.Second)), s.device("l", "well", every(time.Second)))
		time.AfterFunc(10*time.Minute-time.Millisecond, func() { s.plant.script("dead", nil) })
		stop := s.start()
		pass(10*time.Minute - 10*time.Millisecond)

		dead, well := s.stateOf("b/dead"), s.stateOf("b/well")
		if well.Reads != 599 || well.Overruns != 0 {
			t.Errorf("the healthy device: %d reads, %d overruns", well.Reads, well.Overruns)
		}
		if dead.Failures > 20 || dead.Failures < 10 {
			t.Errorf("the silent device was asked %d times in ten minutes", dead.Failures)
		}
		if sum := dead.Failures + dead.Skipped + dead.Overruns; sum != 599 || dead.Status != Offline {
			t.Errorf("%d slots of the silent device are accounted for; it is %v", sum, dead.Status)
		}
		if dead.LastError != "no answer" || dead.LastErrorKind != fault.Timeout {
			t.Errorf("last error %q of kind %v", dead.LastError, dead.LastErrorKind)
		}
		if n := s.log.count("b/dead"); n > 5 {
			t.Errorf("logged %d times", n)
		}
		pass(70 * time.Second)
		stop()
		scans := s.out.scansOf("b/dead")
		if len(scans) != 669 && len(scans) != 670 {
			t.Errorf("%d scans in 669 or 670 slots", len(scans))
		}
		if last := scans[len(scans)-1]; last.Quality != point.Good {
			t.Errorf("%v after the device came back", last.Quality)
		}
		if s.log.count("device answers again") != 1 {
			t.Error("the recovery was not logged")
		}
	})
}

func TestProbesOfManySilentDevicesAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{Probe: 10 * time.Second})
		devices := []Config{s.device("l", "well", every(time.Second))}
		var times []time.Time
		for i := range 20 {
			name := fmt.Sprint("dead", i)
			s.plant.script(name, func(ctx context.Context) error {
				times = append(times, time.Now())
				return timesOut(200 * time.Millisecond)(ctx)
			})
			devices = append(devices, s.device("l", name, every(time.Second)))
		}
		s.apply(devices...)
		if err := s.runFor(5*time.Minute + 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		// The first slot asks all, which takes four seconds; from then on each probe leaves
		// four times its own time to the others.
		for i := 22; i < len(times); i++ {
			if gap := times[i].Sub(times[i-1]); gap < time.Second {
				t.Fatalf("probe %d came %v after the one before", i, gap)
			}
		}
		well := s.stateOf("b/well")
		if well.Overruns > 4 || well.Reads+well.Overruns != 300 {
			t.Errorf("the healthy device: %d reads, %d overruns", well.Reads, well.Overruns)
		}
		for _, d := range s.Devices()[1:] {
			if d.Failures < 8 {
				t.Errorf("%s was probed only %d times", d.Path, d.Failures)
			}
		}
	})
}
