package device

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

func TestALostLineGivesBadScansInEverySlotAndRecordsThemNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{RedialMost: 10 * time.Second})
		s.apply(s.device("l", "a"), s.device("l", "b"))
		time.AfterFunc(15*time.Second, func() { s.plant.setCut("l", true) })
		time.AfterFunc(155*time.Second, func() { s.plant.setCut("l", false) })
		if err := s.runFor(241 * time.Second); err != nil {
			t.Fatal(err)
		}
		for _, d := range []point.Path{"b/a", "b/b"} {
			scans := s.out.scansOf(d)
			if len(scans) != 24 {
				t.Errorf("%s: %d scans in 24 slots", d, len(scans))
			}
			for _, scan := range scans {
				down := scan.At > 15*time.Second && scan.At < 155*time.Second
				if down && scan.Quality != point.BadUnreachable {
					t.Errorf("%s: %v at %v although the line is lost", d, scan.Quality, scan.At)
				}
			}
			if last := scans[len(scans)-1]; last.Quality != point.Good {
				t.Errorf("%s: %v at the end", d, last.Quality)
			}
			var bad []string
			for _, line := range s.out.recordedOf(d.Join("p")) {
				if strings.HasSuffix(line, "bad(unreachable)") {
					bad = append(bad, line)
				}
			}
			want := []string{"20s bad(unreachable)", "1m20s bad(unreachable)", "2m20s bad(unreachable)"}
			if diff := cmp.Diff(want, bad); diff != "" {
				t.Errorf("%s: recorded:\n%s", d, diff)
			}
		}
	})
}

func TestALostLineIsDialledAtGrowingDistance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{RedialMost: 30 * time.Second})
		s.plant.setCut("l", true)
		s.apply(s.device("l", "d", every(100*time.Millisecond)))
		if err := s.runFor(10 * time.Minute); err != nil {
			t.Fatal(err)
		}
		dials := s.plant.dialled("l")
		for i := 1; i < len(dials); i++ {
			full := min(time.Second<<(i-1), 30*time.Second)
			if i > 5 {
				full = 30 * time.Second
			}
			if gap := dials[i].Sub(dials[i-1]); gap < full/2 || gap > full+100*time.Millisecond {
				t.Errorf("dial %d came %v after the one before, want %v to %v", i, gap, full/2, full)
			}
		}
		if len(dials) < 20 || len(dials) > 45 {
			t.Errorf("%d dials in ten minutes", len(dials))
		}
		if n := s.log.count("line is lost"); n < 3 || n > 6 {
			t.Errorf("logged %d times for %d dials", n, len(dials))
		}
	})
}

func TestALineThatCameBackIsDialledAtShortDistanceAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.apply(s.device("l", "d", every(100*time.Millisecond)))
		s.plant.setCut("l", true)
		stop := s.start()
		pass(10 * time.Minute)
		s.plant.setCut("l", false)
		pass(2 * time.Minute)
		before := len(s.plant.dialled("l"))
		s.plant.setCut("l", true)
		pass(4 * time.Second)
		stop()
		if n := len(s.plant.dialled("l")) - before; n < 3 || n > 6 {
			t.Errorf("dialled %d times in the first four seconds of the second loss", n)
		}
	})
}

func TestAConnectionThatWasClosedWhileIdleCostsNoSample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		asked := 0
		s.plant.script("d", func(context.Context) error {
			asked++
			if asked%2 == 0 { // each connection answers once
				return fmt.Errorf("EOF: %w", driver.ErrNotConnected)
			}
			return nil
		})
		s.apply(s.device("l", "d"))
		if err := s.runFor(61 * time.Second); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slots("b/d", point.Good, 10e9, 10e9, 6), s.out.scansOf("b/d")); diff != "" {
			t.Error(diff)
		}
		if got := s.stateOf("b/d"); got.Reads != 6 || got.Failures != 0 {
			t.Errorf("%d reads, %d failures", got.Reads, got.Failures)
		}
	})
}

func TestADeadConnectionIsDialledAgainWhenNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.plant.script("d", func(ctx context.Context) error {
			if len(s.plant.dialled("l")) > 1 {
				return nil
			}
			return timesOut(time.Second)(ctx)
		})
		s.apply(s.device("l", "d"))
		if err := s.runFor(2 * time.Minute); err != nil {
			t.Fatal(err)
		}
		if got := s.stateOf("b/d"); got.Status != Online || got.Failures != 3 {
			t.Errorf("%v after %d failures", got.Status, got.Failures)
		}
	})
}

func TestAPanicInADriverIsAnInternalFaultOfItsDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.plant.script("bad", func(context.Context) error { panic("index out of range") })
		s.apply(s.device("l", "bad"), s.device("l", "well"), s.device("m", "other"))
		if err := s.runFor(10*time.Minute + 5*time.Second); err != nil {
			t.Fatal(err)
		}
		got := s.stateOf("b/bad")
		if got.LastErrorKind != fault.Internal || !strings.Contains(got.LastError, "index out of range") {
			t.Errorf("last error %q of kind %v", got.LastError, got.LastErrorKind)
		}
		if scans := s.out.scansOf("b/bad"); len(scans) != 60 || scans[30].Quality != point.Bad {
			t.Errorf("%d scans of the crashing device", len(scans))
		}
		for _, d := range []string{"well", "other"} {
			state := s.stateOf(point.Path("b/" + d))
			if state.Status != Online || state.Reads < 58 {
				t.Errorf("%s is %v after %d reads", d, state.Status, state.Reads)
			}
		}
		if s.log.count("scan.go") == 0 && s.log.count("plant_test.go") == 0 {
			t.Error("the stack was not logged")
		}
		if n := len(s.plant.dialled("l")); n < 5 {
			t.Errorf("the line of the crashing device was dialled %d times", n)
		}
		if n := s.log.count("driver crashed"); n > 6 {
			t.Errorf("logged %d crashes", n)
		}
	})
}

func TestADriverThatHangsStopsOnlyItsLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		release := make(chan struct{})
		s.plant.script("stuck", hangs(release))
		s.apply(s.device("l", "stuck"), s.device("l", "behind"), s.device("m", "well"))
		stop := s.start()
		pass(5*time.Minute + time.Millisecond)

		for _, path := range []point.Path{"b/stuck", "b/behind"} {
			got := s.stateOf(path)
			if got.Status != Hung || !strings.Contains(got.LastError, "busy with b/stuck for 4m50s") {
				t.Errorf("%s is %v: %s", path, got.Status, got.LastError)
			}
			scans := s.out.scansOf(path)
			if diff := cmp.Diff([]seen{{path, -1, point.BadStale}}, scans); diff != "" {
				t.Error(diff)
			}
		}
		if got := s.stateOf("b/well"); got.Reads != 30 {
			t.Errorf("another line was read %d times", got.Reads)
		}
		if n := s.log.count("line stands still"); n < 5 || n > 10 {
			t.Errorf("logged %d times", n)
		}
		if _, err := s.Read(t.Context(), "b/behind", nil); !fault.Is(err, fault.Unavailable) {
			t.Errorf("a request to the line returned %v", err)
		}
		s.plant.script("stuck", nil)
		close(release)
		pass(11 * time.Second)
		if got := s.stateOf("b/stuck"); got.Status != Online {
			t.Errorf("%v after the driver returned", got.Status)
		}
		stop()
	})
}

func TestRunLeavesADriverBehindThatNeverReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		release := make(chan struct{})
		s.plant.script("stuck", hangs(release))
		s.apply(s.device("serial3", "stuck"), s.device("m", "well"))
		err := s.runFor(30 * time.Second)
		if !fault.Is(err, fault.Internal) || !strings.Contains(err.Error(), "driver on serial3:") {
			t.Errorf("Run returned %v", err)
		}
		close(release)
		synctest.Wait()
	})
}

