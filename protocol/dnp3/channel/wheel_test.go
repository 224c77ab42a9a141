package channel

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// TestAlarmsRingOnTimeHoweverTheyAreMoved moves alarms at random and compares when they
// ring with when they should.
func TestAlarmsRingOnTimeHoweverTheyAreMoved(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		moves := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) [3]int {
			return [3]int{
				rapid.IntRange(0, 9).Draw(r, "alarm"), rapid.IntRange(-1, 20_000).Draw(r, "ms"),
				rapid.IntRange(0, 3000).Draw(r, "pause"),
			}
		}), 1, 40).Draw(r, "moves")
		synctest.Test(t, func(t *testing.T) { moveAlarms(t, moves) })
	})
}

func moveAlarms(t *testing.T, moves [][3]int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := newWheel()
	var running sync.WaitGroup
	running.Go(func() { w.run(ctx) })
	var alarms [10]alarm
	var want [10]time.Time // when each should ring, zero for never
	for i := range alarms {
		alarms[i].ring = func() {
			if late := time.Since(want[i]); want[i].IsZero() || late < 0 || late > tick {
				t.Errorf("alarm %d rings %v late", i, late)
			}
			want[i] = time.Time{}
		}
	}
	for _, m := range moves {
		at := time.Time{}
		if m[1] >= 0 {
			at = time.Now().Add(time.Duration(m[1]) * time.Millisecond)
		}
		want[m[0]] = at
		w.set(&alarms[m[0]], at)
		pass(time.Duration(m[2]) * time.Millisecond)
	}
	pass(time.Minute)
	for i, at := range want {
		if !at.IsZero() {
			t.Errorf("alarm %d never rang", i)
		}
	}
	for i := range alarms {
		w.drop(&alarms[i])
	}
	if w.count != 0 {
		t.Errorf("%d alarms are left", w.count)
	}
	cancel()
	running.Wait()
}

// pass lets virtual time pass, and everybody act on it.
func pass(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
	synctest.Wait()
}
