package modbus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	wire "github.com/simonvetter/modbus"

	"voltbus/driver"
	"voltbus/driver/modbus/layout"
	"voltbus/fault"
	"voltbus/point"
)

// newTestSession is a session with one holding register at each address, without a line.
func newTestSession(addresses ...int) (*session, []string) {
	s := &session{byName: make(map[string]int)}
	var names []string
	for i, a := range addresses {
		r := at(holding, a, 1)
		s.registers = append(s.registers, r)
		s.byName[r.name] = i
		names = append(names, r.name)
	}
	s.planner = newPlanner(s.registers, layout.MaxRegisters, 0)
	s.results, s.refusals = make([]result, len(addresses)), make([]refusal, len(addresses))
	return s, names
}

// pass runs one scan with answers instead of a line and returns the requests that were sent.
func pass(s *session, names []string, answer func(request) error) (sent int, err error) {
	err = s.pass(names, time.Now(), func(r request) ([]uint16, error) {
		sent++
		if err := answer(r); err != nil {
			return nil, err
		}
		return make([]uint16, r.count), nil
	})
	return sent, err
}

// qualities returns the quality of each register.
func qualities(s *session) []point.Quality {
	out := make([]point.Quality, len(s.registers))
	for i := range out {
		var sample point.Sample
		s.sample(i, &sample)
		out[i] = sample.Quality
	}
	return out
}

func TestWhatAnErrorMeansForThePoints(t *testing.T) {
	const first = 0 // the request of register 0 works, that of register 10 fails
	for name, c := range map[string]struct {
		err  error
		want point.Quality
	}{
		"illegal function":     {wire.ErrIllegalFunction, point.BadConfig},
		"illegal address":      {wire.ErrIllegalDataAddress, point.BadConfig},
		"illegal value":        {wire.ErrIllegalDataValue, point.BadConfig},
		"device failure":       {wire.ErrServerDeviceFailure, point.BadDevice},
		"busy":                 {wire.ErrServerDeviceBusy, point.BadDevice},
		"acknowledge":          {wire.ErrAcknowledge, point.BadDevice},
		"memory parity":        {wire.ErrMemoryParityError, point.BadDevice},
		"an unknown exception": {errors.New("unknown exception code (99)"), point.BadDevice},
		"silence":              {errNoAnswer, point.BadTimeout},
		"garbage":              {errGarbled, point.BadValue},
		"gateway":              {wire.ErrGWTargetFailedToRespond, point.BadUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			s, names := newTestSession(0, 10)
			_, err := pass(s, names, func(r request) error {
				if r.first == first {
					return nil
				}
				return fmt.Errorf("read: %w", c.err)
			})
			if got := qualities(s); err != nil || got[0] != point.Good || got[1] != c.want {
				t.Errorf("got %v, %v, want good and %v", got, err, c.want)
			}
		})
	}
}

func TestADeviceThatNeverAnsweredIsAbsent(t *testing.T) {
	for _, cause := range []error{wire.ErrServerDeviceFailure, wire.ErrGWPathUnavailable, errNoAnswer, errGarbled, driver.ErrNotConnected} {
		s, names := newTestSession(0, 10)
		if _, err := pass(s, names, func(request) error { return cause }); !errors.Is(err, cause) {
			t.Errorf("only %v gave %v, want it as the error", cause, err)
		}
	}
}

func TestARunThatFailsAgainAndAgainIsSplit(t *testing.T) {
	s, names := newTestSession(0, 10, 11)
	answer := func(r request) error { // register 11 fails, and what is read with it
		if int(r.first)+int(r.count) > 11 {
			return wire.ErrServerDeviceFailure
		}
		return nil
	}
	for n := 1; n < patience; n++ {
		if _, err := pass(s, names, answer); err != nil || qualities(s)[1] != point.BadDevice {
			t.Fatalf("pass %d gave %v, %v, want the run bad", n, qualities(s), err)
		}
	}
	if _, err := pass(s, names, answer); err != nil || qualities(s)[1] != point.Good || qualities(s)[2] != point.BadDevice {
		t.Errorf("after %d passes got %v, %v, want only register 11 bad", patience, qualities(s), err)
	}
}

func TestARefusedRegisterIsAskedForNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, names := newTestSession(0, 10)
		refuses := true
		answer := func(r request) error {
			if refuses && r.first == 10 {
				return wire.ErrIllegalDataAddress
			}
			return nil
		}
		for n, want := range []int{2, 1, 1} {
			if sent, err := pass(s, names, answer); sent != want || err != nil {
				t.Fatalf("pass %d sent %d requests, %v, want %d", n, sent, err, want)
			}
		}
		refuses = false
		<-time.After(retryRefused + time.Second) // virtual time
		if sent, err := pass(s, names, answer); sent != 2 || err != nil || qualities(s)[1] != point.Good {
			t.Errorf("later %d requests were sent, %v, qualities %v; want 2 and good", sent, err, qualities(s))
		}
	})
}

func TestAScanThatTakesTooLongKeepsWhatAnsweredAndGoesOnThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, names := newTestSession(0, 1000, 2000, 3000, 4000, 5000, 6000)
		slow := func() func(request) error {
			end := time.Now().Add(7 * time.Second)
			return func(request) error {
				if time.Now().Add(2 * time.Second).After(end) {
					return fmt.Errorf("read: %w", context.DeadlineExceeded)
				}
				<-time.After(2 * time.Second)
				return nil
			}
		}
		good := make([]bool, len(names))
		for round, want := range []int{3, 3, 1} {
			if _, err := pass(s, names, slow()); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			fresh := 0
			for i, q := range qualities(s) {
				if q == point.Good && !good[i] {
					good[i] = true
					fresh++
				}
			}
			if fresh != want {
				t.Errorf("round %d reads %d more registers, want %d", round, fresh, want)
			}
			err := s.Diagnose()
			if !errors.Is(err, driver.ErrScanCut) || fault.KindOf(err) != fault.Timeout || !strings.Contains(err.Error(), "7 requests need about 14s") {
				t.Errorf("round %d: the diagnosis is %v", round, err)
			}
		}
		if _, err := pass(s, names, func(request) error { return nil }); err != nil || s.Diagnose() != nil {
			t.Errorf("a fast scan: %v, %v", err, s.Diagnose())
		}
	})
}

func TestRegistersThatTheDeviceHasNotGotAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, names := newTestSession(0, 1000, 2000, 3000, 4000, 5000)
		refuse := func(r request) error {
			if r.first >= 1000 && r.first < 5000 {
				return wire.ErrIllegalDataAddress
			}
			return nil
		}
		for range 3 {
			if _, err := pass(s, names, refuse); err != nil {
				t.Fatal(err)
			}
			err := s.Diagnose()
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "refuses 4 of 6 registers: ") ||
				!strings.Contains(err.Error(), "(holding 1000)") || !strings.Contains(err.Error(), "1 more") {
				t.Errorf("the diagnosis is %v", err)
			}
		}
		<-time.After(retryRefused)
		if _, err := pass(s, names, func(request) error { return nil }); err != nil || s.Diagnose() != nil {
			t.Errorf("once the device has them: %v, %v", err, s.Diagnose())
		}
	})
}

func TestARefusedRegisterStaysNamedUntilItWasRead(t *testing.T) {
	for name, says := range map[string]error{
		"refused again":      wire.ErrIllegalDataAddress,
		"busy":               wire.ErrServerDeviceBusy,
		"cut short":          context.DeadlineExceeded,
		"device failure":     wire.ErrServerDeviceFailure,
		"the last of a scan": errNoAnswer,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, names := newTestSession(0, 10, 1000)
				answer := error(wire.ErrIllegalDataAddress)
				ask := func(r request) error {
					if r.first == 1000 {
						return answer
					}
					return nil
				}
				named := func(when string) {
					t.Helper()
					if _, err := pass(s, names, ask); err != nil {
						t.Fatal(err)
					}
					if err := s.Diagnose(); err == nil || !strings.Contains(err.Error(), "(holding 1000)") {
						t.Errorf("%s: the diagnosis is %v", when, err)
					}
				}
				named("at first")
				<-time.After(retryRefused + time.Second)
				answer = says
				named("while it is asked for again")
				if answer = wire.ErrIllegalDataAddress; !errors.Is(says, context.DeadlineExceeded) { // a scan that is cut begins there the next time
					answer = says
				}
				named("after that")
				answer = nil
				<-time.After(retryRefused + time.Second)
				if _, err := pass(s, names, ask); err != nil || s.Diagnose() != nil {
					t.Errorf("once it was read: %v, %v", err, s.Diagnose())
				}
			})
		})
	}
}
