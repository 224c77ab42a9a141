package intake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"voltbus/api/answer"
	"voltbus/api/exchange"
	"voltbus/fault"
	"voltbus/ingest"
	"voltbus/point"
)

// influxShown is how many errors the message of a partial write repeats.
const influxShown = 3

// IsInflux reports whether an address speaks the API of InfluxDB, errors included.
func IsInflux(path string) bool {
	switch path {
	case "/api/v2/write", "/write", "/ping", "/health":
		return true
	}
	return false
}

// writeInflux records line protocol as InfluxDB 2 and 1 do. The bucket or database is the path below which the points lie.
func (s *Intake) writeInflux(w http.ResponseWriter, r *exchange.Request) error {
	in := exchange.Read(r)
	job := &writing{format: ingest.Line}
	precision, _ := in.Text("precision")
	var err error
	if job.opts.Precision, err = ingest.ParsePrecision(precision); err != nil {
		in.Fail("precision", err)
	}
	folder, ok := in.Text("bucket")
	if !ok {
		folder, _ = in.Text("db")
	}
	job.opts.Under = point.Path(strings.Trim(folder, "/"))
	if in.Err != nil {
		return in.Err
	}
	done, err := s.write(w, r, job)
	if err != nil {
		return err
	}
	if done.status != http.StatusOK {
		return partial(done)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// partial reports which lines were refused; all others are recorded.
func partial(done result) error {
	var a answer.Ingested
	if err := json.Unmarshal(done.body, &a); err != nil {
		return fault.E("api.writeInflux", fault.Internal, "", err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "partial write: %d recorded, %d refused", a.Accepted, a.Refused)
	for _, e := range a.Errors[:min(len(a.Errors), influxShown)] {
		fmt.Fprintf(&text, "; line %d: %s: %s", e.Line, e.Point, e.Detail)
	}
	return fault.E("api.writeInflux", fault.Invalid, "", &partialError{text.String()})
}

type partialError struct{ text string }

func (e *partialError) Error() string { return e.text }

// InfluxProblem is an error in the form of InfluxDB.
func InfluxProblem(p answer.Problem) ([]byte, error) {
	code := "internal error"
	switch p.Status {
	case http.StatusBadRequest:
		code = "invalid"
	case http.StatusUnauthorized:
		code = "unauthorized"
	case http.StatusForbidden:
		code = "forbidden"
	case http.StatusNotFound:
		code = "not found"
	case http.StatusMethodNotAllowed:
		code = "method not allowed"
	case http.StatusRequestEntityTooLarge:
		code = "request too large"
	case http.StatusUnprocessableEntity:
		code = "unprocessable entity"
	case http.StatusTooManyRequests:
		code = "too many requests"
	case http.StatusServiceUnavailable:
		code = "unavailable"
	}
	message := p.Detail
	if p.Subject != "" {
		message = p.Subject + ": " + message
	}
	return json.Marshal(answer.InfluxError{Code: code, Message: message})
}

// ping answers clients that probe for InfluxDB.
func (s *Intake) ping(w http.ResponseWriter, _ *exchange.Request) error {
	w.Header().Set("X-Influxdb-Version", "voltbus")
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// influxHealth reports the node's health in the form of InfluxDB.
func (s *Intake) influxHealth(w http.ResponseWriter, r *exchange.Request) error {
	out := answer.InfluxHealth{Name: "voltbus", Message: "ready for writes", Checks: []string{}, Status: "pass"}
	if s.Works != nil && !s.Works(r.Context()) {
		out.Status, out.Message = "fail", "see /api/v1/health"
		w.Header().Set("Content-Type", exchange.JSON)
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	return exchange.WriteJSON(w, out)
}
