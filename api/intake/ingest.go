package intake

import (
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"voltbus/api/answer"
	"voltbus/api/exchange"
	"voltbus/fault"
	"voltbus/ingest"
	"voltbus/operation/transport"
	"voltbus/point"
)

// Admission records readings from outside.
type Admission interface {
	// Record refuses readings that may not be recorded and makes the rest durable: when it returns
	// nil they are on disk. under restricts the points; "" allows all.
	Record(ctx context.Context, b *ingest.Batch, under point.Path) error
}

// Rates bounds what one user may send per second. Zero values mean the defaults.
type Rates struct {
	Requests float64 // default 20,000
	Samples  float64 // default 5,000,000
}

const (
	defaultRequests = 20_000
	defaultSamples  = 5_000_000
	parsing         = 256              // bodies processed at once
	commitTimeout   = 30 * time.Second // longest wait of a write for the disk
	retryWrite      = "5"              // seconds, if the node cannot record now
)

var (
	errIngestMedia = errors.New("the body must be application/json, application/senml+json, application/senml+cbor, text/csv or text/plain for line protocol; set Content-Type")
	errRate        = errors.New("sends more than it may; wait as Retry-After says, and send larger bodies less often")
	errNone        = errors.New("no reading was recorded; ingested.errors says why, by line")
)

// readingRoutes are the routes for readings of points.
func (s *Intake) readingRoutes() []exchange.Route {
	return []exchange.Route{
		exchange.Carried(transport.Record, s.samples), exchange.Carried(transport.WriteInflux2, s.writeInflux),
		exchange.Carried(transport.WriteInflux1, s.writeInflux), exchange.Carried(transport.PingInflux, s.ping),
		exchange.Carried(transport.HealthInflux, s.influxHealth),
	}
}

// formatOf returns the format that a Content-Type names.
func formatOf(header string) (ingest.Format, error) {
	media, _, err := mime.ParseMediaType(header)
	if err == nil {
		switch media {
		case "application/json":
			return ingest.JSON, nil
		case "application/senml+json":
			return ingest.SenML, nil
		case "application/senml+cbor":
			return ingest.SenMLCBOR, nil
		case "text/csv":
			return ingest.CSV, nil
		case "text/plain":
			return ingest.Line, nil
		}
	}
	return 0, exchange.Fail(http.StatusUnsupportedMediaType, errIngestMedia)
}

