package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/audit"
	"voltbus/control"
	"voltbus/control/dispatch"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// virtual runs a test with a site in virtual time.
func virtual(t *testing.T, devices int, f func(t *testing.T, s *site)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newSiteIn(t, dir, devices)
		f(t, s)
	})
}

func pass(d time.Duration) {
	<-time.After(d) // virtual
	synctest.Wait()
}

// holds demands what a device has.
func (s *site) holds(path point.Path, want float64) {
	s.t.Helper()
	if got := s.plant.value(path); got != point.FloatOf(want) {
		s.t.Errorf("%s is %v, want %v", path, got, want)
	}
}

func (s *site) view(path point.Path) control.View {
	s.t.Helper()
	v, err := s.View(s.t.Context(), path)
	s.must(err)
	return v
}

func failing(kind fault.Kind, err error) func(context.Context, point.Path, bool) error {
	return func(_ context.Context, path point.Path, _ bool) error {
		return fault.E("plant", kind, string(path), err)
	}
}

func TestADeviceThatIsOfflineGetsTheWishWhenItReturns(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.plant.disturb(failing(fault.Unreachable, errors.New("nobody answers")))
		r := s.set(wish("tune", "b/d0/sp", 22))
		if r.Status != control.Accepted || r.Output != control.Failed || !fault.Is(r.Failed, fault.Unreachable) {
			t.Errorf("got %+v", r)
		}
		s.plant.disturb(nil)
		pass(5 * time.Minute)
		s.holds("b/d0/sp", 22)
		s.says("b/d0/sp", "control.write-failed", "not carried out")
		s.says("b/d0/sp", "control.write-confirmed", "ok")
	})
}

func TestAReadBackThatDiffersIsSaidAndNotWrittenAgain(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.plant.report = func(point.Value) point.Value { return point.FloatOf(19) }
		r := s.set(wish("tune", "b/d0/sp", 22))
		if r.Output != control.Differs || r.Reported != point.FloatOf(19) {
			t.Errorf("got %+v", r)
		}
		pass(time.Hour)
		if n := len(s.plant.written()); n != 1 {
			t.Errorf("%d writes", n)
		}
		s.says("b/d0/sp", "control.write-differs", "another value")
	})
}

func TestASlowGatewayDelaysNobodyElse(t *testing.T) {
	virtual(t, 4, func(t *testing.T, s *site) { // d0 and d1 share a line
		defer s.start().stop()
		s.plant.disturb(func(ctx context.Context, path point.Path, _ bool) error {
			if path == "b/d0/sp" {
				<-time.After(8 * time.Second) // virtual
			}
			return nil
		})
		begin := time.Now()
		results, err := s.CommandMany(t.Context(), []control.Command{wish("tune", "b/d0/sp", 22), wish("tune", "b/d3/sp", 23)}, 2*time.Second)
		s.must(err)
		if results[0].Output != control.Writing || results[1].Output != control.Confirmed {
			t.Errorf("got %+v", results)
		}
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("took %v, want what the caller waits", took)
		}
		if r := s.set(wish("tune", "b/d2/sp", 21)); r.Output != control.Confirmed || time.Since(begin) != 2*time.Second {
			t.Errorf("another device gave %+v after %v", r, time.Since(begin))
		}
		pass(time.Minute)
		s.holds("b/d0/sp", 22)
	})
}

func TestHalfOfACallMayFailAndEachIsAnswered(t *testing.T) {
	virtual(t, 10, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.plant.disturb(func(_ context.Context, path point.Path, _ bool) error {
			if path[3]%2 == 1 { // odd devices
				return fault.E("plant", fault.Rejected, string(path), errors.New("no"))
			}
			return nil
		})
		var commands []control.Command
		for i := range 10 {
			commands = append(commands, wish("tune", point.Path(fmt.Sprintf("b/d%d/sp", i)), 22))
		}
		results, err := s.CommandMany(t.Context(), commands, time.Minute)
		s.must(err)
		for i, r := range results {
			if odd := i%2 == 1; odd != fault.Is(r.Failed, fault.Rejected) || odd == (r.Output == control.Confirmed && r.Reported == point.FloatOf(22)) {
				t.Errorf("command %d gave %+v", i, r)
			}
		}
		pass(time.Minute)
		if held, _ := s.Held(t.Context(), "agent:tune"); len(held) != 5 {
			t.Errorf("%d commands are held, want those that devices took", len(held))
		}
	})
}

