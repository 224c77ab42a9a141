package dispatch_test

import (
	"slices"
	"testing"
	"time"

	"voltbus/control"
	"voltbus/fault"
	"voltbus/point"
)

func TestACommandIsKeptToldCarriedOutAndAnswered(t *testing.T) {
	s := newSite(t, 1).start()
	defer s.stop()
	c := wish("tune", "b/d0/sp", 22)
	c.Reason = "warm"
	r := s.set(c)
	if r.Status != control.Accepted || !r.Wins || r.Output != control.Confirmed || r.Reported != point.FloatOf(22) || r.Failed != nil {
		t.Errorf("got %+v", r)
	}
	if got := s.plant.value("b/d0/sp"); got != point.FloatOf(22) {
		t.Errorf("the device has %v", got)
	}
	if again := s.set(c); !again.Repeat || again.Output != control.Confirmed || len(s.plant.written()) != 1 {
		t.Errorf("a repeat gave %+v and %d writes", again, len(s.plant.written()))
	}
	want := []string{"control.command accepted", "control.write-confirmed ok", "control.command repeated: accepted"}
	if got := s.told("b/d0/sp"); !slices.Equal(got, want) { // the outcome came there with the repeat at the latest
		t.Errorf("the audit log says %q, want %q", got, want)
	}
	d, err := s.Release(t.Context(), "agent:tune", control.Selection{Point: "b/d0/sp"}, "")
	if err != nil || d.Status != control.Accepted {
		t.Errorf("got %+v, %v", d, err)
	}
}

func TestRefusalsSayWhyAndAreInTheAuditLog(t *testing.T) {
	s := newSite(t, 1).start()
	defer s.stop()
	for _, c := range []struct {
		command control.Command
		why     control.Why
		kind    fault.Kind
	}{
		{wish("tune", "b/d0/sp", 31), control.WhyRange, fault.Invalid},
		{wish("tune", "b/d0/reading", 1), control.WhyReadOnly, fault.Refused},
		{wish("tune", "b/d0/nothing", 1), control.WhyUnknown, fault.NotFound},
	} {
		r := s.set(c.command)
		if r.Status != control.Refused || r.Why != c.why || r.Err.Kind != c.kind {
			t.Errorf("%s gave %+v", c.command.Point, r)
		}
		s.says(string(c.command.Point), "control.command", "refused: ")
	}
	if n := len(s.plant.written()); n > 0 {
		t.Errorf("%d writes of refused commands", n)
	}
}

func TestALeaseEndsAfterARestartToo(t *testing.T) {
	s := newSite(t, 1).start()
	c := wish("tune", "b/d0/sp", 22)
	c.Lease = time.Hour
	s.set(c)
	s.stop()
	s.start()
	defer s.stop()
	if again := s.set(c); !again.Repeat || again.Output != control.Confirmed {
		t.Errorf("a repeat after the restart gave %+v", again)
	}
	v, err := s.View(t.Context(), "b/d0/sp")
	if err != nil || len(v.Array) != 1 || v.Array[0].Requester != "agent:tune" || v.Output != control.Confirmed {
		t.Errorf("after a restart the point is %+v, %v", v, err)
	}
}

func TestTheAuditLogHasOutcomesSoonWithoutAnotherRequest(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		s.set(wish("tune", "b/d0/sp", 22))
		pass(time.Second / 10)
		s.says("b/d0/sp", "control.write-confirmed", "ok")
	})
}

func TestACommandThatALimitHoldsBackIsWaitingAndNotHeld(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		s.points[1].Policy = &control.Policy{Rate: control.Rate{Most: 5, Per: 10 * time.Second}}
		defer s.start().stop()
		s.set(wish("tune", "b/d0/plain", 0))
		r := s.set(wish("tune", "b/d0/plain", 5))
		if r.Output != control.Waiting || !r.Later.After(time.Now()) || r.Reported != point.FloatOf(0) {
			t.Errorf("a command that a rate holds back gave %+v", r)
		}
		if v := s.view("b/d0/plain"); v.Output != control.Waiting || v.Later.IsZero() {
			t.Errorf("the point is seen as %+v", v)
		}
		pass(time.Minute)
		if v := s.view("b/d0/plain"); v.Output != control.Confirmed || !v.Later.IsZero() || v.Reported != point.FloatOf(5) {
			t.Errorf("after the wait the point is seen as %+v", v)
		}
	})
}
