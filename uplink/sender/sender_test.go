package sender_test

import (
	"testing"
	"testing/synctest"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/uplink/sender"
)

func TestEverythingArrivesOnceThroughCutsLossAndRestarts(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, seed)
			s.startParent()
			s.startChild()
			origins := []string{"child~1", "child~1!", "below~2", "below~2!"}
			n := 0
			for step := range 400 {
				origin := origins[s.rand.IntN(len(origins))]
				samples := 1 + s.rand.IntN(50)
				s.record(origin, path(s.rand.IntN(4)), samples)
				n += samples
				switch s.rand.IntN(40) {
				case 0:
					s.cut()
				case 1:
					s.setAway(true)
				case 2:
					s.setAway(false)
				case 3: // the parent is killed
					s.cut()
					s.stopUp()
					s.disk.crash(s.rand)
					s.startParent()
					s.cut()
				case 4: // the child is killed
					s.stopDown()
					s.startChild()
				case 5:
					s.mu.Lock()
					s.lossy = 0.1 * float64(s.rand.IntN(3))
					s.mu.Unlock()
				case 6:
					s.disk.mu.Lock()
					s.disk.full = !s.disk.full
					s.disk.mu.Unlock()
				}
				if step%7 == 0 {
					time.Sleep(time.Duration(s.rand.IntN(300)) * time.Millisecond) //nolint:forbidigo // virtual
				}
			}
			s.disk.mu.Lock()
			s.disk.full = false
			s.disk.mu.Unlock()
			s.mu.Lock()
			s.lossy = 0
			s.mu.Unlock()
			s.setAway(false)
			s.until("the parent has all", s.arrived)
			s.stop()
			missing, left, points := s.account()
			for _, origin := range origins {
				if missing[origin] != 0 || left[origin] != 0 {
					t.Errorf("seed %d: %s misses %d and leaves out %d", seed, origin, missing[origin], left[origin])
				}
			}
			if got := s.total(points); got != n {
				t.Errorf("seed %d: %d samples of %d arrived", seed, got, n)
			}
			for i := range 4 {
				if points["site/"+path(i)] == 0 {
					t.Errorf("seed %d: nothing of %s arrived", seed, path(i))
				}
			}
		})
	}
}

func TestAParentThatWasPutBackGetsWhatItLacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1)
		s.cfg.Samples = 30
		s.startParent()
		s.startChild()
		for range 50 {
			s.record("child~1", path(0), 10)
			s.record("child~1!", path(1), 1)
		}
		s.until("the parent has all", s.arrived)
		s.stop()
		if s.sender.Place() != 100 {
			t.Errorf("the place in the log is %d", s.sender.Place())
		}
		s.parent.entries, s.disk.kept = s.parent.entries[:7], 7
		s.startParent()
		s.startChild()
		s.until("the parent has all again", s.arrived)
		s.stop()
		if missing, _, points := s.account(); s.total(points) != 550 || missing["child~1"] != 0 {
			t.Errorf("%d samples arrived, %d are missing", s.total(points), missing["child~1"])
		}
	})
}

func TestWhatTheLogHadToDropIsCountedAndNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1)
		s.setAway(true)
		s.startParent()
		s.startChild()
		for range 20 {
			s.record("child~1", path(0), 10)
		}
		s.child.drop(12)
		s.setAway(false)
		s.until("the parent has all that is left", s.arrived)
		s.stop()
		missing, _, points := s.account()
		if missing["child~1"] != 120 || s.total(points) != 80 {
			t.Errorf("%d are missing and %d arrived", missing["child~1"], s.total(points))
		}
		if o := s.sender.Status().Origins; len(o) != 1 || o[0].Dropped != 120 || o[0].Sent != 80 || o[0].Acknowledged != 200 {
			t.Errorf("the child says %+v", o)
		}
		if c := s.receiver.Status()["child"]; c.Missing != 120 || c.Samples != 80 {
			t.Errorf("the parent says %+v", c)
		}
	})
}

func TestOnlySelectedPointsGoAndTheOthersAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1)
		s.cfg.Select = []point.Pattern{"ahu1/**", "ahu2/**"}
		s.cfg.Rename = []uplink.Rename{{From: "ahu1", To: "site/one"}, {From: "", To: "site/all"}}
		s.startParent()
		s.startChild()
		for i := range 40 {
			s.record("child~1", path(i%4), 10)
		}
		s.until("the parent has all", s.arrived)
		s.stop()
		_, left, points := s.account()
		if left["child~1"] != 200 || points["site/one/temp"] != 100 || points["site/all/ahu2/temp"] != 100 || len(points) != 2 {
			t.Errorf("left out %d, arrived %v", left["child~1"], points)
		}
		if o := s.sender.Status().Origins; o[0].Left != 200 || o[0].Sent != 200 {
			t.Errorf("the child says %+v", o)
		}
	})
}

func TestUrgentBlocksOvertakeABacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1)
		s.cfg.Rate = 2000
		s.startParent()
		for range 500 {
			s.record("child~1", path(0), 100)
		}
		s.record("child~1!", path(1), 1)
		s.startChild()
		s.until("the urgent block is there", func() bool {
			return s.receiver.Positions([]string{"child~1!"})["child~1!"].Sequence == 1
		})
		if p := s.receiver.Positions([]string{"child~1"})["child~1"]; p.Sequence == 500 {
			t.Error("the backlog was there before")
		}
		began := time.Now()
		s.until("the backlog is there", s.arrived)
		octets := s.sender.Status().Lanes[0].Sent + s.sender.Status().Lanes[1].Sent
		if took := time.Since(began); took < time.Duration(float64(octets)/2000*0.5)*time.Second {
			t.Errorf("%d bytes took %v with 2000 a second", octets, took)
		}
		s.stop()
		s.account()
	})
}

func TestBlocksOfOthersDoNotWaitOnTheirWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1)
		s.startParent()
		s.startChild()
		s.record("leaf~1", path(0), 1) // the parent is asked about both
		s.record("child~1", path(1), 1)
		s.until("both are known", s.arrived)
		s.record("leaf~1", path(0), 1)
		s.record("child~1", path(1), 1)
		time.Sleep(100 * time.Millisecond) //nolint:forbidigo // virtual
		p := s.receiver.Positions([]string{"leaf~1", "child~1"})
		if p["leaf~1"].Sequence != 2 || p["child~1"].Sequence != 1 {
			t.Errorf("the parent has %+v, want the block of the leaf and not yet that of the child", p)
		}
		s.until("the child's block is there", s.arrived)
		s.stop()
		s.account()
	})
}

func TestAnOriginThatIsRefusedWaitsAndTheOthersGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1)
		s.cfg.Rename = []uplink.Rename{{From: "ok", To: "site/ok"}}
		s.startParent()
		s.startChild()
		s.record("child~1", "ok/a", 5)
		s.record("below~2", "elsewhere/b", 5)
		for range 10 {
			s.record("child~1", "ok/a", 5)
			s.record("below~2", "elsewhere/b", 5)
		}
		s.until("the good origin is there", func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.receiver.Positions([]string{"child~1"})["child~1"].Sequence == 11 && len(s.refusals) > 0
		})
		time.Sleep(delay) //nolint:forbidigo // virtual: until the answer is there
		var refused error
		for _, o := range s.sender.Status().Origins {
			if o.Name == "below~2" {
				refused = o.Err
			}
		}
		if !fault.Is(refused, fault.Refused) {
			t.Errorf("the child says %v of the refused origin", refused)
		}
		s.mu.Lock()
		if len(s.refusals) != 1 || s.refusals[0].Missing != "record elsewhere/b" || s.refusals[0].Origin != "below~2" {
			t.Errorf("the parent tells %+v", s.refusals)
		}
		s.grants = identity.Grants{Record: []point.Pattern{"site", "elsewhere"}}
		s.mu.Unlock()
		if s.sender.Place() > 1 {
			t.Errorf("the place moved to %d, beyond what waits", s.sender.Place())
		}
		s.until("what waited is there", s.arrived)
		s.stop()
		if _, _, points := s.account(); points["elsewhere/b"] != 55 {
			t.Errorf("arrived: %v", points)
		}
	})
}

func TestACopiedDirectoryIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, 1)
		s.startParent()
		s.startChild()
		for range 10 {
			s.record("child~1", path(0), 5)
		}
		s.until("the parent has all", s.arrived)
		s.stopDown()
		s.mu.Lock()
		s.heads["child~1"] = uplink.Position{Sequence: 4, Samples: 20}
		s.mu.Unlock()
		s.child.entries = s.child.entries[:4]
		s.startChild()
		s.until("the child says so", func() bool {
			st := s.sender.Status()
			return st.State == sender.Refused && fault.Is(st.Err, fault.Conflict)
		})
		s.stop()
	})
}