// samples records readings in any format.
func (s *Intake) samples(w http.ResponseWriter, r *exchange.Request) error {
	format, err := formatOf(r.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	in := exchange.Read(r)
	job := &writing{format: format}
	precision, _ := in.Text("precision")
	if job.opts.Precision, err = ingest.ParsePrecision(precision); err != nil {
		in.Fail("precision", err)
	}
	if layout, ok := in.Text("layout"); ok {
		if job.opts.Layout, err = ingest.ParseLayout(layout); err != nil {
			in.Fail("layout", err)
		}
	}
	under, _ := in.Text("under")
	job.opts.Under = point.Path(strings.Trim(under, "/"))
	if in.Err != nil {
		return in.Err
	}
	done, err := s.write(w, r, job)
	if err != nil {
		return err
	}
	if done.replayed {
		w.Header().Set(headerReplayed, "true")
	}
	if done.status == http.StatusUnprocessableEntity {
		var none answer.Ingested
		if err := json.Unmarshal(done.body, &none); err != nil {
			return fault.E("api.samples", fault.Internal, "", err)
		}
		return exchange.Fail(done.status, fault.E("api.samples", fault.Invalid, "", &noneError{none}))
	}
	w.Header().Set("Content-Type", exchange.JSON)
	w.Header().Set("Content-Length", strconv.Itoa(len(done.body)))
	w.WriteHeader(done.status)
	_, _ = w.Write(done.body) // an error means that the sender has disconnected
	return nil
}

// noneError is returned for a body of which nothing was recorded.
type noneError struct{ ingested answer.Ingested }

func (*noneError) Error() string { return errNone.Error() }

// Describe implements exchange.Describer.
func (e *noneError) Describe(p *answer.Problem) { p.Ingested = &e.ingested }

// writing is a body being recorded.
type writing struct {
	format ingest.Format
	opts   ingest.Options
}

// write reads the body and records it, once if it has an idempotency key.
func (s *Intake) write(w http.ResponseWriter, r *exchange.Request, job *writing) (result, error) {
	if s.Admission == nil {
		return result{}, exchange.Absent("samples")
	}
	if err := s.MayRecord(r.User.Name); err != nil {
		return result{}, err
	}
	done, err := s.writeOnce(r, job)
	if fault.Is(err, fault.Timeout) { // sending it again is harmless
		err = fault.E("api.write", fault.Unavailable, "", err)
	}
	if fault.Is(err, fault.Unavailable) {
		w.Header().Set("Retry-After", retryWrite)
	}
	return done, err
}

func (s *Intake) writeOnce(r *exchange.Request, job *writing) (result, error) {
	content, err := s.bodies.read(r.Request, r.User.Name)
	if err != nil {
		return result{}, err
	}
	defer content.release()
	s.received.Add(uint64(len(content.data)))
	if s.Repeats == nil || r.Header.Get(exchange.HeaderKey) == "" {
		return s.ingest(r, job, content.data, s.Now())
	}
	key, err := r.Key()
	if err != nil {
		return result{}, err
	}
	return s.once(r, key, content.data, func(now time.Time) (result, error) {
		return s.ingest(r, job, content.data, now)
	})
}

// ingest parses a body and records it.
func (s *Intake) ingest(r *exchange.Request, job *writing, content []byte, now time.Time) (result, error) {
	ctx, cancel := context.WithTimeout(r.Context(), commitTimeout)
	defer cancel()
	select {
	case s.parsing <- struct{}{}:
		defer func() { <-s.parsing }()
	case <-ctx.Done():
		return result{}, fault.E("api.ingest", fault.KindOf(ctx.Err()), "", ctx.Err())
	}
	if err := r.Again(); err != nil { // the body may have taken minutes, and the queue some seconds
		return result{}, err
	}
	parser, ok := s.parsers.Get().(*ingest.Parser)
	if !ok {
		parser = ingest.NewParser()
	}
	defer s.parsers.Put(parser)
	accepted := 0
	job.opts.Now, job.opts.Bounds = now, s.Bounds
	report, err := parser.Parse(job.format, content, job.opts, func(b *ingest.Batch) error {
		s.Charge(r.User.Name, len(b.Samples))
		err := s.Admission.Record(ctx, b, point.Path(r.User.Under))
		if err == nil {
			accepted += len(b.Samples)
		}
		return err
	})
	s.accepted.Add(uint64(accepted))
	s.refused.Add(uint64(report.Refused))
	s.misdated.Add(uint64(report.Misdated))
	if err != nil {
		return result{}, err
	}
	return outcome(accepted, report)
}

// outcome returns the answer: 200 if all was recorded, 207 if only some was, 422 if nothing was.
func outcome(accepted int, report *ingest.Report) (result, error) {
	out := answer.Ingested{Accepted: accepted, Refused: report.Refused, Misdated: report.Misdated, Errors: make([]answer.IngestError, len(report.Errors))}
	for i, e := range report.Errors {
		out.Errors[i] = answer.IngestError{Line: e.Line, Point: string(e.Point), Kind: e.Kind.String(), Detail: e.Detail}
	}
	status := http.StatusOK
	if out.Refused > 0 {
		status = http.StatusMultiStatus
		if accepted == 0 {
			status = http.StatusUnprocessableEntity
		}
	}
	b, err := json.Marshal(out)
	if err != nil {
		return result{}, fault.E("api.ingest", fault.Internal, "", err)
	}
	return result{status: status, body: b}, nil
}
