package api

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"voltbus/api/exchange"
	"voltbus/api/intake"
	"voltbus/fault"
)

// refuse answers with a problem. If the answer has begun, it closes the connection instead: the
// client must not take a partial answer for a complete one.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := exchange.ProblemOf(err, exchange.Clip(r.URL.Path))
	s.logProblem(r, p.Status, err)
	if rec, ok := w.(*recorder); ok && rec.status != 0 {
		panic(http.ErrAbortHandler)
	}
	write, media := json.Marshal, "application/problem+json"
	if intake.IsInflux(r.URL.Path) {
		write, media = func(any) ([]byte, error) { return intake.InfluxProblem(p) }, exchange.JSON
	}
	b, jerr := write(p)
	if jerr != nil {
		b = []byte(`{}`)
	}
	h := w.Header()
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	exchange.SetRetryAfter(w, err)
	h.Del("Content-Encoding")
	h.Del("Content-Disposition")
	h.Set("Content-Type", media)
	w.WriteHeader(p.Status)
	_, _ = w.Write(b) // an error means that the client has disconnected
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
		slog.String("path", exchange.Clip(r.URL.Path)), slog.String("op", op), slog.Any("kind", fault.KindOf(err)),
		slog.Any("err", err))
}
