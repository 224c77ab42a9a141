package dispatch_test

import (
	"strings"
	"testing"
	"time"

	"voltbus/control"
)

func TestAttackANodeThatRestartsAgainAndAgainFillsNoAuditLog(t *testing.T) {
	for name, turn := range map[string]func(s *site, i int){
		"while a mismatch lasts": func(s *site, _ int) { s.plant.turn("b/d0/sp", 23) },
		"while a point flickers": func(s *site, i int) { s.plant.turn("b/d0/sp", 22+float64(i%2)) },
	} {
		t.Run(name, func(t *testing.T) {
			scanning(t, 1, func(t *testing.T, s *site) {
				s.points[0].Policy = &control.Policy{Assert: control.AssertNever}
				s.start()
				s.set(wish("tune", "b/d0/sp", 22))
				for i := range 4 * 60 { // two hours
					turn(s, i)
					pass(30 * time.Second)
					s.stop()
					s.start()
				}
				defer s.stop()
				s.plant.turn("b/d0/sp", 23)
				pass(2 * time.Hour)
				told := s.told("b/d0/sp")
				if n := len(told); n > 20 {
					t.Errorf("%d entries", n)
				}
				if last := told[len(told)-1]; !strings.HasPrefix(last, "control.mismatch ") || s.amiss() != "b/d0/sp mismatch" {
					t.Errorf("the last word is %q, and amiss is %q", last, s.amiss())
				}
			})
		})
	}
}
