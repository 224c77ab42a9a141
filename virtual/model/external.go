package model

import (
	"fmt"
	"slices"
	"time"

	"voltbus/fault"
)

// Outside is a model that integrates itself, such as one in a process of its own. It belongs to one goroutine.
type Outside interface {
	// Advance goes on to a moment since the start of the world with the inputs u, and writes the outputs y.
	Advance(to time.Duration, u, y []float64) error
	// Fixed reports whether it only goes on by whole steps of the world: an input that changes in between counts from the next step on.
	Fixed() bool
	// Save returns the whole state, for Load. It fails with fault.Unavailable, and says why, if the model cannot be kept.
	Save() ([]byte, error)
	// Load replaces the state of a model that was made the same way; it is that of a moment.
	Load(at time.Duration, state []byte) error
}

// External makes a model of one that integrates itself. Its outputs are 0 before the first Advance.
func External(k *Kind, o Outside) *Model {
	m := &Model{Kind: k, outside: o, u: make([]float64, len(k.Inputs)), y: make([]float64, len(k.Outputs))}
	for i, in := range k.Inputs {
		m.u[i] = in.Default
	}
	return m
}

// Check finds what is wrong with parameters, all in one error.
func (k *Kind) Check(given map[string]float64) error {
	_, err := k.fill(given)
	return err
}

// Fixed reports whether the model only goes on by whole steps of the world.
func (m *Model) Fixed() bool { return m.outside != nil && m.outside.Fixed() }

// State is a model at a moment.
type State struct {
	At      time.Duration `json:"at"`
	State   []float64     `json:"state"`
	Inputs  []float64     `json:"inputs"`
	Outputs []float64     `json:"outputs"`
	Outside []byte        `json:"outside,omitempty"` // of a model that integrates itself
}

// State returns a copy of the state. It fails if the model integrates itself and cannot be kept.
func (m *Model) State() (State, error) {
	s := State{At: m.now, State: slices.Clone(m.x), Inputs: slices.Clone(m.u), Outputs: slices.Clone(m.y)}
	if m.outside == nil {
		return s, nil
	}
	var err error
	s.Outside, err = m.outside.Save()
	return s, err
}

// Restore puts a model that was made the same way into a state.
func (m *Model) Restore(s State) error {
	if len(s.State) != len(m.x) || len(s.Inputs) != len(m.u) || len(s.Outputs) != len(m.y) {
		return fault.E("model.Restore", fault.Corrupt, m.Kind.Name, fmt.Errorf("a state of %d numbers, %d inputs and %d outputs; the model has %d, %d and %d",
			len(s.State), len(s.Inputs), len(s.Outputs), len(m.x), len(m.u), len(m.y)))
	}
	m.now = s.At
	copy(m.x, s.State)
	copy(m.u, s.Inputs)
	copy(m.y, s.Outputs)
	if m.outside == nil {
		return nil
	}
	return m.outside.Load(s.At, s.Outside)
}
