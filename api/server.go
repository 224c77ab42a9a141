package api

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"voltbus/api/bound"
	"voltbus/api/exchange"
	"voltbus/api/intake"
	"voltbus/api/login"
	"voltbus/api/stream"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/internal/admission"
)

const (
	maxQuery = 512 << 10 // bytes of a query string
	// MaxHeader is the maximum size of a request's first line and header in bytes, for http.Server.
	MaxHeader = maxQuery + 64<<10
)

// server answers requests. Its counters are for /metrics.
type server struct {
	cfg        Config
	started    time.Time
	routing    *routing
	door       *login.Door
	auditor    *auditor
	streams    *stream.Streams
	exports    *bound.Places
	queries    *bound.Queues // in PromQL
	running    *bound.Places // requests other than streams
	bodies     *bound.Places // bytes of bodies being read or processed
	statements *bound.Queues // of SQL

	statementTexts *bound.Quotas // in bytes

	intake *intake.Intake
	zips   zips

	requests [6]atomic.Uint64 // by the first digit of the status
}

var (
	errNoRoute = errors.New("there is nothing at this address; /api/v1/openapi.yaml lists what there is")
	errMethod  = errors.New("this address does not know the method; see the Allow header")
)

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	rec := &recorder{ResponseWriter: w}
	// A reader that stops reading must not hold an answer for ever. Streams set their own deadlines.
	_ = http.NewResponseController(w).SetWriteDeadline(began.Add(answerTimeout))
	defer s.note(rec, r, began)
	defer arrive(w, r, s.cfg.BodyGrace)()
	defer s.rescue(rec, r)
	if err := checkHost(r, s.cfg.Hosts); err != nil {
		s.refuse(rec, r, err)
		return
	}
	if !isAPI(r.URL.Path) {
		s.page(rec, r)
		return
	}
	secure(rec.Header(), policyAnswer)
	if err := s.answer(rec, r); err != nil { //nolint:contextcheck // what a request did is told, also if its sender has gone
		s.refuse(rec, r, err)
	}
}

// note counts and logs an answered request.
func (s *server) note(rec *recorder, r *http.Request, began time.Time) {
	s.requests[min(rec.status/100, len(s.requests)-1)].Add(1)
	s.cfg.Log.LogAttrs(r.Context(), slog.LevelDebug, "request answered",
		slog.String("method", r.Method), slog.String("path", exchange.Clip(r.URL.Path)), slog.Int("status", rec.status),
		slog.Int64("bytes", rec.bytes), slog.Duration("took", time.Since(began)))
}

func isAPI(path string) bool {
	return path == "/metrics" || intake.IsInflux(path) || path == "/api" || strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, prometheusPrefix+"/")
}

func (s *server) page(w http.ResponseWriter, r *http.Request) {
	secure(w.Header(), policyPage)
	if s.cfg.Page == nil {
		s.refuse(w, r, exchange.Fail(http.StatusNotFound, errNoRoute))
		return
	}
	s.cfg.Page.ServeHTTP(w, r)
}

// answer finds the route, checks the caller's rights, and lets the route answer.
func (s *server) answer(w http.ResponseWriter, r *http.Request) error {
	rt, err := s.routing.find(w, r)
	if err != nil {
		return err
	}
	user, err := s.door.Authorise(r, rt)
	if err != nil {
		s.auditor.tellRefusal(r, rt, user, err)
		return err
	}
	if user.Name != "" {
		done, err := s.admit(r, user, &rt)
		if err != nil {
			return err
		}
		defer done()
	}
	var params url.Values
	if !rt.Foreign {
		if params, err = known(r, rt.Params); err != nil {
			return err
		}
	}
	r.Body = http.MaxBytesReader(w, r.Body, rt.Body)
	if !rt.Stream {
		zw := s.zips.compress(w, r)
		defer zw.close()
		w = zw
	}
	req := &exchange.Request{Request: r, User: user, Params: params}
	req.Again = func() error { return s.authoriseAgain(req, rt) }
	if user.Name != "" {
		room, end := s.bodies.Account(user.Name)
		defer end()
		req.Room = room
	}
	if rt.Role != identity.Nobody {
		defer req.Attend(s.cfg.Look, func(r *http.Request) error { _, err := s.door.Authorise(r, rt); return err })()
	}
	if rt.Stream {
		s.auditor.tellReading(req, &rt, nil) // it may end much later
	}
	err = rt.Serve(w, req)
	if !rt.Stream {
		s.auditor.tellReading(req, &rt, err)
	}
	if why := req.Ended(); err != nil && why != nil {
		err = why
		s.auditor.tellRefusal(r, rt, user, err)
	}
	s.auditor.tell(req, rt, err)
	return err
}

// admit runs a request of an authenticated caller, unless too many of theirs are running.
func (s *server) admit(r *http.Request, user identity.User, rt *exchange.Route) (done func(), err error) {
	if rt.Stream { // it takes a place for streams
		return admission.Work(r.Context()), nil
	}
	release, err := s.running.Take(user.Name, 1)
	if err != nil {
		return nil, err
	}
	rest := admission.Work(r.Context())
	return func() {
		rest()
		release()
	}, nil
}

// answerTimeout is how long sending an answer other than a stream may take.
const answerTimeout = 2 * time.Minute

// known parses the query, and refuses parameters that the route does not know: a misspelt one would
// otherwise be ignored and the answer would differ from what was asked for.
func known(r *http.Request, allowed []string) (url.Values, error) {
	if len(r.URL.RawQuery) > maxQuery {
		return nil, exchange.Fail(http.StatusRequestURITooLong, fmt.Errorf(
			"the query has more than %d bytes; use a pattern, or ask in parts", maxQuery))
	}
	params, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fault.E("api.query", fault.Invalid, "query", fmt.Errorf("cannot be read: %w", err))
	}
	for name := range params {
		if slices.Contains(allowed, name) {
			continue
		}
		if len(allowed) == 0 {
			return nil, fault.E("api.query", fault.Invalid, exchange.Clip(name), errors.New("this address takes no parameters"))
		}
		return nil, fault.E("api.query", fault.Invalid, exchange.Clip(name), fmt.Errorf(
			"is not a parameter here; there are %s", strings.Join(allowed, ", ")))
	}
	return params, nil
}

// rescue turns a panic into an answer and a log entry, so that one defect ends one request.
func (s *server) rescue(rec *recorder, r *http.Request) {
	cause := recover()
	switch cause {
	case nil:
		return
	case http.ErrAbortHandler:
		panic(cause)
	}
	s.cfg.Log.LogAttrs(r.Context(), slog.LevelError, "request failed by a defect",
		slog.String("path", r.URL.Path), slog.Any("cause", cause), slog.String("stack", string(debug.Stack())))
	s.refuse(rec, r, fault.E("api.ServeHTTP", fault.Internal, "", exchange.ErrDefect))
}

// recorder captures what was answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
