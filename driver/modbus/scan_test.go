package modbus

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	wire "github.com/simonvetter/modbus"

	"voltbus/driver"
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
	s.planner = newPlanner(s.registers, maxRegisters, 0)
	s.results, s.refusals = make([]result, len(addresses)), make([]refusal, len(addresses))
	return s, names
}

// pass runs one scan with answers instead of a line and returns the requests that were sent.
func pass(s *session, names []string, answer func(request) error) (sent int, err error) {
	s.prepare(names, time.Now())
	sc := scan{session: s, queue: append([]request(nil), s.requests...)}
	for len(sc.queue) > 0 {
		r := sc.queue[0]
		sc.queue = sc.queue[1:]
		sent++
		words, answered := []uint16(nil), answer(r)
		if answered == nil {
			words = make([]uint16, r.count)
		}
		if err := sc.judge(&r, words, answered); err != nil {
			return sent, err
		}
	}
	return sent, sc.verdict
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