func TestALostAnswerIsFoundOutByReading(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.plant.disturb(func(_ context.Context, path point.Path, write bool) error {
			if write {
				s.plant.take(path, point.FloatOf(22)) // it takes the value, and the answer is lost
				return fmt.Errorf("%w: %w", driver.ErrNotConnected, fault.E("plant", fault.Timeout, "", errors.New("cut")))
			}
			return nil
		})
		r := s.set(wish("tune", "b/d0/sp", 22))
		if r.Output != control.Unknown || !fault.Is(r.Failed, fault.Timeout) {
			t.Errorf("got %+v", r)
		}
		pass(5 * time.Minute)
		if v := s.view("b/d0/sp"); v.Output != control.Confirmed || v.Reported != point.FloatOf(22) || len(s.plant.written()) != 1 {
			t.Errorf("the point is %v with %v after %d writes", v.Output, v.Reported, len(s.plant.written()))
		}
		s.says("b/d0/sp", "control.write-unknown", "not known")
		s.says("b/d0/sp", "control.point-read", "ok")
	})
}

func TestALeaseWithoutRenewalEndsAndOneThatIsRenewedDoesNot(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		c := wish("tune", "b/d0/sp", 22)
		c.Lease = time.Minute
		s.set(c)
		pass(50 * time.Second) // renewal lost for less than the length
		d, err := s.Renew(t.Context(), "agent:tune", control.Selection{}, 0)
		if err != nil || d.Status != control.Accepted {
			t.Fatalf("got %+v, %v", d, err)
		}
		pass(50 * time.Second)
		s.holds("b/d0/sp", 22)
		pass(20 * time.Second) // and for more
		s.holds("b/d0/sp", 20)
		if d, _ = s.Renew(t.Context(), "agent:tune", control.Selection{}, 0); d.Why != control.WhyUnknown {
			t.Errorf("a renewal after the end gave %+v", d)
		}
		s.says("b/d0/sp", "control.command-ended", "ok")
	})
}

func TestLeasesEndWhileTheNodeIsDown(t *testing.T) {
	virtual(t, 2, func(t *testing.T, s *site) {
		s.start()
		short, long := wish("tune", "b/d0/sp", 22), wish("tune", "b/d1/sp", 23)
		short.Lease, long.Lease = time.Minute, time.Hour
		s.set(short)
		s.set(long)
		s.stop()
		<-time.After(2 * time.Minute) // virtual
		defer s.start().stop()
		pass(time.Minute)
		s.holds("b/d0/sp", 20)
		s.holds("b/d1/sp", 23)
		pass(time.Hour)
		s.holds("b/d1/sp", 20)
	})
}

func TestAClockThatJumpsEndsNoLeaseAndProlongsNone(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		var jump time.Duration
		var mu sync.Mutex
		begin := time.Now()
		s.cfg.Clock = func() control.Instant {
			mu.Lock()
			defer mu.Unlock()
			return control.Instant{Wall: time.Now().Add(jump), Steady: time.Since(begin)}
		}
		defer s.start().stop()
		c := wish("tune", "b/d0/sp", 22)
		c.Lease = time.Minute
		s.set(c)
		for _, j := range []time.Duration{24 * time.Hour, -48 * time.Hour} {
			mu.Lock()
			jump = j
			mu.Unlock()
			pass(20 * time.Second)
			s.holds("b/d0/sp", 22)
		}
		pass(21 * time.Second)
		s.holds("b/d0/sp", 20)
	})
}

func TestOfTwoRequestsAtOneInstantOneWins(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		var results [2]dispatch.Result
		var both sync.WaitGroup
		for i, who := range []string{"ann", "bob"} {
			c := wish(who, "b/d0/sp", 21+float64(i))
			both.Go(func() { results[i], _ = s.Command(t.Context(), c, time.Minute) })
		}
		both.Wait()
		won, lost := results[0], results[1]
		if won.Status != control.Accepted {
			won, lost = lost, won
		}
		if won.Output != control.Confirmed || lost.Why != control.WhyHeld || len(lost.Holders) != 1 || won.Reported != s.plant.value("b/d0/sp") {
			t.Errorf("got %+v", results)
		}
	})
}

