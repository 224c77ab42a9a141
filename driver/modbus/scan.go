package modbus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	wire "github.com/simonvetter/modbus"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// errUnitFails is the error of a device that answers each request with "device failure" and has never given
// data: so gateways and servers answer for an unknown unit.
var errUnitFails = errors.New("answers only with device failure; check the unit number")

// scan is one pass over a device's requests: it interprets each answer.
type scan struct {
	session *session
	queue   []request // still to send
	began   time.Time
	answers int   // requests that gave data in this pass
	cut     int   // requests left when the time was up
	verdict error // error for the whole device
}

// judge processes the answer to r, which may be split. An error ends the pass.
func (sc *scan) judge(r *request, words []uint16, err error) error {
	s := sc.session
	switch {
	case err == nil:
		sc.take(r, words)
	case errors.Is(err, driver.ErrNotConnected), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return sc.cutShort(r, err)
	case errors.Is(err, errNoAnswer):
		return sc.giveUp(r, point.BadTimeout, err)
	case errors.Is(err, wire.ErrGWPathUnavailable), errors.Is(err, wire.ErrGWTargetFailedToRespond):
		return sc.giveUp(r, point.BadUnreachable, err)
	case errors.Is(err, errGarbled):
		return sc.giveUp(r, point.BadValue, err)
	case errors.Is(err, wire.ErrIllegalDataAddress), errors.Is(err, wire.ErrIllegalDataValue):
		sc.split(r, point.BadConfig)
	case errors.Is(err, wire.ErrIllegalFunction):
		s.refuse(r, point.BadConfig) // the device does not have this table
	case errors.Is(err, wire.ErrServerDeviceFailure):
		sc.failure(r, err)
	default: // busy, acknowledge, parity: temporary
		s.mark(r, point.BadDevice)
	}
	return nil
}

// take stores the answer.
func (sc *scan) take(r *request, words []uint16) {
	s := sc.session
	sc.answers++
	s.answered, sc.verdict = true, nil
	s.remember(r, 0)
	now := time.Now().UTC().Truncate(time.Microsecond)
	for _, i := range r.members {
		from := int(s.registers[i].address) - int(r.first)
		s.results[i] = result{words: words[from : from+s.registers[i].layout.Words], quality: point.Good, time: now}
		s.refusals[i] = refusal{}
	}
}

// giveUp ends the pass, since each further request would wait as long. If the unit has answered in this pass
// the rest of the points is bad, otherwise the whole device.
func (sc *scan) giveUp(r *request, quality point.Quality, err error) error {
	if sc.answers == 0 {
		return err
	}
	sc.session.mark(r, quality)
	for i := range sc.queue {
		sc.session.mark(&sc.queue[i], quality)
	}
	sc.queue = nil
	return nil
}

// cutShort ends the pass when its time is up. Values received are kept, the remaining points are bad, and the next
// pass begins with them.
func (sc *scan) cutShort(r *request, err error) error {
	sc.cut = len(sc.queue) + 1
	if err := sc.giveUp(r, point.BadTimeout, err); err != nil {
		return err
	}
	s := sc.session
	if at := slices.IndexFunc(s.requests, func(p request) bool { return p.table == r.table && p.first == r.first }); at > 0 {
		s.requests = slices.Concat(s.requests[at:], s.requests[:at])
	}
	return nil
}

// diagnose explains why points are bad although the unit answers; nil if they are not.
func (sc *scan) diagnose() error {
	if sc.cut > 0 && sc.answers > 0 {
		each := time.Since(sc.began) / time.Duration(sc.answers)
		also := ""
		if err := sc.session.missing(); err != nil {
			also = err.Error() + "; "
		}
		return fault.E("", fault.Timeout, "", fmt.Errorf("%s%w: the device answers about every %v, so that %d requests need about %v",
			also, driver.ErrScanCut, round(each), sc.answers+sc.cut, round(each*time.Duration(sc.answers+sc.cut))))
	}
	return sc.session.missing()
}

// round rounds a duration to about two digits.
func round(d time.Duration) time.Duration {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second)
	case d >= time.Second:
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}

// missing reports which registers the device refuses; nil if none.
func (s *session) missing() error {
	var names []string
	refused, hint := 0, ""
	for i := range s.refusals {
		if s.refusals[i].until.IsZero() {
			continue
		}
		if refused++; refused <= 3 {
			names = append(names, fmt.Sprintf("%s (%s %d)", s.registers[i].name, s.registers[i].table, s.registers[i].address))
		}
		if hint == "" {
			hint = numbering(s.registers[i].table.String(), s.registers[i].address)
		}
	}
	if refused == 0 {
		return nil
	}
	if refused > len(names) {
		names = append(names, fmt.Sprintf("%d more", refused-len(names)))
	}
	if hint == "" {
		hint = "correct table and address in the registry, or leave them out"
	}
	return fault.E("", fault.Invalid, "", fmt.Errorf(
		"the device refuses %d of %d registers: %s; %s", refused, len(s.registers), strings.Join(names, ", "), hint))
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

// failure handles exception 4. Some devices return it for a run with a gap, others temporarily, and gateways
// for an unknown unit.
func (sc *scan) failure(r *request, err error) {
	s := sc.session
	s.mark(r, point.BadDevice)
	if !s.answered {
		sc.verdict = fmt.Errorf("%w (%w)", errUnitFails, err)
		return
	}
	if r.failures+1 >= patience && sc.answers > 0 {
		sc.split(r, point.BadDevice)
		return
	}
	s.remember(r, r.failures+1)
}

// remember stores the failure count of a planned request for the next pass.
func (s *session) remember(r *request, failures int) {
	for i := range s.requests {
		if p := &s.requests[i]; p.table == r.table && p.first == r.first && p.count == r.count {
			p.failures = failures
		}
	}
}

// mark sets the quality of all points of a request.
func (s *session) mark(r *request, quality point.Quality) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	for _, i := range r.members {
		s.results[i] = result{quality: quality, time: now}
	}
}

// refuse excludes the points of a request for a while.
func (s *session) refuse(r *request, quality point.Quality) {
	for _, i := range r.members {
		s.refusals[i] = refusal{until: time.Now().Add(retryRefused), quality: quality}
	}
	s.requests = nil
}
