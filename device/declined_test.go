package device

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/device/trouble"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

func TestADeviceThatDeclinesOneRequestStaysOnline(t *testing.T) {
	for name, err := range map[string]error{
		"busy":                 fault.E("x", fault.Unavailable, "", errors.New("server device busy")),
		"says no":              fault.E("x", fault.Rejected, "", errors.New("local control")),
		"out of range":         fault.E("x", fault.Invalid, "", errors.New("the value is out of the point's range")),
		"held by another":      fault.E("x", fault.Conflict, "", errors.New("another master holds the right to operate")),
		"not allowed":          fault.E("x", fault.Refused, "", errors.New("this master may not operate the point")),
		"took a part of it":    fault.E("x", fault.Rejected, "", fmt.Errorf("%w: local control", driver.ErrPartial)),
		"has not got it":       fault.E("x", fault.NotFound, "", errors.New("no such point")),
		"busy, deep in others": fmt.Errorf("write: %w", fault.E("x", fault.Unavailable, "", errors.New("busy"))),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, Limits{})
				s.apply(s.device("l", "d"))
				stop := s.start()
				defer stop()
				pass(11 * time.Second)
				s.plant.script("d", func(context.Context) error { return err })
				if _, got := s.Write(t.Context(), "b/d/p", point.IntOf(7)); trouble.KindOf(got) != trouble.KindOf(err) {
					t.Errorf("the write gave %v", got)
				}
				got := s.stateOf("b/d")
				if got.Status != Online || got.Failures != 1 || got.LastError != err.Error() {
					t.Errorf("%v after %d failures, last %q", got.Status, got.Failures, got.LastError)
				}
				if _, err := s.Read(t.Context(), "b/d", []string{"p"}); err == nil {
					t.Error("the read is answered")
				}
				if got := s.stateOf("b/d"); got.Status != Online {
					t.Errorf("%v after a read that was declined", got.Status)
				}
				if n := s.log.count("does not answer"); n != 0 {
					t.Errorf("%d log lines say that it does not answer", n)
				}
				s.plant.script("d", nil)
				pass(10 * time.Second)
				if scans := s.out.scansOf("b/d"); scans[len(scans)-1].Quality != point.Good {
					t.Errorf("scans: %v", scans)
				}
			})
		})
	}
}

func TestAWriteWithoutAnAnswerLeavesADeviceOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.apply(s.device("l", "d"))
		stop := s.start()
		defer stop()
		pass(11 * time.Second)
		s.plant.script("d", timesOut(time.Second/2))
		_, _ = s.Write(t.Context(), "b/d/p", point.IntOf(7))
		if got := s.stateOf("b/d"); got.Status != Offline {
			t.Errorf("%v", got.Status)
		}
	})
}

func TestAScanThatIsAnsweredWithAnErrorLeavesADeviceOnlineAndSaysWhich(t *testing.T) {
	for name, err := range map[string]error{
		"says no":         fault.E("x", fault.Rejected, "", errors.New("indications 02 00: object unknown")),
		"not allowed":     fault.E("x", fault.Refused, "", errors.New("this master may not read")),
		"has not got it":  fault.E("x", fault.NotFound, "", errors.New("no such object")),
		"cannot be read":  fault.E("x", fault.Corrupt, "", errors.New("the answer has 3 bytes too many")),
		"deep in another": fmt.Errorf("read: %w", fault.E("x", fault.Rejected, "", errors.New("busy with itself"))),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, Limits{})
				s.apply(s.device("l", "d"))
				stop := s.start()
				defer stop()
				pass(11 * time.Second)
				s.plant.script("d", func(context.Context) error { return err })
				pass(30 * time.Second)
				got := s.stateOf("b/d")
				if got.Status != Online || !got.Refuses || got.Problem != err.Error() || got.ProblemKind != trouble.KindOf(err) || got.Failures != 3 {
					t.Errorf("%v, refuses %v, %d failures, problem %q (%v)", got.Status, got.Refuses, got.Failures, got.Problem, got.ProblemKind)
				}
				if scans := s.out.scansOf("b/d"); scans[len(scans)-1].Quality != trouble.QualityOf(err) {
					t.Errorf("scans: %v", scans)
				}
				if n, told := s.log.count("does not answer"), s.log.count("device answers, but gives no point"); n != 0 || told != 1 {
					t.Errorf("%d log lines say that it does not answer, %d that it gives nothing", n, told)
				}
				s.plant.script("d", nil)
				pass(10 * time.Second)
				if got := s.stateOf("b/d"); got.Status != Online || got.Refuses || got.Problem != "" {
					t.Errorf("once it gives its points: %v, refuses %v, problem %q", got.Status, got.Refuses, got.Problem)
				}
			})
		})
	}
}

func TestADeviceThatAnswersWithAnErrorAfterASilenceIsNoMoreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, Limits{})
		s.apply(s.device("l", "d"))
		stop := s.start()
		defer stop()
		s.plant.script("d", timesOut(time.Second/2))
		pass(2 * time.Minute)
		if got := s.stateOf("b/d"); got.Status != Offline {
			t.Fatalf("%v", got.Status)
		}
		s.plant.script("d", func(context.Context) error { return fault.E("x", fault.Rejected, "", errors.New("no")) })
		pass(10*time.Minute + 5*time.Second)
		if got := s.stateOf("b/d"); got.Status != Online || !got.Refuses {
			t.Errorf("%v, refuses %v", got.Status, got.Refuses)
		}
		before := len(s.plant.asked("d"))
		pass(30 * time.Second)
		if n := len(s.plant.asked("d")) - before; n != 3 {
			t.Errorf("it is asked %d times in three slots", n)
		}
	})
}
