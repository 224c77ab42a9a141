package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"voltbus/point"
	"voltbus/virtual/kernel"
	"voltbus/virtual/model"
	"voltbus/wire"
)

// The kinds of events.
const (
	kindStep    = "step"    // of a plant: exchange and integrate
	kindCommand = "command" // of a plant: a point is set
	kindWake    = "wake"    // of agents: their first timer is due
	kindScan    = "scan"    // of agents: a device of the own site reports
	kindMessage = "message" // of agents: a message from another site
)

// plant is the devices of a site: its models, and what is read and commanded of them.
type plant struct {
	world  *World
	name   string
	step   time.Duration
	every  time.Duration // of scans
	record bool
	agents bool
	parts  []*part
	line   []byte
}

// part is a model of a site.
type part struct {
	name     string
	device   string
	subject  string // of its scans
	model    *model.Model
	bindings []binding
	commands map[string]int // points to command, and their inputs
	failed   bool
}

// scan is what a device reports, as the SDK's process reads it.
type scan struct {
	Device   string             `json:"device"`
	Points   map[string]float64 `json:"points"`
	Quality  map[string]string  `json:"quality,omitempty"`
	Recorded bool               `json:"recorded,omitempty"`
}

// command sets a point.
type command struct {
	Point string          `json:"point"`
	Value json.RawMessage `json:"value"`
}

// message is one of an agent, or a scan, on its way to another site.
type message struct {
	Subject string `json:"subject"`
	Data    []byte `json:"data"`
	Head    []byte `json:"head,omitempty"`
}

// Handle implements kernel.Actor.
func (p *plant) Handle(s *kernel.Scope, e *kernel.Event) error {
	if e.Kind == kindCommand {
		return p.command(s, e.Body)
	}
	for _, part := range p.parts {
		for i := range part.bindings {
			b := &part.bindings[i]
			part.model.Set(b.input, b.value())
		}
		if err := p.advance(s, part); err != nil {
			return err
		}
	}
	if s.Now()%p.every == 0 {
		if err := p.scan(s); err != nil {
			return err
		}
	}
	return s.After(p.step, kindStep, nil)
}

// advance integrates a model, and marks it if it diverges or panics.
func (p *plant) advance(s *kernel.Scope, part *part) error {
	if part.failed {
		return nil
	}
	err := guarded(part.model, s.Now())
	if err == nil {
		return nil
	}
	part.failed = true
	part.model.Clear()
	p.world.failures = append(p.world.failures, kernel.Failure{Actor: part.device, At: s.Now(), Reason: err.Error()})
	return s.Note(fmt.Appendf(nil, "%s,%s,,failed\n", s.Time().Format(time.RFC3339Nano), part.device))
}

// guarded turns a panic of a model into an error.
func guarded(m *model.Model, to time.Duration) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it panicked: %v", r)
		}
	}()
	return m.Advance(to)
}

// command sets an input from this moment on.
func (p *plant) command(s *kernel.Scope, body []byte) error {
	var c command
	if err := json.Unmarshal(body, &c); err != nil {
		return err
	}
	for _, part := range p.parts {
		input, ok := part.commands[c.Point]
		if !ok {
			continue
		}
		value, err := numberOf(c.Value)
		if err != nil {
			p.world.refused++
			return s.Note(fmt.Appendf(nil, "%s,%s,%s,refused\n", s.Time().Format(time.RFC3339Nano), c.Point, c.Value))
		}
		if !part.model.Fixed() {
			if err := p.advance(s, part); err != nil {
				return err
			}
		}
		p.world.commands++
		part.model.Set(input, value)
		return s.Note(fmt.Appendf(nil, "%s,%s,%s,commanded\n", s.Time().Format(time.RFC3339Nano), c.Point, strconv.FormatFloat(value, 'g', -1, 64)))
	}
	return nil
}

func numberOf(text json.RawMessage) (float64, error) {
	switch string(text) {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	var v float64
	if err := json.Unmarshal(text, &v); err != nil {
		return 0, errors.New("a model takes numbers, true and false")
	}
	return v, nil
}

// scan reports all outputs: to the history, to the agents here, and to those elsewhere that listen.
func (p *plant) scan(s *kernel.Scope) error {
	for _, part := range p.parts {
		if err := p.note(s, part); err != nil {
			return err
		}
		if err := p.tell(s, part); err != nil {
			return err
		}
	}
	return nil
}

func (p *plant) note(s *kernel.Scope, part *part) error {
	quality := ",good\n"
	if part.failed {
		quality = ",bad\n"
	}
	for i, out := range part.model.Kind.Outputs {
		p.line = s.Time().AppendFormat(p.line[:0], time.RFC3339Nano)
		p.line = append(p.line, ',')
		p.line = append(p.line, part.device...)
		p.line = append(p.line, '/')
		p.line = append(p.line, out.Name...)
		p.line = append(p.line, ',')
		p.line = strconv.AppendFloat(p.line, part.model.Out(i), 'g', -1, 64)
		p.line = append(p.line, quality...)
		if err := s.Note(p.line); err != nil {
			return err
		}
		p.world.readings++
	}
	return nil
}

func (p *plant) tell(s *kernel.Scope, part *part) error {
	others := p.world.listeners(p.name, part.subject)
	if !p.agents && len(others) == 0 {
		return nil
	}
	r := scan{Device: part.device, Points: map[string]float64{}, Recorded: p.record}
	if part.failed {
		r.Quality = map[string]string{}
	}
	for i, out := range part.model.Kind.Outputs {
		r.Points[out.Name] = part.model.Out(i)
		if part.failed {
			r.Quality[out.Name] = "bad"
		}
	}
	if p.agents {
		body, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if err := s.Send(agentsOf(p.name), kindScan, body); err != nil {
			return err
		}
	}
	if len(others) == 0 {
		return nil
	}
	live, err := json.Marshal(map[string]any{"device": r.Device, "time": s.Time(), "points": r.Points, "quality": r.Quality})
	if err != nil {
		return err
	}
	return p.world.forward(s, others, message{Subject: part.subject, Data: live})
}

// Save implements kernel.Actor.
func (p *plant) Save() ([]byte, error) {
	states := map[string]partState{}
	for _, part := range p.parts {
		state, err := part.model.State()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.device, err)
		}
		states[part.name] = partState{state, part.failed}
	}
	return json.Marshal(states)
}

type partState struct {
	model.State
	Failed bool `json:"failed,omitempty"`
}

// Load implements kernel.Actor.
func (p *plant) Load(data []byte) error {
	var states map[string]partState
	if err := json.Unmarshal(data, &states); err != nil {
		return err
	}
	for _, part := range p.parts {
		st, ok := states[part.name]
		if !ok {
			return fmt.Errorf("there is no state of the model %q", part.name)
		}
		if err := part.model.Restore(st.State); err != nil {
			return err
		}
		part.failed = st.Failed
	}
	return nil
}

func subjectOf(device string) string { return wire.Subject(wire.ScanPrefix, point.Path(device)) }
