package modbus

import (
	"context"
	"errors"
	"fmt"
	"time"

	wire "github.com/simonvetter/modbus"

	"voltbus/driver"
	"voltbus/point"
)

// errUnitFails is a device that answers each request with "device failure" and never gave data:
// what gateways and servers say for a unit that they do not know.
var errUnitFails = errors.New("answers only with device failure; check the unit number")

// scan is one pass over a device's requests: it decides what each answer means.
type scan struct {
	session *session
	queue   []request // still to be sent
	heard   bool      // the unit gave data in this pass
	verdict error     // for the whole device
}

// judge takes the answer to r, which may be split. An error ends the pass.
func (sc *scan) judge(r *request, words []uint16, err error) error {
	s := sc.session
	switch {
	case err == nil:
		sc.take(r, words)
	case errors.Is(err, driver.ErrNotConnected), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, errNoAnswer):
		return sc.giveUp(r, point.BadTimeout, err)
	case errors.Is(err, wire.ErrGWPathUnavailable), errors.Is(err, wire.ErrGWTargetFailedToRespond):
		return sc.giveUp(r, point.BadUnreachable, err)
	case errors.Is(err, errGarbled):
		return sc.giveUp(r, point.BadValue, err)
	case errors.Is(err, wire.ErrIllegalDataAddress), errors.Is(err, wire.ErrIllegalDataValue):
		sc.split(r, point.BadConfig)
	case errors.Is(err, wire.ErrIllegalFunction):
		s.refuse(r, point.BadConfig) // the device has not got this table
	case errors.Is(err, wire.ErrServerDeviceFailure):
		sc.failure(r, err)
	default: // busy, acknowledge, parity: of this moment
		s.mark(r, point.BadDevice)
	}
	return nil
}

// take keeps the answer.
func (sc *scan) take(r *request, words []uint16) {
	s := sc.session
	sc.heard, s.answered, sc.verdict = true, true, nil
	s.remember(r, 0)
	now := time.Now().UTC().Truncate(time.Microsecond)
	for _, i := range r.members {
		from := int(s.registers[i].address) - int(r.first)
		s.results[i] = result{words: words[from : from+s.registers[i].layout.words], quality: point.Good, time: now}
	}
}

// giveUp ends the pass, for each further request would wait as long. If the unit was heard in
// this pass the rest of the points is bad, else the whole device.
func (sc *scan) giveUp(r *request, quality point.Quality, err error) error {
	if !sc.heard {
		return err
	}
	sc.session.mark(r, quality)
	for i := range sc.queue {
		sc.session.mark(&sc.queue[i], quality)
	}
	sc.queue = nil
	return nil
}

// split sends the halves of a refused request next; a single register is refused for a while.
func (sc *scan) split(r *request, quality point.Quality) {
	left, right, ok := sc.session.planner.split(*r)
	if !ok {
		sc.session.refuse(r, quality)
		return
	}
	sc.session.requests = nil
	sc.queue = append([]request{left, right}, sc.queue...)
}

// failure treats exception 4. Some devices answer so to a run with a gap, others for a moment,
// and gateways for a unit that they do not know.
func (sc *scan) failure(r *request, err error) {
	s := sc.session
	s.mark(r, point.BadDevice)
	if !s.answered {
		sc.verdict = fmt.Errorf("%w (%w)", errUnitFails, err)
		return
	}
	if r.failures+1 >= patience && sc.heard {
		sc.split(r, point.BadDevice)
		return
	}
	s.remember(r, r.failures+1)
}

// remember keeps the number of failures of a planned request for the next pass.
func (s *session) remember(r *request, failures int) {
	for i := range s.requests {
		if p := &s.requests[i]; p.table == r.table && p.first == r.first && p.count == r.count {
			p.failures = failures
		}
	}
}

// mark gives all points of a request a quality.
func (s *session) mark(r *request, quality point.Quality) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	for _, i := range r.members {
		s.results[i] = result{quality: quality, time: now}
	}
}

// refuse leaves the points of a request out for a while.
func (s *session) refuse(r *request, quality point.Quality) {
	for _, i := range r.members {
		s.refusals[i] = refusal{until: time.Now().Add(retryRefused), quality: quality}
	}
	s.requests = nil
}
