package sender_test

import (
	"testing"
	"testing/synctest"
	"time"

	"voltbus/fault"
	"voltbus/uplink/sender"
)

func TestABlockUnderWayToAFullDiskHearsThatNothingIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 5)
		s.startParent()
		s.startChild()
		s.record("child~1", path(0), 5)
		s.until("the first block is there", s.arrived)
		stuck := make(chan struct{})
		s.disk.mu.Lock()
		s.disk.stuck = stuck
		s.disk.mu.Unlock()
		s.record("child~1", path(0), 5)
		s.until("the second is on its way to the disk", func() bool {
			s.parent.mu.Lock()
			defer s.parent.mu.Unlock()
			return len(s.parent.entries) == 2
		})
		s.disk.mu.Lock()
		s.disk.paused = errFull
		s.disk.mu.Unlock()
		why := func() error { return s.sender.Status().Origins[0].Err }
		began := time.Now()
		s.until("the child hears why", func() bool { return why() != nil })
		if waited := time.Since(began); !fault.Is(why(), fault.Unavailable) || waited >= s.cfg.Patience {
			t.Errorf("after %v the child says %v, want: %v", waited, why(), errFull)
		}
		time.Sleep(4 * s.cfg.Patience) //nolint:forbidigo // virtual: it asks again and again
		if st := s.sender.Status(); st.State != sender.Connected || st.Err != nil || why() == nil {
			t.Errorf("later it is %s, %v, and says %v", st.State, st.Err, why())
		}
		s.disk.mu.Lock()
		s.disk.paused, s.disk.stuck = nil, nil
		s.disk.mu.Unlock()
		close(stuck)
		s.record("child~1", path(0), 5)
		s.until("all is there", s.arrived)
		s.until("the child says nothing more", func() bool { return why() == nil })
		s.stop()
		if _, _, points := s.account(); s.total(points) != 15 {
			t.Errorf("%d of 15 samples arrived", s.total(points))
		}
	})
}
