package dispatch_test

import (
	"strings"
	"testing"
	"time"

	"voltbus/control"
	"voltbus/point"
)

func TestAttackAnOverrideOrReservationOfNothingIsRefused(t *testing.T) {
	virtual(t, 2, func(t *testing.T, s *site) {
		defer s.start().stop()
		for pattern, words := range map[point.Pattern]string{
			"B/D0/**": `did you mean "b/d0/plain" or "b/d0/reading" or "b/d0/sp"?`,
			"b/d9/**": `did you mean "b/d0" or "b/d1"?`,
			"x":       "list those that are with: voltbus points '**'",
		} {
			d, err := s.Override(t.Context(), control.Override{Pattern: pattern, Requester: "person:eve"})
			if err != nil || d.Status != control.Refused || d.Why != control.WhyUnknown || !strings.Contains(d.Err.Error(), words) {
				t.Errorf("%s gives %+v, %v, want %q", pattern, d, err, words)
			}
		}
		window := control.Window{Path: "b/dO", From: time.Now(), Until: time.Now().Add(time.Hour)}
		d, err := s.Reserve(t.Context(), control.Reservation{Requester: "agent:a", Task: "t", Priority: control.Low, Windows: []control.Window{window}})
		if err != nil || d.Status != control.Refused || !strings.Contains(d.Err.Error(), "did you mean") {
			t.Errorf("a reservation gives %+v, %v", d, err)
		}
		if list, err := s.Overridden(t.Context()); err != nil || len(list) > 0 {
			t.Errorf("there are %v, %v", list, err)
		}
	})
}

func TestOnAndOffAreTakenWhereAPointIsOneOrTheOther(t *testing.T) {
	virtual(t, 1, func(t *testing.T, s *site) {
		s.points[1].Kind = point.Bool
		s.plant.report = func(v point.Value) point.Value { return v }
		defer s.start().stop()
		c := wish("tune", "b/d0/plain", 0)
		c.Value = point.TextOf("On")
		if r := s.set(c); r.Output != control.Confirmed || r.Reported != point.BoolOf(true) {
			t.Errorf("gives %+v", r)
		}
		c = wish("tune", "b/d0/plain", 0)
		c.Value = point.TextOf("offen")
		if r := s.set(c); r.Status != control.Refused || !strings.Contains(r.Err.Error(), "write on, off, true or false") {
			t.Errorf("gives %+v", r)
		}
	})
}
