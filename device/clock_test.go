package device

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/device/clock"
	"voltbus/point"
)

func TestWhenTheClockJumpsSchedulesFollowItWithoutStormOrSilence(t *testing.T) {
	for name, jump := range map[string]time.Duration{
		"an hour forward": time.Hour, "an hour back": -time.Hour,
		"ten years forward": 87600 * time.Hour, "three seconds back": -3 * time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, Limits{})
				s.apply(s.device("l", "d"))
				time.AfterFunc(54500*time.Millisecond, func() { s.skew.Store(int64(jump)) })
				if err := s.runFor(125 * time.Second); err != nil {
					t.Fatal(err)
				}
				asked := s.plant.asked("d")
				for i := 1; i < len(asked); i++ {
					if gap := asked[i].Sub(asked[i-1]); gap < 5*time.Second || gap > 20*time.Second {
						t.Errorf("read %v after the read before", gap)
					}
				}
				uncertain := 0
				scans := s.out.scansOf("b/d")
				for i, scan := range scans {
					if scan.At%(10*time.Second) != 0 {
						t.Errorf("slot %v is not aligned", scan.At)
					}
					if scan.Quality == point.UncertainClock {
						uncertain++
						if i != 5 {
							t.Errorf("scan %d is uncertain, not the first after the jump", i)
						}
					}
				}
				if want := map[bool]int{true: 1, false: 0}[jump < 0]; uncertain != want {
					t.Errorf("%d uncertain scans, want %d", uncertain, want)
				}
				if n := s.stateOf("b/d").Overruns; n != 0 {
					t.Errorf("%d overruns", n)
				}
			})
		})
	}
}

func TestALineThatSleepsLearnsOfAJump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.apply(s.device("l", "d", every(time.Hour)))
		time.AfterFunc(10*time.Minute, func() { s.skew.Store(int64(30 * time.Minute)) })
		if err := s.runFor(31 * time.Minute); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slots("b/d", point.Good, time.Hour, time.Hour, 1), s.out.scansOf("b/d")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestASlowDriftOfTheClockIsNoJump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		start := time.Now()
		s.clock.Wall = func(now time.Time) time.Time { return clock.OnWall(now).Add(-now.Sub(start) / 2000) }
		s.apply(s.device("l", "d", every(time.Hour)))
		if err := s.runFor(24*time.Hour + time.Minute); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slots("b/d", point.Good, time.Hour, time.Hour, 24), s.out.scansOf("b/d")); diff != "" {
			t.Error(diff)
		}
		if n := s.clock.Jumps.Load(); n != 0 {
			t.Errorf("%d jumps", n)
		}
	})
}
