// Package lab declares and carries out the operations on the lab, which runs experiments on a node's machine.
package lab

import (
	"context"
	"encoding/json"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
)

// Lab runs experiments, each in a process of its own, and keeps their results. Methods that take
// the id of a run fail with fault.NotFound for an unknown one.
type Lab interface {
	Experiments(ctx context.Context) []answer.LabExperiment
	// Runs lists the newest runs first.
	Runs(ctx context.Context) ([]answer.LabRun, error)
	// Start starts a run; fault.Conflict while another is under way, fault.Invalid for a wrong setting.
	Start(ctx context.Context, order answer.LabOrder) (answer.LabRun, error)
	// Result returns a run, a finished one with its result.
	Result(ctx context.Context, id string) (answer.LabRun, error)
	// Stop ends a run and waits until all its processes have ended; it removes a finished run.
	Stop(ctx context.Context, id string) error
	// Capacity returns the measured capacity of this machine; fault.NotFound if it was not measured.
	Capacity(ctx context.Context) (json.RawMessage, error)
}

// Run names a run.
type Run struct {
	ID string `json:"id" api:"required,max=1024"`
}

// The operations.
var (
	Experiments = operation.Declare[struct{}, answer.LabExperiments](operation.Spec{
		Name: "lab.experiments", ID: "getLabExperiments", HTTP: "GET /lab/experiments", Role: identity.Viewer,
		Summary: "List the experiments of the lab", Result: "All experiments",
	})
	Runs = operation.Declare[struct{}, answer.LabRuns](operation.Spec{
		Name: "lab.runs", ID: "getLabRuns", HTTP: "GET /lab/runs", Role: identity.Viewer,
		Summary: "List runs of experiments, the newest first", Result: "Up to 200 runs",
	})
	Start = operation.Declare[answer.LabOrder, answer.LabRun](operation.Spec{
		Name: "lab.start", ID: "startLabRun", HTTP: "POST /lab/runs", Role: identity.Engineer, Audited: true, Body: 64 << 10, Takes: "LabOrder",
		Summary: "Run an experiment on the node's machine", Result: "The run has begun",
		Doc: "The run has a process of its own. 409 while another is under way.",
	})
	Show = operation.Declare[Run, answer.LabRun](operation.Spec{
		Name: "lab.run", ID: "getLabRun", HTTP: "GET /lab/runs/{id}", Role: identity.Viewer,
		Summary: "Read a run; a finished one with its result", Result: "The run",
	})
	Stop = operation.Declare[Run, operation.None](operation.Spec{
		Name: "lab.stop", ID: "stopLabRun", HTTP: "DELETE /lab/runs/{id}", Role: identity.Engineer, Audited: true,
		Summary: "Stop a run, or remove a finished one", Result: "It is gone",
		Doc: "Answers when nothing of the run is left.",
	})
	Capacity = operation.Declare[struct{}, *answer.Capacity](operation.Spec{
		Name: "lab.capacity", ID: "getCapacity", HTTP: "GET /capacity", Role: identity.Viewer,
		Summary: "Read how much more this machine carries", Result: "What was found",
		Doc: "What voltbus lab capacity found the last time; null before the first.",
	})
)

// Part carries out the operations on the lab.
type Part struct {
	Lab Lab // nil for a node without one
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	list := []operation.Bound{
		operation.Bind(Experiments, nil, p.experiments), operation.Bind(Runs, nil, p.runs), operation.Bind(Start, nil, p.start),
		operation.Bind(Show, nil, p.show), operation.Bind(Stop, nil, p.stop), operation.BindWritten(Capacity, nil, p.capacity),
	}
	if p.Lab == nil {
		list = operation.Absent(list)
	}
	return append(list, p.world()...)
}

func (p *Part) experiments(ctx context.Context, _ *operation.Call, _ *struct{}) (answer.LabExperiments, error) {
	return answer.LabExperiments{Experiments: append([]answer.LabExperiment{}, p.Lab.Experiments(ctx)...)}, nil
}

func (p *Part) runs(ctx context.Context, _ *operation.Call, _ *struct{}) (answer.LabRuns, error) {
	list, err := p.Lab.Runs(ctx)
	return answer.LabRuns{Runs: append([]answer.LabRun{}, list...)}, err
}

func (p *Part) start(ctx context.Context, c *operation.Call, in *answer.LabOrder) (answer.LabRun, error) {
	run, err := p.Lab.Start(ctx, *in)
	c.Did(run.ID, in)
	return run, err
}

func (p *Part) show(ctx context.Context, _ *operation.Call, in *Run) (answer.LabRun, error) {
	return p.Lab.Result(ctx, in.ID)
}

func (p *Part) stop(ctx context.Context, c *operation.Call, in *Run) (operation.None, error) {
	c.Did(in.ID, nil)
	return operation.None{}, p.Lab.Stop(ctx, in.ID)
}

// capacity returns the measurements as recorded; null for none, so that a polling caller does not get an error each time.
func (p *Part) capacity(ctx context.Context, _ *operation.Call, _ *struct{}) (operation.Written, error) {
	found, err := p.Lab.Capacity(ctx)
	if fault.Is(err, fault.NotFound) {
		found, err = json.RawMessage("null"), nil
	}
	return func(to *operation.Output) error {
		to.Buf = append(to.Buf, found...)
		return to.Spill()
	}, err
}
