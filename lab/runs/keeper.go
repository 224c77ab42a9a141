package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/lab/experiment"
	"voltbus/lab/report"
)

// Options are what a keeper is made from.
type Options struct {
	Dir         string   // where the runs are kept; made when the first one starts
	Program     []string // how to start this program's "lab"
	Experiments []experiment.Experiment
	// Capacity is the file with what "lab capacity" found; "" for none.
	Capacity string
	// Grace is how long a run may take to end when it is stopped; 0 for 15 s.
	Grace time.Duration
}

// Keeper carries out runs in processes of their own, one at a time, and answers about them. It
// implements api.Lab and lab.World. Its methods are safe for concurrent use.
type Keeper struct {
	worlds

	opts Options

	mu     sync.Mutex
	last   *process // the run that is under way, or the last that was
	closed bool
}

// defaultGrace is longer than any part of an experiment needs to end.
const defaultGrace = 15 * time.Second

// Open returns a keeper, and removes what runs left that were killed.
func Open(o Options) (*Keeper, error) {
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	return &Keeper{opts: o}, clean(o.Dir)
}

// Close stops the run that is under way and waits until it is gone.
func (k *Keeper) Close() error {
	k.mu.Lock()
	k.closed = true
	p := k.last
	k.mu.Unlock()
	if p == nil {
		return nil
	}
	p.stop(k.opts.Grace)
	<-p.gone
	return nil
}

var (
	errBusy    = errors.New("a run is under way, and two at a time would disturb each other; stop it or wait")
	errClosing = errors.New("the node is stopping")
	errRunning = errors.New("the run has not finished; its report comes with the result")
	errFailed  = errors.New("the run did not finish, and an interrupted run has no report; run it again")
)

// Experiments lists what can be run.
func (k *Keeper) Experiments(context.Context) []answer.LabExperiment {
	out := make([]answer.LabExperiment, len(k.opts.Experiments))
	for i := range k.opts.Experiments {
		out[i] = describe(&k.opts.Experiments[i])
	}
	return out
}

func describe(e *experiment.Experiment) answer.LabExperiment {
	a := answer.LabExperiment{
		Name: e.Name, Title: e.Title, Question: e.Question, Source: e.Source, Method: e.Method, Limits: e.Limits,
		Metric: e.Metric.Name, Unit: e.Metric.Unit, Higher: e.Metric.Higher,
		Settings: []answer.LabSetting{}, Published: []answer.LabRow{}, Peers: []string{},
	}
	for _, s := range e.Settings {
		a.Settings = append(a.Settings, answer.LabSetting(s))
	}
	for _, p := range e.Published {
		row := answer.LabRow{Case: p.Case.Name, Figures: []answer.LabFigure{}}
		for _, f := range p.Figures {
			row.Figures = append(row.Figures, answer.LabFigure(f))
		}
		a.Published = append(a.Published, row)
	}
	for _, p := range e.Peers {
		a.Peers = append(a.Peers, p.Name)
	}
	return a
}

func (k *Keeper) find(name string) (*experiment.Experiment, error) {
	for i := range k.opts.Experiments {
		if k.opts.Experiments[i].Name == name {
			return &k.opts.Experiments[i], nil
		}
	}
	return nil, fault.E("runs.Start", fault.NotFound, fmt.Sprintf("%.100s", name), errors.New("there is no such experiment"))
}

// most is the most repeats of an order.
const most = 100