func TestValuesThatCannotBeAreRefusedWithTheLimit(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		for _, value := range []float64{math.NaN(), math.Inf(1), 30.5, 9} {
			if r := s.set(wish("tune", "b/d0/sp", value)); r.Why != control.WhyRange || r.Err.Kind != fault.Invalid {
				t.Errorf("%v gave %+v", value, r)
			}
		}
		s.says("b/d0/sp", "control.command", "from 10 to 30 degC")
	})
}

func TestWhoIsDismissedHoldsNothingAnyMore(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.set(wish("tune", "b/d0/sp", 22))
		s.Dismiss("agent:tune")
		pass(time.Second)
		s.holds("b/d0/sp", 20)
		s.says("agent:tune", "control.leave", "accepted")
	})
}

func TestThoseWhoseRightsChangedTogetherHoldOnlyWhatTheyMayHold(t *testing.T) {
	virtual(t, 3, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.set(wish("campus/tune", "b/d0/sp", 22))
		s.set(wish("campus/night", "b/d1/sp", 23))
		s.set(wish("tune", "b/d2/sp", 24))
		s.ReviewAll(func(requester string) (*dispatch.Rights, bool) {
			switch requester {
			case "agent:campus/tune":
				return nil, true
			case "agent:campus/night":
				return &dispatch.Rights{
					Command: func(point.Path, int, point.Value) error { return nil }, Reserve: func(point.Path) error { return nil },
				}, true
			}
			return nil, false
		})
		pass(time.Second)
		s.holds("b/d0/sp", 20)
		s.holds("b/d1/sp", 23)
		s.holds("b/d2/sp", 24)
		s.says("agent:campus/tune", "control.leave", "accepted")
	})
}

func TestAnAgentThatIsGoneForTooLongHoldsNothingAnyMore(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		var mu sync.Mutex
		online := map[string]bool{"tune": true}
		s.cfg.Online = func() func(string) bool {
			mu.Lock()
			defer mu.Unlock()
			is := online["tune"]
			return func(requester string) bool { return is && requester == "agent:tune" }
		}
		defer s.start().stop()
		set := func(there bool) { mu.Lock(); online["tune"] = there; mu.Unlock() }
		s.set(wish("tune", "b/d0/sp", 22))
		pass(10 * time.Minute)
		set(false)
		pass(45 * time.Second)
		set(true)
		pass(time.Minute)
		s.holds("b/d0/sp", 22)
		set(false)
		pass(66 * time.Second)
		s.holds("b/d0/sp", 20)
	})
}

func TestAnOverrideKeepsCommandsAwayAndDevicesAreReadAllTheSame(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.set(wish("tune", "b/d0/sp", 22))
		d, err := s.Override(t.Context(), control.Override{Pattern: "b/d0", Requester: "person:eve", Reason: "works on it", Length: time.Hour, Failsafe: true})
		if err != nil || d.Status != control.Accepted {
			t.Fatalf("got %+v, %v", d, err)
		}
		pass(time.Second)
		s.holds("b/d0/sp", 20)
		if r := s.set(wish("tune", "b/d0/sp", 23)); r.Why != control.WhyOverridden {
			t.Errorf("got %+v", r)
		}
		if readings := s.Read(t.Context(), []point.Path{"b/d0/sp"}); readings[0].Err != nil {
			t.Errorf("a read gave %v", readings[0].Err)
		}
		pass(time.Hour)
		if r := s.set(wish("tune", "b/d0/sp", 23)); r.Output != control.Confirmed {
			t.Errorf("after the override: %+v", r)
		}
	})
}

func TestAHeartbeatTogglesAndItsLossIsTold(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		s.points[1].Heartbeat = 30 * time.Second // b/d0/plain
		defer s.start().stop()
		pass(5*time.Minute + time.Second)
		beats := s.plant.written()
		if n := len(beats); n != 11 && n != 10 { // the devices may not run yet at the first one
			t.Errorf("%d beats in 5 minutes", n)
		}
		for i := range beats[1:] {
			if beats[i].Value == beats[i+1].Value {
				t.Errorf("beats %d and %d are both %v", i, i+1, beats[i].Value)
			}
		}
		if r := s.set(wish("tune", "b/d0/plain", 1)); r.Why != control.WhyReadOnly {
			t.Errorf("a command to it gave %+v", r)
		}
		s.plant.disturb(failing(fault.Rejected, errors.New("no")))
		pass(time.Minute)
		s.plant.disturb(nil)
		pass(time.Minute)
		s.says("b/d0/plain", "control.heartbeat-lost", "no")
		s.says("b/d0/plain", "control.heartbeat-back", "ok")
	})
}