func TestErrorsOfADeviceThatAnswersCauseNoBackOff(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want point.Quality
	}{
		"the device says no":            {fault.E("x", fault.Rejected, "", errors.New("busy")), point.BadDevice},
		"the request is wrong":          {fault.E("x", fault.Invalid, "", errors.New("no such register")), point.BadConfig},
		"the answer cannot be decoded":  {fault.E("x", fault.Corrupt, "", errors.New("checksum")), point.BadValue},
		"nobody classified the problem": {errors.New("odd"), point.Bad},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, Limits{})
				s.plant.script("d", func(context.Context) error { return c.err })
				s.apply(s.device("l", "d"))
				if err := s.runFor(61 * time.Second); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(slots("b/d", c.want, 10e9, 10e9, 6), s.out.scansOf("b/d")); diff != "" {
					t.Error(diff)
				}
				if n := len(s.plant.asked("d")); n != 6 {
					t.Errorf("asked %d times in six slots", n)
				}
			})
		})
	}
}

func TestADriverThatAnswersForFewerPointsIsAtFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		c := s.device("l", "d")
		c.Kind.Dial = func(context.Context, driver.Config) (driver.Line, error) { return shortLine{}, nil }
		s.apply(c)
		if err := s.runFor(11 * time.Second); err != nil {
			t.Fatal(err)
		}
		got := s.stateOf("b/d")
		want := "b/d: driver plant returned 1 samples for 2 points: this is a defect of the driver"
		if got.LastError != want || got.LastErrorKind != fault.Internal {
			t.Errorf("last error %q of kind %v", got.LastError, got.LastErrorKind)
		}
	})
}

// shortLine is a line and a session that always reads one sample.
type shortLine struct{}

func (shortLine) Open(context.Context, driver.Config) (driver.Session, error) {
	return shortLine{}, nil
}

func (shortLine) Read(context.Context, []string) ([]point.Sample, error) {
	return make([]point.Sample, 1), nil
}

func (shortLine) Close() error { return nil }

func TestADeviceThatAnswersOnlyInPartIsOnlineAndSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		link := &partialLine{until: time.Now().Add(35 * time.Second), why: fault.E("", fault.Timeout, "", fmt.Errorf("%w: 7 requests need about 14s", driver.ErrScanCut))}
		c := s.device("l", "d")
		c.Kind.Dial = func(context.Context, driver.Config) (driver.Line, error) { return link, nil }
		s.apply(c)
		check := func(problem string) {
			t.Helper()
			if got := s.stateOf("b/d"); got.Problem != problem || got.Status != Online {
				t.Errorf("the device is %v, its problem %q, want online and %q", got.Status, got.Problem, problem)
			}
		}
		stop := s.start()
		pass(31 * time.Second)
		synctest.Wait()
		check("the scan was cut: 7 requests need about 14s; it may take 1s: raise devices.b/d.timeout, or read less")
		if n := s.log.count("not for all points"); n != 1 {
			t.Errorf("%d warnings in three scans", n)
		}
		pass(10 * time.Second)
		synctest.Wait()
		check("")
		stop()
	})
}

// partialLine is a line and a session that answers, until then with one bad point for a reason.
type partialLine struct {
	until time.Time
	why   error
}

func (p *partialLine) Open(context.Context, driver.Config) (driver.Session, error) { return p, nil }

func (p *partialLine) Read(_ context.Context, names []string) ([]point.Sample, error) {
	samples := make([]point.Sample, len(names))
	for i := range samples {
		samples[i] = point.Sample{Value: point.IntOf(1)}
	}
	if p.Diagnose() != nil {
		samples[0] = point.Sample{Quality: point.BadTimeout}
	}
	return samples, nil
}

func (p *partialLine) Diagnose() error {
	if time.Now().Before(p.until) {
		return p.why
	}
	return nil
}

func (p *partialLine) Close() error { return nil }
