package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/virtual/kernel"
	"voltbus/virtual/whole"
	"voltbus/virtual/worker"
)

// estate is the whole nodes of a world: a process whose time goes as far as the world lets it.
type estate struct {
	world   *World
	program string
	hello   whole.Hello
	plants  []*plant
	process *worker.Worker
	ahead   time.Duration // how far its time has been let go
}

// estateName is the name of its actor; no site has a space in its name.
const estateName = "whole nodes"

// addEstate adds what runs the sites that are whole nodes, if there are any.
func (w *World) addEstate() error {
	f := w.file
	e := &estate{world: w, program: w.opts.Nodes, hello: whole.Hello{Start: f.World.Start, Seed: w.kernel.Seeds()[0].Seed, Orders: []whole.Order{}, Links: []whole.Link{}}}
	for _, s := range f.parentsFirst() {
		for n := range max(1, s.Copies) {
			e.add(s, w.plants[s.nth(n)])
		}
	}
	if len(e.plants) == 0 {
		return nil
	}
	slices.SortStableFunc(e.hello.Orders, func(a, b whole.Order) int { return int(a.At - b.At) })
	w.estate, w.starters = e, append(w.starters, e)
	if err := w.kernel.Add(estateName, estateName, e); err != nil {
		return err
	}
	return w.kernel.Schedule(kernel.Event{To: estateName, Kind: kindStep})
}

// add adds a site.
func (e *estate) add(s *Site, p *plant) {
	n := whole.Node{Name: p.name, Parent: s.Parent, Scan: s.Scan, Devices: []whole.Device{}}
	for _, part := range p.parts {
		d := whole.Device{Path: part.device, Outputs: []string{}, Commands: []string{}, Defaults: []float64{}, Values: part.values()}
		for _, out := range part.model.Kind.Outputs {
			d.Outputs = append(d.Outputs, out.Name)
		}
		for _, point := range sortedKeys(part.commands) {
			d.Commands = append(d.Commands, strings.TrimPrefix(point, part.device+"/"))
			d.Defaults = append(d.Defaults, part.model.In(part.commands[point]))
		}
		n.Devices = append(n.Devices, d)
	}
	for i := range s.Orders {
		o := &s.Orders[i]
		e.hello.Orders = append(e.hello.Orders, whole.Order{At: o.At, Node: p.name, Point: p.name + "/" + o.Point, Value: o.Value, Level: o.Level, Lease: o.Lease})
	}
	if l := e.world.file.linkOf(p.name, s.Parent); l != nil {
		to := whole.Link{Child: p.name, Delay: l.Delay, Jitter: l.Jitter, Loss: l.Loss, Cuts: []whole.Span{}}
		for _, c := range l.Cuts {
			to.Cuts = append(to.Cuts, whole.Span(c))
		}
		e.hello.Links = append(e.hello.Links, to)
	}
	e.hello.Nodes, e.plants = append(e.hello.Nodes, n), append(e.plants, p)
}

// values returns the outputs of a model; none after it failed.
func (p *part) values() []float64 {
	values := []float64{}
	for i := range p.model.Kind.Outputs {
		v := p.model.Out(i)
		if p.failed || math.IsNaN(v) || math.IsInf(v, 0) {
			return []float64{}
		}
		values = append(values, v)
	}
	return values
}

// linkOf returns the link between a node and its parent; nil if the file has none.
func (f *File) linkOf(child, parent string) *Link {
	for i := range f.Links {
		l := &f.Links[i]
		for _, ends := range [][2]string{{l.From, l.To}, {l.To, l.From}} {
			a, errA := path.Match(ends[0], child)
			b, errB := path.Match(ends[1], parent)
			if a && b && errA == nil && errB == nil {
				return l
			}
		}
	}
	return nil
}

