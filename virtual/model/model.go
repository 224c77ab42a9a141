// Package model holds physical models of buildings as ordinary differential equations, and integrates them.
//
// Power is in kW, positive when it is imported from the grid; energy is in kWh, temperature in °C, time in seconds.
package model

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"voltbus/fault"
)

// System is a set of equations: what its state does, and what is seen of it. Its methods read x and u, and write their
// last argument. They must depend on nothing but their arguments.
type System interface {
	// Begin returns the state at the start.
	Begin() []float64
	// Slope writes the derivatives of the state by seconds. t is in seconds since midnight before the start.
	Slope(t float64, x, u, dx []float64)
	// Output writes what is seen.
	Output(t float64, x, u, y []float64)
}

// Stepper is a System whose state also changes at once, such as a switch. Step runs after each stretch of integration.
type Stepper interface {
	Step(t float64, x, u []float64)
}

// Parameter is a number that a model is made with.
type Parameter struct {
	Name, Unit string
	Default    float64
	Min, Max   float64
}

// Port is an input or output.
type Port struct {
	Name, Unit string
	Default    float64 // of an input that nothing is connected to
}

// Kind is a kind of model.
type Kind struct {
	Name, Doc  string
	Parameters []Parameter
	Inputs     []Port
	Outputs    []Port
	make       func(p map[string]float64) System
}

// Method says how a model is integrated.
type Method struct {
	Adaptive  bool          // Dormand–Prince 5(4) with steps by error; otherwise Runge–Kutta 4 with fixed steps
	Step      time.Duration // the longest step; 0 for 10 s
	Tolerance float64       // of an adaptive step, relative and absolute; 0 for 1e-6
}

// Model is a system in time. It belongs to one goroutine.
type Model struct {
	Kind   *Kind
	system System
	method Method
	origin float64 // seconds since midnight at the start
	now    time.Duration
	x, u   []float64
	y      []float64
	work   [9][]float64

	outside Outside // nil: the system is integrated here
}

// New makes a model of a kind; parameters that are not given have their defaults. start is when the world begins.
// All wrong parameters are told in one error.
func New(kind string, given map[string]float64, start time.Time, m Method) (*Model, error) {
	k, err := Find(kind)
	if err != nil {
		return nil, err
	}
	p, err := k.fill(given)
	if err != nil {
		return nil, err
	}
	return Of(k, k.make(p), start, m), nil
}

// Of makes a model of equations that are not among the kinds.
func Of(k *Kind, s System, start time.Time, m Method) *Model {
	if m.Step <= 0 {
		m.Step = 10 * time.Second
	}
	if m.Tolerance <= 0 {
		m.Tolerance = 1e-6
	}
	day := start.Truncate(24 * time.Hour)
	o := &Model{Kind: k, system: s, method: m, origin: start.Sub(day).Seconds(), x: s.Begin(), u: make([]float64, len(k.Inputs)), y: make([]float64, len(k.Outputs))}
	for i, in := range k.Inputs {
		o.u[i] = in.Default
	}
	for i := range o.work {
		o.work[i] = make([]float64, len(o.x))
	}
	s.Output(o.origin, o.x, o.u, o.y)
	return o
}

// fill returns all parameters.
func (k *Kind) fill(given map[string]float64) (map[string]float64, error) {
	p := map[string]float64{}
	var problems []error
	for _, a := range k.Parameters {
		v, ok := given[a.Name]
		if !ok {
			v = a.Default
		}
		if !(v >= a.Min && v <= a.Max) {
			problems = append(problems, fmt.Errorf("%s: %g is out of range; write %g to %g (%s)", a.Name, v, a.Min, a.Max, a.Unit))
		}
		p[a.Name] = v
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := p[name]; !ok {
			problems = append(problems, fmt.Errorf("%s: a %s has no such parameter; it has %s", name, k.Name, k.parameterNames()))
		}
	}
	if len(problems) > 0 {
		return nil, fault.E("model.New", fault.Invalid, "", errors.Join(problems...))
	}
	return p, nil
}

func (k *Kind) parameterNames() string {
	var names []string
	for _, a := range k.Parameters {
		names = append(names, a.Name)
	}
	return strings.Join(names, ", ")
}

// Input returns the number of an input, -1 if there is none of this name.
func (k *Kind) Input(name string) int { return find(k.Inputs, name) }

// Output returns the number of an output, -1 if there is none of this name.
func (k *Kind) Output(name string) int { return find(k.Outputs, name) }

func find(ports []Port, name string) int {
	return slices.IndexFunc(ports, func(p Port) bool { return p.Name == name })
}

// Set gives an input a value from now on.
func (m *Model) Set(input int, value float64) { m.u[input] = value }

// In returns the value of an input.
func (m *Model) In(input int) float64 { return m.u[input] }

// Out returns an output as of the last Advance.
func (m *Model) Out(output int) float64 { return m.y[output] }

// Advance integrates to a moment with the inputs as they are. It fails if the moment is over, and with fault.Rejected
// if the model diverges: a state or output is no number, or without limit.
func (m *Model) Advance(to time.Duration) error {
	if to < m.now {
		return fault.E("model.Advance", fault.Invalid, m.Kind.Name, fmt.Errorf("it is at %s, and cannot go back to %s", m.now, to))
	}
	if m.outside != nil {
		if err := m.outside.Advance(to, m.u, m.y); err != nil {
			return err
		}
		m.now = to
		return m.check()
	}
	if len(m.x) > 0 && to > m.now {
		if m.method.Adaptive {
			m.adaptive(m.seconds(m.now), m.seconds(to))
		} else {
			m.fixed(to)
		}
	}
	m.now = to
	if s, ok := m.system.(Stepper); ok {
		s.Step(m.seconds(to), m.x, m.u)
	}
	m.system.Output(m.seconds(to), m.x, m.u, m.y)
	return m.check()
}

func (m *Model) seconds(at time.Duration) float64 { return m.origin + at.Seconds() }

// bound is more than any quantity of a building.
const bound = 1e12

func (m *Model) check() error {
	for i, v := range m.x {
		if !(math.Abs(v) < bound) {
			return fault.E("model.Advance", fault.Rejected, m.Kind.Name, fmt.Errorf("it diverges: state %d is %g after %s", i+1, v, m.now))
		}
	}
	for i, v := range m.y {
		if !(math.Abs(v) < bound) {
			return fault.E("model.Advance", fault.Rejected, m.Kind.Name, fmt.Errorf("it diverges: %s is %g after %s", m.Kind.Outputs[i].Name, v, m.now))
		}
	}
	return nil
}

// Clear sets what is no number, or without limit, to 0: a model that has diverged is not advanced any more, but saved.
func (m *Model) Clear() {
	for _, list := range [][]float64{m.x, m.y} {
		for i, v := range list {
			if !(math.Abs(v) < bound) {
				list[i] = 0
			}
		}
	}
}

// Kinds returns all kinds of models, by name.
func Kinds() []*Kind {
	return []*Kind{battery(), feeder(), pv(), room(), thermostat(), weather(), zone()}
}

// Find returns a kind by its name.
func Find(name string) (*Kind, error) {
	var names []string
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return nil, fault.E("model.Find", fault.NotFound, name, fmt.Errorf("there is no such model; write one of %s", strings.Join(names, ", ")))
}
