package api

import (
	"context"
	"encoding/json"
	"net/http"

	"voltbus/api/exchange"
	"voltbus/api/stream"
	"voltbus/operation/lab"
	"voltbus/operation/transport"
)

// Lab runs experiments, and serves the pages and the progress of runs.
type Lab interface {
	lab.Lab
	// Report returns a finished run's page and the content security policy it needs.
	Report(ctx context.Context, id string) (page []byte, policy string, err error)
	// Follow calls emit with each event of a run until it has ended, emit fails or ctx ends.
	Follow(ctx context.Context, id string, emit func(event string, data json.RawMessage) error) error
}

// labs serves the results and the progress of runs.
type labs struct {
	lab     Lab
	streams *stream.Streams
}

func (l labs) routes() []exchange.Route {
	return []exchange.Route{exchange.Carried(transport.LabReport, l.labReport), exchange.Carried(transport.LabRun, l.labStream)}
}

const noLab = "lab"

// id returns the run named in the path.
func (l labs) id(r *exchange.Request) (string, error) {
	if l.lab == nil {
		return "", exchange.Absent(noLab)
	}
	in := exchange.Read(r)
	id := in.Segment("id")
	return id, in.Err
}

func (l labs) labReport(w http.ResponseWriter, r *exchange.Request) error {
	id, err := l.id(r)
	if err != nil {
		return err
	}
	page, policy, err := l.lab.Report(r.Context(), id)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", policy)
	out := exchange.NewOutput(w, page)
	out.Begin("text/html; charset=utf-8")
	return out.End()
}

// labStream sends the progress of a run as server-sent events until it has ended, the client disconnects, or its login ends.
func (l labs) labStream(w http.ResponseWriter, r *exchange.Request) error {
	id, err := l.id(r)
	if err != nil {
		return err
	}
	if _, err := l.lab.Result(r.Context(), id); err != nil {
		return err
	}
	release, err := l.streams.Reader(r)
	if err != nil {
		return err
	}
	defer release()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not buffer it
	p := exchange.NewPatient(w, l.streams.WriteTimeout)
	defer p.Limit() // for the server's final writes
	err = l.lab.Follow(r.Context(), id, func(event string, data json.RawMessage) error {
		return p.Send(exchange.AppendEvent(nil, event, data))
	})
	if err != nil || r.Context().Err() != nil {
		return l.streams.LastEvent(p, r, err)
	}
	return nil
}