// parentsFirst returns the sites that are whole nodes, each behind its parent.
func (f *File) parentsFirst() (sites []*Site) {
	placed := map[string]bool{"": true}
	for range f.Sites {
		for i := range f.Sites {
			s := &f.Sites[i]
			if s.Node != nodeWhole || placed[s.Name] || !placed[s.Parent] {
				continue
			}
			placed[s.Name] = true
			sites = append(sites, s)
		}
	}
	return sites
}

func (e *estate) begun() bool { return e.process != nil }

// begin starts the process, and waits until its nodes have reached each other.
func (e *estate) begin(ctx context.Context, o *Options) error {
	if e.program == "" {
		return errors.New(`the program voltbus-virtual is not beside this one, nor in the path; make it with "make virtual"`)
	}
	p, err := worker.Start(ctx, worker.Options{Python: e.program, Log: o.Log})
	if err != nil {
		return fmt.Errorf("whole nodes: %w", err)
	}
	e.process, p.Patience = p, max(o.Patience, longStart)
	_, err = e.ask(&e.hello)
	p.Patience = o.Patience
	return err
}

func (e *estate) ask(what any) (*whole.Answer, error) {
	var a whole.Answer
	err := e.process.Ask(what, &a)
	switch {
	case errors.Is(err, worker.ErrLate):
		return nil, fmt.Errorf("whole nodes did not come as far within %s of real time", e.process.Patience)
	case err != nil:
		return nil, fmt.Errorf("whole nodes: %w", err)
	case a.Error != "":
		return nil, errors.New(a.Error)
	}
	return &a, nil
}

// Handle implements kernel.Actor: it lets the process go on until the next step of the models, which it tells what they have now.
func (e *estate) Handle(s *kernel.Scope, _ *kernel.Event) error {
	g := whole.Grant{To: s.Now() + e.world.file.World.Step, Values: map[string][]float64{}}
	for _, p := range e.plants {
		for _, part := range p.parts {
			g.Values[part.device] = part.values()
		}
	}
	if g.To > e.ahead {
		a, err := e.ask(&g)
		if err != nil {
			return err
		}
		e.ahead = g.To
		if err := e.write(s.Now(), a.Writes); err != nil {
			return err
		}
	}
	return s.After(e.world.file.World.Step, kindStep, nil)
}

// write has models take what was written, at its moment.
func (e *estate) write(now time.Duration, writes []whole.Write) error {
	for _, w := range writes {
		body, err := json.Marshal(command{w.Point, json.RawMessage(strconv.FormatFloat(w.Value, 'g', -1, 64))})
		if err != nil {
			return err
		}
		site, _, _ := strings.Cut(w.Point, "/")
		if err := e.world.kernel.Schedule(kernel.Event{At: max(now, w.At), To: site, From: estateName, Kind: kindCommand, Body: body}); err != nil {
			return err
		}
	}
	return nil
}

// Settle has whole nodes send what they have not sent yet, and compares their histories, for the result. The run does not go on after it.
func (w *World) Settle() {
	ended := slices.ContainsFunc(w.kernel.Failures(), func(f kernel.Failure) bool { return f.Actor == estateName })
	if w.estate == nil || w.estate.process == nil || ended {
		return
	}
	a, err := w.estate.ask(whole.Grant{To: w.kernel.Now(), Report: true})
	if err != nil {
		w.failures = append(w.failures, kernel.Failure{Actor: estateName, At: w.kernel.Now(), Reason: err.Error()})
		return
	}
	w.report = a.Report
}

func (e *estate) kill() {
	if e.process != nil {
		e.process.Kill()
	}
}

func (e *estate) close() error {
	if e.process == nil {
		return nil
	}
	return e.process.Close()
}

// Save implements kernel.Actor.
func (e *estate) Save() ([]byte, error) {
	return nil, errors.New("whole nodes run in a process, whose state cannot be kept; repeat the run")
}

// Load implements kernel.Actor.
func (e *estate) Load([]byte) error {
	return errors.New("whole nodes run in a process, whose state cannot be kept")
}
