package exchange

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"voltbus/api/answer"
	"voltbus/control/access"
	"voltbus/fault"
	"voltbus/wire"
)

// StatusError is an error that has its own HTTP status.
type StatusError struct {
	status int
	err    error
}

func (e *StatusError) Error() string { return e.err.Error() }

func (e *StatusError) Unwrap() error { return e.err }

// Fail gives an error an HTTP status.
func Fail(status int, err error) error { return &StatusError{status, err} }

// statusClosed is what other servers log for a client that disconnected.
const statusClosed = 499

func statusOf(kind fault.Kind) int {
	switch kind {
	case fault.Invalid:
		return http.StatusBadRequest
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Unreachable:
		return http.StatusBadGateway
	case fault.Timeout:
		return http.StatusGatewayTimeout
	case fault.Refused:
		return http.StatusForbidden
	case fault.Conflict:
		return http.StatusConflict
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	case fault.Rejected:
		return http.StatusUnprocessableEntity
	case fault.Canceled:
		return statusClosed
	case fault.Internal, fault.Corrupt:
	}
	return http.StatusInternalServerError
}

func titleOf(kind fault.Kind) string {
	switch kind {
	case fault.Invalid:
		return "The request is wrong"
	case fault.NotFound:
		return "It does not exist"
	case fault.Unreachable:
		return "The other side does not answer"
	case fault.Timeout:
		return "It took too long"
	case fault.Refused:
		return "Not allowed"
	case fault.Conflict:
		return "It is held by somebody else, or exists already"
	case fault.Unavailable:
		return "Not possible now"
	case fault.Corrupt:
		return "Stored data is damaged"
	case fault.Rejected:
		return "The other side said no"
	case fault.Canceled:
		return "The request was given up"
	case fault.Internal:
	}
	return "A defect of the program"
}

// Describer is an error with further fields for a problem.
type Describer interface {
	error
	Describe(p *answer.Problem)
}

// ErrDefect replaces an internal error in responses.
var ErrDefect = errors.New("a defect of the program; its log has the details")

// ProblemOf describes an error. The details of internal errors go to the log only.
func ProblemOf(err error, instance string) answer.Problem {
	kind := fault.KindOf(err)
	p := answer.Problem{Status: statusOf(kind), Detail: err.Error(), Instance: instance}
	if special, ok := errors.AsType[*StatusError](err); ok {
		p.Status = special.status
		if kind == fault.Internal {
			kind = kindOfStatus(p.Status)
		}
	}
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Err != nil {
		p.Detail, p.Subject = e.Err.Error(), shortSubject(e.Subject)
	}
	if more, ok := errors.AsType[Describer](err); ok {
		more.Describe(&p)
	}
	if f, ok := errors.AsType[*wire.Failure](err); ok {
		p.Node, p.Missing = f.Node, f.Missing
	}
	if raised, ok := errors.AsType[*answer.RaisedError](err); ok {
		p.Raised = &raised.Raised
	}
	if list, ok := errors.AsType[answer.Problems](err); ok {
		p.Problems = list
	}
	if r, ok := errors.AsType[*access.Refused](err); ok {
		p.Why, p.Holders = r.Why, r.Holders
	}
	if kind == fault.Internal {
		p.Detail = ErrDefect.Error()
	}
	p.Kind, p.Title, p.Type = kind.String(), titleOf(kind), "urn:voltbus:fault:"+kind.String()
	return p
}

func kindOfStatus(status int) fault.Kind {
	switch status {
	case http.StatusNotFound:
		return fault.NotFound
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusMisdirectedRequest:
		return fault.Refused
	case http.StatusTooManyRequests:
		return fault.Unavailable
	}
	return fault.Invalid
}

const maxClip = 200

// shortSubject bounds how much of a received name an answer repeats. Paths of points are shorter.
func shortSubject(s string) string {
	const most = 1 << 10
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Clip shortens received text before it is repeated.
func Clip(s string) string {
	if len(s) <= maxClip {
		return s
	}
	return s[:maxClip] + "…"
}

// WaitError is an error with the time after which the caller may try again.
type WaitError struct {
	wait time.Duration
	err  error
}

func (e *WaitError) Error() string { return e.err.Error() }

func (e *WaitError) Unwrap() error { return Fail(http.StatusTooManyRequests, e.err) }

// Later refuses a request until the time has passed.
func Later(wait time.Duration, err error) error { return &WaitError{wait, err} }

// SetRetryAfter writes into the header the waiting time of an error.
func SetRetryAfter(w http.ResponseWriter, err error) {
	if early, ok := errors.AsType[*WaitError](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(early.wait.Seconds()))))
	}
}

var errAbsent = errors.New("this node does not have it; ask a node with that role")

// Absent reports that a node has no such part.
func Absent(what string) error { return fault.E("api", fault.Unavailable, what, errAbsent) }
