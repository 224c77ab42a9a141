package sender_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/uplink"
)

func TestAParentThatTakesNothingIsAskedWithSingleFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1)
		s.cfg.Samples = 10
		s.startParent()
		s.startChild()
		s.record("child~1", path(0), 10)
		s.until("the first block is there", s.arrived)
		s.disk.mu.Lock()
		s.disk.full = true
		s.disk.mu.Unlock()
		for i := range 300 {
			s.record("child~1", path(0), 10)
			s.record([]string{"below~2", "below~3"}[i%2], "site/x", 1)
		}
		time.Sleep(time.Minute) //nolint:forbidigo // virtual
		sent := func() int {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.frames
		}
		before := sent()
		time.Sleep(time.Minute) //nolint:forbidigo // virtual
		if n := sent() - before; n == 0 || n > 20 {
			t.Errorf("in a minute %d frames crossed the link in vain, want a few", n)
		}
		s.disk.mu.Lock()
		s.disk.full = false
		s.disk.mu.Unlock()
		began := time.Now()
		s.until("all is there", s.arrived)
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("it took %v when there was room again", took)
		}
		s.stop()
		s.account()
	})
}

func TestWhatTheLogHadToDropIsCountedOnceHoweverOftenItIsMet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1)
		s.disk.full = true
		s.setAway(true)
		s.startParent()
		s.startChild()
		for range 20 {
			s.record("child~1", path(0), 10)
		}
		s.child.drop(12)
		s.setAway(false)
		dropped := func() uint64 {
			var n uint64
			for _, o := range s.sender.Status().Origins {
				n += o.Dropped
			}
			return n
		}
		s.until("it is counted", func() bool { return dropped() > 0 })
		time.Sleep(time.Minute) //nolint:forbidigo // virtual: the parent takes nothing, and is asked again and again
		if n := dropped(); n != 120 {
			t.Errorf("after a minute %d samples were dropped, want 120", n)
		}
		s.child.drop(15)
		s.until("more of it is counted", func() bool { return dropped() > 120 })
		s.disk.mu.Lock()
		s.disk.full = false
		s.disk.mu.Unlock()
		s.until("all that is left is there", s.arrived)
		s.stop()
		if missing, _, _ := s.account(); missing["child~1"] != 150 || dropped() != 150 {
			t.Errorf("%d samples are missing and %d were dropped, want 150", missing["child~1"], dropped())
		}
	})
}

func TestWhatStandsBehindALongLogWithARefusedBlockIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1)
		s.cfg.Rename = []uplink.Rename{{From: "ok", To: "site/ok"}}
		s.child.pace = time.Second // longer for all of it than until a refused block is tried again
		s.startParent()
		s.startChild()
		s.record("below~2", "elsewhere/b", 5)
		for range 100 {
			s.record("child~1", "ok/a", 5)
		}
		there := func(sequence uint64) func() bool {
			return func() bool {
				s.mu.Lock()
				defer s.mu.Unlock()
				return s.receiver.Positions([]string{"child~1"})["child~1"].Sequence == sequence
			}
		}
		s.until("the good origin is there", there(100))
		for range 100 {
			s.record("child~1", "ok/a", 5)
		}
		s.until("what came later is there", there(200))
		s.mu.Lock()
		s.grants.Record = []point.Pattern{"site", "elsewhere"}
		s.mu.Unlock()
		s.until("what waited is there", s.arrived)
		s.stop()
		s.account()
	})
}

func TestAParentThatHasNoTimeForDescriptionsIsToldLaterAndGetsTheBlocks(t *testing.T) {
	for _, why := range []fault.Kind{fault.Timeout, fault.Unavailable} {
		t.Run(why.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, 1)
				s.cfg.Describe = func(context.Context) ([]uplink.Description, error) {
					return []uplink.Description{{Path: "a/temp"}}, nil
				}
				times, told := 0, make(chan point.Path, 100)
				s.describe = func(points []uplink.Description) error {
					if times++; times < 3 {
						time.Sleep(20 * time.Second) //nolint:forbidigo // virtual
						return fault.E("test", why, "", errors.New("busy"))
					}
					told <- points[0].Path
					return nil
				}
				s.startParent()
				s.startChild()
				if got := <-told; got != "site/a/temp" {
					t.Errorf("told of %q", got)
				}
				s.record("child~1", "a/temp", 5)
				s.until("the block is there", s.arrived)
				time.Sleep(time.Minute) //nolint:forbidigo // virtual
				s.stop()
				if s.dials != 1 || len(told) != 0 {
					t.Errorf("it connected %d times, and was told %d times more", s.dials, len(told))
				}
			})
		})
	}
}
