package access

import (
	"encoding/json"
	"flag"
	"os"
	"strconv"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/control"
	"voltbus/control/model"
	"voltbus/point"
)

var update = flag.Bool("update", false, "write what the model decides into testdata/decisions.json")

// decisionsFile holds requests, and what the model decides about them. The model in memory of the Python SDK, and the page, which says before
// a command what would become of it, are tested with the same file. To add a case, write its steps and run this test with -update.
const decisionsFile = "testdata/decisions.json"

type scenario struct {
	Name   string     `json:"name"`
	Points []declared `json:"points"`
	Steps  []request  `json:"steps"`
}

type declared struct {
	Point    string          `json:"point"`
	Default  float64         `json:"default"`
	ReadOnly bool            `json:"read_only,omitempty"`
	Policy   *control.Policy `json:"policy,omitempty"` // its times are nanoseconds
}

// request is what somebody asks for, at a time in seconds after the start, and what comes of it.
type request struct {
	At       float64               `json:"at"`
	Do       string                `json:"do"` // set, release, renew, reserve, cancel, override, clear, revert or look
	By       string                `json:"by,omitempty"`
	Point    string                `json:"point,omitempty"` // or a path, or a pattern
	ID       string                `json:"id,omitempty"`
	Value    *float64              `json:"value,omitempty"`
	Level    int                   `json:"level,omitempty"`
	Lease    float64               `json:"lease,omitempty"`
	Task     string                `json:"task,omitempty"`
	Priority string                `json:"priority,omitempty"`
	From     float64               `json:"from,omitempty"`
	To       float64               `json:"to,omitempty"`
	Fence    *control.Fence        `json:"fence,omitempty"`
	Before   *answer.ControlPoint  `json:"before,omitempty"` // the point as people see it before a command
	Decided  *verdict              `json:"decided,omitempty"`
	After    map[string]stateAfter `json:"after"`
}

type verdict struct {
	Status control.Status `json:"status"`
	Wins   bool           `json:"wins,omitempty"`
	Repeat bool           `json:"repeat,omitempty"`
	Kind   string         `json:"kind,omitempty"` // of a refusal
	Why    control.Why    `json:"why,omitempty"`
	Until  float64        `json:"until,omitempty"`
	Held   []string       `json:"held,omitempty"` // by whom, of a refusal
}

type stateAfter struct {
	Value  json.RawMessage   `json:"value"`
	Levels map[string]string `json:"levels,omitempty"` // who holds which
}

var start = time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC) // of every scenario

// replay is a scenario under way, with devices that take at once what is written.
type replay struct {
	model *model.Model
	now   control.Instant
}

func TestTheModelDecidesAsTheSharedScenariosSay(t *testing.T) {
	data, err := os.ReadFile(decisionsFile)
	if err != nil {
		t.Fatal(err)
	}
	var list []scenario
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		list[i].run(t)
	}
	got, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if got = append(got, '\n'); *update {
		if err := os.WriteFile(decisionsFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(got) != string(data) {
		t.Errorf("the model decides otherwise now; if that is meant, run go test ./control/access -run Decides -update:\n%s", got)
	}
}

func (s *scenario) run(t *testing.T) {
	t.Helper()
	r := &replay{model: model.New(control.Limits{}), now: control.Instant{Wall: start, Steady: time.Hour}}
	var specs []control.Spec
	for _, p := range s.Points {
		specs = append(specs, control.Spec{
			Point: point.Path(p.Point), Kind: point.Float, Writable: !p.ReadOnly, Default: point.FloatOf(p.Default), Revert: control.RevertDefault, Policy: p.Policy,
		})
	}
	if _, err := r.model.Declare(r.now, specs); err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	for i := range s.Steps {
		step := &s.Steps[i]
		to := start.Add(span(step.At))
		r.now = control.Instant{Wall: to, Steady: r.now.Steady + to.Sub(r.now.Wall)}
		r.settle(r.model.Advance(r.now))
		if step.Do == "set" {
			view, _ := r.model.View(point.Path(step.Point))
			before := viewed(&view)
			step.Before = &before
		}
		d := r.ask(t, step)
		r.settle(d.Effects)
		if step.Decided = nil; step.Do != "look" {
			step.Decided = told(&d)
		}
		step.After = map[string]stateAfter{}
		for _, p := range s.Points {
			view, _ := r.model.View(point.Path(p.Point))
			now := stateAfter{Value: view.Reported.AppendJSON(nil), Levels: map[string]string{}}
			if view.Reported.Kind() == point.None {
				now.Value = view.Spec.Default.AppendJSON(nil)
			}
			for _, slot := range view.Array {
				now.Levels[strconv.Itoa(int(slot.Level))] = slot.Requester
			}
			step.After[p.Point] = now
		}
	}
}

func span(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// settle has devices take what is written, until nothing more is.
func (r *replay) settle(e control.Effects) {
	for len(e.Writes) > 0 {
		var next control.Effects
		for _, w := range e.Writes {
			more := r.model.Answer(r.now, w.Point, control.Outcome{Write: w.ID, Value: w.Value})
			next.Writes = append(next.Writes, more.Writes...)
		}
		e = next
	}
}

func (r *replay) ask(t *testing.T, q *request) control.Decision {
	t.Helper()
	path := point.Path(q.Point)
	switch q.Do {
	case "set":
		c := control.Command{
			ID: q.ID, Point: path, Requester: q.By, Task: q.Task, Level: control.Level(q.Level), Value: point.FloatOf(*q.Value), Lease: span(q.Lease),
		}
		if q.Fence != nil {
			c.Fence = *q.Fence
		}
		return r.model.Command(r.now, c)
	case "release":
		return r.model.Release(r.now, q.By, control.Selection{Point: path, Command: q.ID, Task: q.Task}, "")
	case "renew":
		return r.model.Renew(r.now, q.By, control.Selection{Point: path}, span(q.Lease))
	case "reserve":
		return r.model.Reserve(r.now, control.Reservation{Requester: q.By, Task: q.Task, Priority: control.Priority(q.Priority), Windows: []control.Window{
			{Path: path, From: start.Add(span(q.From)), Until: start.Add(span(q.To))},
		}})
	case "cancel":
		return r.model.Cancel(r.now, q.By, q.Task, "")
	case "override":
		return r.model.Override(r.now, control.Override{Pattern: point.Pattern(q.Point), Requester: q.By, Length: span(q.Lease)})
	case "clear":
		return r.model.ClearOverride(r.now, point.Pattern(q.Point), q.By)
	case "revert":
		return r.model.Revert(r.now, control.Reversion{Path: path, By: q.By})
	case "look":
		return control.Decision{}
	}
	t.Fatalf("unknown request %q", q.Do)
	return control.Decision{}
}

func told(d *control.Decision) *verdict {
	out := verdict{Status: d.Status, Wins: d.Wins, Repeat: d.Repeat, Why: d.Why}
	if d.Err != nil {
		out.Kind = d.Err.Kind.String()
	}
	if !d.Until.IsZero() {
		out.Until = d.Until.Sub(start).Seconds()
	}
	for _, h := range d.Holders {
		out.Held = append(out.Held, h.Requester)
	}
	return &out
}
