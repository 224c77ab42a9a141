package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"voltbus/api/bound"
	"voltbus/api/exchange"
	"voltbus/fault"
	"voltbus/operation"
	"voltbus/operation/declared"
)

// operationRoutes returns the routes of the declared operations.
func (s *server) operationRoutes() []exchange.Route {
	var list []exchange.Route
	for _, d := range declared.All() {
		if d.HTTP == "" || d.Carried != "" {
			continue
		}
		rt := exchange.RouteOf(&d, nil)
		rt.Serve = func(w http.ResponseWriter, r *exchange.Request) error { return s.perform(w, r, &rt) }
		list = append(list, rt)
	}
	return list
}

// perform carries out a declared operation.
func (s *server) perform(w http.ResponseWriter, r *exchange.Request, rt *exchange.Route) error {
	d := rt.Declared
	if s.cfg.Operations == nil || !s.cfg.Operations.Has(d.Name) {
		return exchange.Absent(d.Name)
	}
	if d.Record {
		if err := s.intake.MayRecord(r.User.Name); err != nil {
			return err
		}
	}
	args, err := exchange.Arguments(r, rt)
	if err != nil {
		return err
	}
	who := exchange.CallerOf(r.User)
	who.Login = r
	if d.Keyed {
		if who.Key, err = r.Key(); err != nil {
			return err
		}
	}
	if rt.Stream {
		to := &sender{Patient: exchange.NewPatient(w, s.cfg.WriteTimeout), request: r, enter: s.places(d.Stream), header: d.Header}
		defer to.Limit() // for the server's final writes
		return d.Addressed(s.cfg.Operations.Stream(r.Context(), &who, d.Name, args, to))
	}
	control := http.NewResponseController(w)
	if d.Wait > 0 {
		_ = control.SetWriteDeadline(time.Now().Add(d.Wait + answerTimeout)) // a connection without deadlines has none
	}
	var result any
	if node := s.elsewhere(*rt, r.Params); node != "" {
		result, err = s.cfg.Operations.RunElsewhere(r.Context(), &who, node, d.Name, args)
	} else {
		result, err = s.cfg.Operations.Do(r.Context(), &who, d.Name, args)
	}
	if d.Wait > 0 {
		_ = control.SetWriteDeadline(time.Now().Add(answerTimeout))
	}
	if err != nil {
		return d.Addressed(err)
	}
	if taken, is := result.(interface{ Taken() int }); is {
		s.intake.Charge(r.User.Name, taken.Taken())
	}
	return writeResult(w, result, cmp.Or(d.Media, exchange.JSON))
}

// writeResult writes the result of an operation.
func writeResult(w http.ResponseWriter, result any, media string) error {
	switch result := result.(type) {
	case operation.None:
		w.WriteHeader(http.StatusNoContent)
		return nil
	case json.RawMessage:
		if string(result) == "null" {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
	case operation.Written:
		out := operation.NewOutput(w)
		w.Header().Set("Content-Type", exchange.JSON)
		if err := result(out); err != nil {
			return err
		}
		if !out.Sent() {
			w.Header().Set("Content-Length", strconv.Itoa(len(out.Buf)))
		}
		return out.Flush()
	}
	out := exchange.NewOutput(w, nil)
	if quick, is := result.(interface{ AppendJSON(dst []byte) []byte }); is {
		out.Buf = quick.AppendJSON(nil)
	} else if b, err := json.Marshal(result); err == nil {
		out.Buf = b
	} else {
		return fault.E("api.writeResult", fault.Internal, "", err)
	}
	out.Begin(media)
	return out.End()
}

var errTaken = errors.New("an answer of this kind is not counted")

// places returns the function with which a request waits for a place of a kind.
func (s *server) places(kind string) func(context.Context, string, int) (func(), error) {
	switch kind {
	case operation.Exports:
		return func(_ context.Context, who string, _ int) (func(), error) { return s.exports.Take(who, 1) }
	case operation.Statements:
		return func(ctx context.Context, who string, cost int) (func(), error) {
			if err := told(s.statementTexts, who, cost, s.cfg.Now()); err != nil {
				return nil, err
			}
			return s.statements.Wait(ctx, who)
		}
	}
	return func(context.Context, string, int) (func(), error) {
		return nil, fault.E("api.places", fault.Internal, kind, errTaken)
	}
}

// statementRate is how many bytes of statements, which the audit log keeps whole, one person may send per second on average;
// twice as many at once.
const (
	statementRate     = 8 << 10
	statementRequests = 20_000 // per second and person
)

var errStatementRate = errors.New("sends more text of statements than the audit log takes of one person; wait as Retry-After says, and ask for more at once with shorter statements")

// told deducts from the person's allowance what the audit log will record.
func told(rate *bound.Quotas, who string, octets int, now time.Time) error {
	if wait := rate.Admit(who, now); wait > 0 {
		return exchange.Later(wait, fault.E("api.sql", fault.Unavailable, who, errStatementRate))
	}
	rate.Charge(who, now, octets)
	return nil
}

// sender is the destination of a stream.
type sender struct {
	*exchange.Patient
	request *exchange.Request
	enter   func(ctx context.Context, who string, cost int) (func(), error)
	header  string
}

// Enter implements operation.Stream.
func (t *sender) Enter(ctx context.Context, cost int) (func(), error) {
	return t.enter(ctx, t.request.User.Name, cost)
}

// Begin implements operation.Stream.
func (t *sender) Begin(h operation.Head) {
	to := t.Header()
	if to.Set("Content-Type", h.Media); h.File != "" {
		exchange.Disposition(t, h.File, h.Media)
	}
	if h.Length > 0 {
		to.Set("Content-Length", strconv.FormatInt(h.Length, 10))
	}
	if name, _, _ := strings.Cut(t.header, ":"); h.Value != "" {
		to.Set(name, h.Value)
	}
}

// Fail implements operation.Stream.
func (t *sender) Fail(err error) error {
	line, jerr := json.Marshal(map[string]any{"error": exchange.ProblemOf(err, t.request.URL.Path)})
	if jerr != nil {
		return jerr
	}
	_, werr := t.Write(append(line, '\n'))
	return werr
}
