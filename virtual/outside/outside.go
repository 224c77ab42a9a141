// Package outside runs a physical model in a process of its own, so that one that crashes ends only itself.
//
// The process is asked in JSON, an object a line. First it gets what it is, then moments with inputs; it answers with outputs or an error.
package outside

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/virtual/worker"
)

// Options are how processes of models are started.
type Options struct {
	Python   string        // the interpreter
	SDK      string        // where it finds the SDK beside what it has; "" for nowhere else
	Log      io.Writer     // gets what the model prints
	Patience time.Duration // how long, in real time, an answer may take
}

// Spec is what a process is started with.
type Spec struct {
	Device string // of the model, for messages
	Serve  string // the command of the SDK that has the model
	Hello  any    // what it gets first
	Fixed  bool   // it only goes on by whole steps of the world
	Kept   string // why its state cannot be kept; "" if it can
}

// Model is a model in a process. It implements model.Outside; Begin and Kill may be called from other goroutines.
type Model struct {
	spec   Spec
	worker *worker.Worker
	now    time.Duration
	dead   bool
	loaded []byte // a state to begin with
}

// New returns a model that was not started.
func New(s Spec) *Model { return &Model{spec: s} }

// question is what the process is asked: to go on with inputs, or for its state, or to take one.
type question struct {
	To   time.Duration `json:"to"` // since the start of the world
	U    []float64     `json:"u"`
	Save bool          `json:"save,omitempty"`
	Load []byte        `json:"load,omitempty"`
}

// answer is what the process answers.
type answer struct {
	Y     []*float64 `json:"y"` // null: no number
	State []byte     `json:"state"`
	Error string     `json:"error"`
}

// Begun reports whether the process was started.
func (m *Model) Begun() bool { return m.worker != nil }

// longStart is how long a process may take to start at least, in real time.
const longStart = time.Minute

// Begin starts the process.
func (m *Model) Begin(ctx context.Context, o Options) error {
	w, err := worker.Start(ctx, worker.Options{Python: o.Python, Args: []string{"-m", "voltbus", m.spec.Serve}, SDK: o.SDK, Log: o.Log})
	if err != nil {
		return fmt.Errorf("%s: %w", m.spec.Device, err)
	}
	m.worker, w.Patience = w, max(o.Patience, longStart)
	_, err = m.ask(m.spec.Hello)
	if err == nil && m.loaded != nil {
		_, err = m.ask(question{To: m.now, Load: m.loaded})
	}
	w.Patience = o.Patience
	if err != nil {
		return fmt.Errorf("%s: start its model: %w", m.spec.Device, err)
	}
	return nil
}

func (m *Model) ask(what any) (*answer, error) {
	var a answer
	err := m.worker.Ask(what, &a)
	switch {
	case errors.Is(err, worker.ErrLate):
		m.dead = true
		return nil, fmt.Errorf("it did not answer within %s of real time", m.worker.Patience)
	case errors.Is(err, worker.ErrEnded):
		m.dead = true
		return nil, errors.New("it has crashed: its process ended; what it printed says why")
	case err != nil:
		return nil, err
	case a.Error != "":
		return nil, errors.New(strings.TrimSpace(a.Error))
	}
	return &a, nil
}

// Advance implements model.Outside.
func (m *Model) Advance(to time.Duration, u, y []float64) error {
	if m.worker == nil {
		return errors.New("its process was not started")
	}
	a, err := m.ask(question{To: to, U: u})
	if err != nil {
		return err
	}
	if len(a.Y) != len(y) {
		return fmt.Errorf("it answers with %d numbers; %d outputs were asked for", len(a.Y), len(y))
	}
	for i, v := range a.Y {
		if v == nil {
			return fault.E("outside.Advance", fault.Rejected, m.spec.Device, fmt.Errorf("it diverges: output %d is no number after %s", i+1, to))
		}
		y[i] = *v
	}
	m.now = to
	return nil
}

// Fixed implements model.Outside.
func (m *Model) Fixed() bool { return m.spec.Fixed }

// Save implements model.Outside. A model that has crashed has no state.
func (m *Model) Save() ([]byte, error) {
	switch {
	case m.dead:
		return nil, nil
	case m.spec.Kept != "":
		return nil, fault.E("outside.Save", fault.Unavailable, m.spec.Device, errors.New(m.spec.Kept))
	case m.worker == nil:
		return m.loaded, nil
	}
	a, err := m.ask(question{Save: true})
	if err != nil {
		return nil, fault.E("outside.Save", fault.Unavailable, m.spec.Device, err)
	}
	return a.State, nil
}

// Load implements model.Outside. The process takes the state when it starts.
func (m *Model) Load(at time.Duration, state []byte) error {
	if m.worker != nil {
		return fault.E("outside.Load", fault.Conflict, m.spec.Device, errors.New("it runs already; load a run into a world that was just made"))
	}
	m.now, m.loaded = at, state
	return nil
}

// Kill ends the process at once.
func (m *Model) Kill() {
	if m.worker != nil {
		m.worker.Kill()
	}
}

// Close has the process end, and waits for it.
func (m *Model) Close() error {
	if m.worker == nil {
		return nil
	}
	return m.worker.Close()
}
