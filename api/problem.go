package api

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"voltbus/api/answer"
	"voltbus/control/access"
	"voltbus/fault"
	"voltbus/wire"
)

// statusError is an error that HTTP has its own status for.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// statusClosed is what logs of other servers show for a client that went away.
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

// problem describes an error. Internal errors keep their details for the log.
func problem(err error, instance string) answer.Problem {
	kind := fault.KindOf(err)
	p := answer.Problem{Status: statusOf(kind), Detail: err.Error(), Instance: instance}
	if special, ok := errors.AsType[*statusError](err); ok {
		p.Status = special.status
		if kind == fault.Internal {
			kind = kindOfStatus(p.Status)
		}
	}
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Err != nil {
		p.Detail, p.Subject = e.Err.Error(), shortSubject(e.Subject)
	}
	if none, ok := errors.AsType[*noneError](err); ok {
		p.Ingested = &none.ingested
	}
	if f, ok := errors.AsType[*wire.Failure](err); ok {
		p.Node, p.Missing = f.Node, f.Missing
	}
	if raised, ok := errors.AsType[*RaisedError](err); ok {
		p.Raised = &raised.Raised
	}
	if list, ok := errors.AsType[answer.Problems](err); ok {
		p.Problems = list
	}
	if r, ok := errors.AsType[*access.Refused](err); ok {
		p.Why, p.Holders = r.Why, r.Holders
	}
	if kind == fault.Internal {
		p.Detail = errPanic.Error()
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

// refuse answers with a problem. If the answer has begun, it cuts the connection instead: the
// reader must not take a part for the whole.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := problem(err, clip(r.URL.Path))
	s.logProblem(r, p.Status, err)
	if rec, ok := w.(*recorder); ok && rec.status != 0 {
		panic(http.ErrAbortHandler)
	}
	write, media := json.Marshal, "application/problem+json"
	if isInflux(r.URL.Path) {
		write, media = func(any) ([]byte, error) { return influxProblem(p) }, jsonType
	}
	b, jerr := write(p)
	if jerr != nil {
		b = []byte(`{}`)
	}
	h := w.Header()
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	tellWait(w, err)
	h.Del("Content-Encoding")
	h.Del("Content-Disposition")
	h.Set("Content-Type", media)
	w.WriteHeader(p.Status)
	_, _ = w.Write(b) // nobody to tell if the reader has gone
}

func (s *server) logProblem(r *http.Request, status int, err error) {
	level := slog.LevelDebug
	if status == http.StatusInternalServerError {
		level = slog.LevelError
	}
	var op string
	if e, ok := errors.AsType[*fault.Error](err); ok {
		op = e.Op
	}
	s.cfg.Log.LogAttrs(r.Context(), level, "request refused",
		slog.String("path", clip(r.URL.Path)), slog.String("op", op), slog.Any("kind", fault.KindOf(err)),
		slog.Any("err", err))
}

const maxClip = 200

// shortSubject bounds what an answer repeats of a name that was sent. Paths of points are shorter.
func shortSubject(s string) string {
	const most = 1 << 10
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// clip shortens what a stranger sent, before it is repeated.
func clip(s string) string {
	if len(s) <= maxClip {
		return s
	}
	return s[:maxClip] + "…"
}
