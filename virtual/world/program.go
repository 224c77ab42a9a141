package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"voltbus/fault"
	"voltbus/virtual/kernel"
)

// Program is an agent in Go that runs in the process of the world. Its methods are called at moments of the world's clock, never at the same
// time. It must neither read the clock of the machine nor start goroutines. After an error or a panic it is marked as failed, and the run goes on.
type Program interface {
	// Begin is called at the start.
	Begin(d *Access) error
	// Scan is called when a device of the own site has reported.
	Scan(d *Access, device string, points map[string]float64) error
	// Message is called with what was sent to a subject that the program listens to.
	Message(d *Access, subject string, data []byte) error
	// Wake is called at the moment that Access.Wake was asked for.
	Wake(d *Access) error
	// Save returns the whole state, for Load.
	Save() ([]byte, error)
	// Load replaces the state.
	Load(state []byte) error
}

// Access is what a program may do while it is called. It must not be kept.
type Access struct {
	*kernel.Scope // Now, Time and Rand

	seat *seat
}

// seat is the actor of a program.
type seat struct {
	world   *World
	site    string
	program Program
	wake    time.Duration // when it wants to be woken; below 0: not at all
}

// AddProgram gives a site a program. A site has either agents or one program.
func (w *World) AddProgram(site string, p Program) error {
	plant := w.plants[site]
	if plant == nil {
		return fault.E("world.AddProgram", fault.NotFound, site, errors.New("there is no such site"))
	}
	if plant.agents {
		return fault.E("world.AddProgram", fault.Conflict, site, errors.New("it has agents or a program already"))
	}
	plant.agents = true
	if err := w.kernel.Add(site, agentsOf(site), &seat{world: w, site: site, program: p}); err != nil {
		return err
	}
	return w.kernel.Schedule(kernel.Event{To: agentsOf(site), Kind: kindBegin})
}

// kindBegin is the event with which a program begins.
const kindBegin = "begin"

// Handle implements kernel.Actor.
func (t *seat) Handle(s *kernel.Scope, e *kernel.Event) error {
	d := &Access{Scope: s, seat: t}
	switch e.Kind {
	case kindBegin:
		t.wake = -1
		return t.program.Begin(d)
	case kindScan:
		var r scan
		if err := json.Unmarshal(e.Body, &r); err != nil {
			return err
		}
		return t.program.Scan(d, r.Device, r.Points)
	case kindMessage:
		var m message
		if err := json.Unmarshal(e.Body, &m); err != nil {
			return err
		}
		return t.program.Message(d, m.Subject, m.Data)
	}
	if s.Now() != t.wake {
		return nil // another moment was asked for meanwhile
	}
	t.wake = -1
	return t.program.Wake(d)
}

// Listen has messages to these subjects come; * stands for one part of a subject, > for all the rest. It replaces what was asked for before.
func (d *Access) Listen(subjects ...string) { d.seat.world.listen(d.seat.site, subjects) }

// Wake has the program called after a while. There is one such moment; the last one asked for counts.
func (d *Access) Wake(after time.Duration) error {
	if after <= 0 {
		return fmt.Errorf("wake after %s: the clock of a world does not run backwards, and not on the spot", after)
	}
	d.seat.wake = d.Now() + after
	return d.After(after, kindWake, nil)
}

// Command sets a point of the own site, such as site/model/on, from this moment on.
func (d *Access) Command(point string, value float64) error {
	body, err := json.Marshal(command{point, json.RawMessage(strconv.FormatFloat(value, 'g', -1, 64))})
	if err != nil {
		return err
	}
	return d.Send(d.seat.site, kindCommand, body)
}

// Publish sends a message to all sites with a link that listen to its subject.
func (d *Access) Publish(subject string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	to := d.seat.world.listeners(d.seat.site, subject)
	if len(to) == 0 {
		return nil
	}
	return d.seat.world.forward(d.Scope, to, message{Subject: subject, Data: data})
}

// keptSeat is the state of a seat.
type keptSeat struct {
	Wake  time.Duration `json:"wake"`
	Wants [][]string    `json:"wants"`
	State []byte        `json:"state"`
}

// Save implements kernel.Actor.
func (t *seat) Save() ([]byte, error) {
	state, err := t.program.Save()
	if err != nil {
		return nil, err
	}
	return json.Marshal(keptSeat{t.wake, t.world.wants[t.site], state})
}

// Load implements kernel.Actor.
func (t *seat) Load(data []byte) error {
	var k keptSeat
	if err := json.Unmarshal(data, &k); err != nil {
		return err
	}
	t.wake, t.world.wants[t.site] = k.Wake, k.Wants
	return t.program.Load(k.State)
}
