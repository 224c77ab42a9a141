package api

import (
	"context"
	"encoding/json"
	"net/http"

	"voltbus/api/answer"
	"voltbus/api/exchange"
	"voltbus/api/stream"
	"voltbus/fault"
	"voltbus/identity"
)

// Lab runs experiments, each in a process of its own, and keeps what they found. Methods that take
// the id of a run fail with fault.NotFound for one that there is not.
type Lab interface {
	Experiments(ctx context.Context) []answer.LabExperiment
	// Runs lists the newest runs first.
	Runs(ctx context.Context) ([]answer.LabRun, error)
	// Start starts a run; fault.Conflict while another is under way, fault.Invalid for a wrong setting.
	Start(ctx context.Context, order answer.LabOrder) (answer.LabRun, error)
	// Result returns a run, a finished one with its result.
	Result(ctx context.Context, id string) (answer.LabRun, error)
	// Report returns a finished run's page and the content security policy that it needs.
	Report(ctx context.Context, id string) (page []byte, policy string, err error)
	// Stop ends a run and waits until nothing of it is left; a finished one it removes.
	Stop(ctx context.Context, id string) error
	// Follow calls emit with each event of a run until it has ended, emit fails or ctx ends.
	Follow(ctx context.Context, id string, emit func(event string, data json.RawMessage) error) error
	// Capacity returns what this machine was found to carry; fault.NotFound if it was not measured.
	Capacity(ctx context.Context) (json.RawMessage, error)
}

// labs answers what is asked of the lab.
type labs struct {
	lab     Lab
	streams *stream.Streams
}

const labBody = 64 << 10

func (l labs) routes() []exchange.Route {
	const viewer, engineer = identity.Viewer, identity.Engineer
	return []exchange.Route{
		{Method: "GET", Path: exchange.Prefix + "/lab/experiments", Role: viewer, Serve: l.labExperiments},
		{Method: "GET", Path: exchange.Prefix + "/lab/runs", Role: viewer, Serve: l.labRuns},
		{Method: "POST", Path: exchange.Prefix + "/lab/runs", Role: engineer, Body: labBody, Serve: l.labStart, Audit: "lab.start"},
		{Method: "GET", Path: exchange.Prefix + "/lab/runs/{id}", Role: viewer, Serve: l.labRun},
		{Method: "DELETE", Path: exchange.Prefix + "/lab/runs/{id}", Role: engineer, Serve: l.labStop, Audit: "lab.stop"},
		{Method: "GET", Path: exchange.Prefix + "/lab/runs/{id}/report", Role: viewer, Serve: l.labReport},
		{Method: "GET", Path: exchange.Prefix + "/lab/runs/{id}/stream", Role: viewer, Stream: true, Serve: l.labStream},
		{Method: "GET", Path: exchange.Prefix + "/capacity", Role: viewer, Serve: l.capacity},
	}
}

const noLab = "lab"

func (l labs) labExperiments(w http.ResponseWriter, r *exchange.Request) error {
	if l.lab == nil {
		return exchange.Absent(noLab)
	}
	return exchange.WriteJSON(w, answer.LabExperiments{Experiments: exchange.NotNil(l.lab.Experiments(r.Context()))})
}

func (l labs) labRuns(w http.ResponseWriter, r *exchange.Request) error {
	if l.lab == nil {
		return exchange.Absent(noLab)
	}
	list, err := l.lab.Runs(r.Context())
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, answer.LabRuns{Runs: exchange.NotNil(list)})
}

func (l labs) labStart(w http.ResponseWriter, r *exchange.Request) error {
	if l.lab == nil {
		return exchange.Absent(noLab)
	}
	var order answer.LabOrder
	if err := exchange.ReadJSON(w, r, &order); err != nil {
		return err
	}
	run, err := l.lab.Start(r.Context(), order)
	r.Did(run.ID, order)
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, run)
}

// labID returns the run that the path names.
func (l labs) id(r *exchange.Request) (string, error) {
	if l.lab == nil {
		return "", exchange.Absent(noLab)
	}
	in := exchange.Read(r)
	id := in.Segment("id")
	return id, in.Err
}

func (l labs) labRun(w http.ResponseWriter, r *exchange.Request) error {
	id, err := l.id(r)
	if err != nil {
		return err
	}
	run, err := l.lab.Result(r.Context(), id)
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, run)
}

func (l labs) labStop(w http.ResponseWriter, r *exchange.Request) error {
	id, err := l.id(r)
	if err != nil {
		return err
	}
	r.Did(id, nil)
	if err := l.lab.Stop(r.Context(), id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
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

// labStream sends the progress of a run as server-sent events until it has ended, the reader goes,
// or its login ends.
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
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not collect it
	p := exchange.NewPatient(w, l.streams.WriteTimeout)
	defer p.Limit() // for what the server writes at the end
	err = l.lab.Follow(r.Context(), id, func(event string, data json.RawMessage) error {
		return p.Send(exchange.AppendEvent(nil, event, data))
	})
	if err != nil || r.Context().Err() != nil {
		return l.streams.LastEvent(p, r, err)
	}
	return nil
}

func (l labs) capacity(w http.ResponseWriter, r *exchange.Request) error {
	if l.lab == nil {
		return exchange.Absent(noLab)
	}
	found, err := l.lab.Capacity(r.Context())
	if fault.KindOf(err) == fault.NotFound {
		return exchange.WriteJSON(w, nil) // whoever asks each few seconds should not be told of an error each time
	}
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, found)
}