func TestAnInterlockEndsWhatRunsWhenTheOtherPointLeavesItsRange(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		least := 5.0
		s.points[0].Policy = &control.Policy{Interlocks: []control.Interlock{{Other: "b/d0/reading", Needs: control.Range{Min: &least}}}}
		defer s.start().stop()
		if r := s.set(wish("tune", "b/d0/sp", 22)); r.Why != control.WhyInterlock {
			t.Errorf("while it is unknown: %+v", r)
		}
		s.Hear(&point.Scan{Device: "b/d0", Samples: []point.Sample{{Point: "b/d0/reading", Value: point.FloatOf(6)}}})
		s.set(wish("tune", "b/d0/sp", 22))
		s.holds("b/d0/sp", 22)
		s.Hear(&point.Scan{Device: "b/d0", Samples: []point.Sample{{Point: "b/d0/reading", Value: point.FloatOf(4)}}})
		pass(time.Second)
		s.holds("b/d0/sp", 20)
	})
}

// ill is a disk that fails while err says so.
type ill struct {
	dispatch.Journal
	dispatch.Audit
	mu  sync.Mutex
	err error
}

func (i *ill) set(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.err = err
}

func (i *ill) get() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.err
}

func (i *ill) Append(ctx context.Context, entries ...audit.Entry) error {
	if err := i.get(); err != nil {
		return err
	}
	return i.Audit.Append(ctx, entries...)
}

func TestWhileNothingCanBeKeptCommandsWaitAndWhatEndsEnds(t *testing.T) {
	virtual(t, 2, func(t *testing.T, s *site) {
		disk := &ill{}
		s.auditOver = func(l *audit.Log) dispatch.Audit { disk.Audit = l; return disk }
		defer s.start().stop()
		c := wish("tune", "b/d0/sp", 22)
		c.Lease = time.Minute
		s.set(c)
		disk.set(fault.E("disk", fault.Unavailable, "", errors.New("full")))
		pass(2 * time.Minute)
		s.holds("b/d0/sp", 20) // it ended all the same
		if s.Trouble() == nil {
			t.Error("nothing tells of the trouble")
		}
		_, err := s.Command(t.Context(), wish("tune", "b/d1/sp", 22), time.Minute)
		s.kind(err, fault.Unavailable)
		disk.set(nil)
		pass(5 * time.Second)
		if err := s.Trouble(); err != nil {
			t.Errorf("after the trouble: %v", err)
		}
		s.says("b/d0/sp", "control.command-ended", "ok") // told later
		if r := s.set(wish("tune", "b/d1/sp", 22)); r.Output != control.Confirmed {
			t.Errorf("got %+v", r)
		}
	})
}

func TestTenThousandReservationsAreKept(t *testing.T) {
	s := newSite(t, 1).start()
	begin := time.Now().Add(time.Hour).Truncate(time.Second)
	var callers sync.WaitGroup
	for k := range 20 {
		callers.Go(func() {
			for i := range 500 {
				n := k*500 + i
				from := begin.Add(time.Duration(n) * time.Minute)
				d, err := s.Reserve(context.Background(), control.Reservation{
					Requester: "agent:tune", Task: fmt.Sprint("t", n), Priority: control.Low,
					Windows: []control.Window{{Path: "b/d0", From: from, Until: from.Add(time.Minute)}},
				})
				if err != nil || d.Status != control.Accepted {
					t.Errorf("reservation %d gave %+v, %v", n, d, err)
				}
			}
		})
	}
	callers.Wait()
	s.stop()
	defer s.start().stop()
	tasks, err := s.Tasks(t.Context())
	if err != nil || len(tasks) != 10_000 {
		t.Errorf("%d tasks after a restart, %v", len(tasks), err)
	}
	d, err := s.Reserve(t.Context(), control.Reservation{
		Requester: "agent:other", Task: "late", Priority: control.Low,
		Windows: []control.Window{{Path: "b", From: begin.Add(5000 * time.Minute), Until: begin.Add(5001 * time.Minute)}},
	})
	if err != nil || d.Why != control.WhyConflict || len(d.Holders) != 1 || d.Holders[0].Task != "t5000" {
		t.Errorf("got %+v, %v", d, err)
	}
}