// Start starts a run. It fails with fault.Conflict while another is under way, with fault.NotFound
// for an experiment that there is not, and with fault.Invalid for settings that it does not have.
func (k *Keeper) Start(_ context.Context, o answer.LabOrder) (answer.LabRun, error) {
	e, err := k.find(o.Experiment)
	if err != nil {
		return answer.LabRun{}, err
	}
	if o.Repeats < 0 || o.Repeats > most {
		return answer.LabRun{}, fault.E("runs.Start", fault.Invalid, "repeats", fmt.Errorf("must be a number from 0 to %d", most))
	}
	if err := e.Check(o.Settings); err != nil {
		return answer.LabRun{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closed:
		return answer.LabRun{}, fault.E("runs.Start", fault.Unavailable, o.Experiment, errClosing)
	case k.last != nil && !k.last.ended():
		return answer.LabRun{}, fault.E("runs.Start", fault.Conflict, k.last.run.ID, errBusy)
	}
	if err := os.MkdirAll(k.opts.Dir, 0o750); err != nil {
		return answer.LabRun{}, fault.E("runs.Start", fault.Unavailable, k.opts.Dir, err)
	}
	p, err := startProcess(&k.opts, e, o)
	if err != nil {
		return answer.LabRun{}, err
	}
	k.last = p
	return p.state(), nil
}

// Stop ends a run that is under way and waits until it is gone; a finished one it removes.
func (k *Keeper) Stop(_ context.Context, id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	if p := k.process(id); p != nil && !p.ended() {
		p.stop(k.opts.Grace)
		<-p.gone
		return nil
	}
	folder := filepath.Join(k.opts.Dir, id)
	if _, err := os.Stat(folder); err != nil {
		return fault.E("runs.Stop", fault.NotFound, id, errNoRun)
	}
	if err := os.RemoveAll(folder); err != nil {
		return fault.E("runs.Stop", fault.Unavailable, id, err)
	}
	return nil
}

// process returns the last run if it has the id.
func (k *Keeper) process(id string) *process {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last != nil && k.last.run.ID == id {
		return k.last
	}
	return nil
}

// listed is how many finished runs a list holds at most.
const listed = 200

// Runs lists the run that is under way, or did not finish, and the finished ones, the newest first.
func (k *Keeper) Runs(context.Context) ([]answer.LabRun, error) {
	ids, err := IDs(k.opts.Dir)
	if err != nil {
		return nil, err
	}
	out := []answer.LabRun{}
	k.mu.Lock()
	last := k.last
	k.mu.Unlock()
	if last != nil {
		if s := last.state(); s.State != "finished" {
			out = append(out, s)
		}
	}
	for _, id := range ids[:min(listed, len(ids))] {
		if r, err := report.Read(filepath.Join(k.opts.Dir, id)); err == nil { // a damaged one is not listed
			out = append(out, finished(id, r))
		}
	}
	return out, nil
}

func finished(id string, r *experiment.Result) answer.LabRun {
	return answer.LabRun{
		ID: id, Experiment: r.Experiment, Title: r.Title, State: "finished", Started: r.Started, Finished: &r.Finished,
		Quick: r.Quick, Repeats: r.Repeats, Verdict: r.Verdict,
	}
}

// Result returns a run; a finished one with its result.
func (k *Keeper) Result(_ context.Context, id string) (answer.LabRun, error) {
	if err := checkID(id); err != nil {
		return answer.LabRun{}, err
	}
	if p := k.process(id); p != nil {
		if s := p.state(); s.State != "finished" {
			return s, nil
		}
	}
	r, err := report.Read(filepath.Join(k.opts.Dir, id))
	if fault.Is(err, fault.NotFound) {
		return answer.LabRun{}, fault.E("runs.Result", fault.NotFound, id, errNoRun)
	}
	if err != nil {
		return answer.LabRun{}, err
	}
	out := finished(id, r)
	if out.Result, err = json.Marshal(r); err != nil {
		return out, fault.E("runs.Result", fault.Internal, id, err)
	}
	return out, nil
}

// Report returns a finished run's page and the content security policy that it needs.
func (k *Keeper) Report(_ context.Context, id string) (page []byte, policy string, err error) {
	if err := checkID(id); err != nil {
		return nil, "", err
	}
	if p := k.process(id); p != nil {
		switch p.state().State {
		case "running":
			return nil, "", fault.E("runs.Report", fault.Conflict, id, errRunning)
		case "stopped", "failed":
			return nil, "", fault.E("runs.Report", fault.NotFound, id, errFailed)
		}
	}
	page, err = os.ReadFile(filepath.Join(k.opts.Dir, id, report.PageFile))
	if err != nil {
		return nil, "", fault.E("runs.Report", fault.NotFound, id, errNoRun)
	}
	return page, report.Policy(), nil
}

// Follow calls emit with the progress of a run, from its beginning as far as it is kept, and with
// its state at the end. It returns when the run has ended, emit fails or ctx ends.
func (k *Keeper) Follow(ctx context.Context, id string, emit func(event string, data json.RawMessage) error) error {
	p := k.process(id)
	if p == nil {
		r, err := k.Result(ctx, id)
		if err != nil {
			return err
		}
		r.Result = nil
		return emitRun(r, emit)
	}
	if err := p.follow(ctx, emit); err != nil || ctx.Err() != nil {
		return err
	}
	return emitRun(p.state(), emit)
}

func emitRun(r answer.LabRun, emit func(string, json.RawMessage) error) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fault.E("runs.Follow", fault.Internal, r.ID, err)
	}
	return emit("end", data)
}

// Capacity returns what "lab capacity" found on this machine. It fails with fault.NotFound before
// the first time.
func (k *Keeper) Capacity(context.Context) (json.RawMessage, error) {
	data, err := os.ReadFile(k.opts.Capacity)
	if err != nil || !json.Valid(data) {
		return nil, fault.E("runs.Capacity", fault.NotFound, "capacity",
			errors.New(`this machine was not measured yet; run "voltbus lab capacity" on it`))
	}
	return data, nil
}
