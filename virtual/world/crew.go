package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"voltbus/virtual/kernel"
	"voltbus/virtual/worker"
)

// crew is the agents of a site: a process that is told moments.
type crew struct {
	world   *World
	site    string
	python  string // the interpreter
	hello   []byte // the description of the site
	process *worker.Worker
	next    time.Duration // when its first timer is due
	asleep  bool          // a wake is scheduled for now, with what has arrived
	inbox   moment
}

// moment is up to when the process runs, and what has arrived.
type moment struct {
	To       time.Duration     `json:"to"`
	Scans    []json.RawMessage `json:"scans,omitempty"`
	Messages []json.RawMessage `json:"messages,omitempty"`
}

// answer is what happened in the process.
type answer struct {
	Next     *time.Duration             `json:"next"`
	Commands map[string]json.RawMessage `json:"commands"`
	Held     []Held                     `json:"held"`
	Messages []message                  `json:"messages"`
	Alerts   []Alert                    `json:"alerts"`
	Wants    []string                   `json:"wants"`
	Told     []string                   `json:"told"`
	Error    string                     `json:"error"`
	Late     string                     `json:"late"` // the line at which agents wait in real time
}

// told is the share of the patience after which a process says by itself where its agents wait. One that cannot is killed at its end.
const told = 0.8

// describe makes what the process begins with.
func (c *crew) describe(s *Site, p *plant, f *File) error {
	type agent struct {
		Name   string         `json:"name"`
		Class  string         `json:"class"`
		Config map[string]any `json:"config"`
	}
	d := struct {
		Site     string         `json:"site"`
		Start    time.Time      `json:"start"`
		Agents   []agent        `json:"agents"`
		Path     []string       `json:"path"`
		Writable map[string]any `json:"writable"`
		Seed     uint64         `json:"seed"`
		Patience float64        `json:"patience"` // s
	}{Patience: told * c.world.opts.Patience.Seconds(), Seed: c.world.kernel.Seeds()[0].Seed, Site: c.site, Start: f.World.Start, Writable: maps.Clone(c.world.opts.Writable), Path: []string{}}
	for i := range s.Agents {
		a := &s.Agents[i]
		d.Agents = append(d.Agents, agent{a.Name, a.Class, a.Config})
	}
	for _, name := range s.Path {
		folder, err := f.folderOf(name)
		if err != nil {
			return err
		}
		d.Path = append(d.Path, folder)
	}
	if d.Writable == nil {
		d.Writable = map[string]any{}
	}
	for _, part := range p.parts {
		for point, input := range part.commands {
			d.Writable[point] = part.model.In(input)
		}
	}
	var err error
	c.hello, err = json.Marshal(d)
	return err
}

// Handle implements kernel.Actor.
func (c *crew) Handle(s *kernel.Scope, e *kernel.Event) error {
	switch e.Kind {
	case kindScan:
		c.inbox.Scans = append(c.inbox.Scans, e.Body)
	case kindMessage:
		c.inbox.Messages = append(c.inbox.Messages, e.Body)
	case kindWake:
		if !c.asleep && s.Now() < c.next {
			return nil // a timer that was put off
		}
		c.asleep = false
		return c.run(s)
	}
	if c.asleep {
		return nil
	}
	c.asleep = true // what else arrives at this moment comes along
	return s.After(0, kindWake, nil)
}

// run has the process do what is due now.
func (c *crew) run(s *kernel.Scope) error {
	if c.process == nil {
		return errors.New("its process was not started")
	}
	m := c.inbox
	m.To = s.Now()
	c.inbox = moment{}
	a, err := c.ask(m)
	if err != nil {
		return err
	}
	return c.take(s, a)
}

// take does what an answer says.
func (c *crew) take(s *kernel.Scope, a *answer) error {
	w := c.world
	for _, one := range a.Alerts {
		one.At, one.Site = s.Now(), c.site
		w.alerts = append(w.alerts, one)
		body, err := json.Marshal(one)
		if err != nil {
			return err
		}
		if err := s.Note(fmt.Appendf(nil, "%s,%s,%s,alert\n", s.Time().Format(time.RFC3339Nano), c.site, body)); err != nil {
			return err
		}
	}
	for _, one := range a.Held {
		one.At, one.Site = s.Now(), c.site
		w.held = append(w.held, one)
	}
	if a.Wants != nil {
		w.listen(c.site, a.Wants)
	}
	if err := c.pass(s, a); err != nil {
		return err
	}
	c.next = math.MaxInt64
	if a.Next == nil {
		return nil
	}
	if *a.Next <= s.Now() {
		return fmt.Errorf("its next timer is due at %s, and it is %s: the clock of a world does not run backwards", *a.Next, s.Now())
	}
	c.next = *a.Next
	return s.After(c.next-s.Now(), kindWake, nil)
}

// pass sends commands to the plant and messages to other sites.
func (c *crew) pass(s *kernel.Scope, a *answer) error {
	for _, point := range sortedKeys(a.Commands) {
		body, err := json.Marshal(command{point, a.Commands[point]})
		if err != nil {
			return err
		}
		if err := s.Send(c.site, kindCommand, body); err != nil {
			return err
		}
	}
	for _, m := range a.Messages {
		if others := c.world.listeners(c.site, m.Subject); len(others) > 0 {
			if err := c.world.forward(s, others, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// Save implements kernel.Actor.
func (c *crew) Save() ([]byte, error) {
	return nil, errors.New("agents run in a process, whose state cannot be kept; repeat the run with its seed, and branch it on the way (--branch)")
}

// Load implements kernel.Actor.
func (c *crew) Load([]byte) error {
	return errors.New("agents run in a process, whose state cannot be kept")
}
