package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/operation/children"
	parentop "voltbus/operation/parent"
	"voltbus/virtual/cable"
	"voltbus/virtual/clock"
	"voltbus/virtual/whole"
)

// estate is the nodes of a world, with what lies between them.
type estate struct {
	hello   *whole.Hello
	members []*member // parents before their children
	by      map[string]*member
	devices map[string]place // by their paths

	mu     sync.Mutex
	writes []whole.Write
	end    context.CancelFunc // of those who give orders
	orders sync.WaitGroup
}

// place is where a device is found.
type place struct {
	member *member
	number int
}

// open starts the nodes and joins them. What was opened before an error is closed.
func open(ctx context.Context, h *whole.Hello, dir string, log *slog.Logger) (*estate, error) {
	e := &estate{hello: h, by: map[string]*member{}, devices: map[string]place{}, end: func() {}}
	for i := range h.Nodes {
		m := &member{Node: &h.Nodes[i]}
		e.members, e.by[m.Name] = append(e.members, m), m
		err := m.open(ctx, dir, log, e.wrote)
		if err == nil && m.Parent != "" {
			err = e.hang(ctx, m)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("node %s: %w", m.Name, err), e.close()) //nolint:contextcheck // what is closed is written, whoever waits
		}
		for n := range m.Devices {
			e.devices[m.Devices[n].Path] = place{m, n}
		}
	}
	if err := e.settle(); err != nil {
		return nil, errors.Join(err, e.close()) //nolint:contextcheck // what is closed is written, whoever waits
	}
	e.command(ctx)
	return e, nil
}

// hang makes a node the child of its parent, over a cable.
func (e *estate) hang(ctx context.Context, m *member) error {
	parent := e.by[m.Parent]
	if parent == nil {
		return fmt.Errorf("it has no parent %q before it", m.Parent)
	}
	o := cable.Options{Name: m.Name, Seed: e.hello.Seed}
	for i := range e.hello.Links {
		l := &e.hello.Links[i]
		if l.Child != m.Name {
			continue
		}
		o.Delay, o.Jitter, o.Loss = l.Delay, l.Jitter, l.Loss
		for _, c := range l.Cuts {
			o.Cuts = append(o.Cuts, cable.Span{From: e.hello.Start.Add(c.From), To: e.hello.Start.Add(c.To)})
		}
	}
	var err error
	if m.cable, err = cable.Open(parent.node.BusAddr(), o); err != nil {
		return err
	}
	invited, err := client.Do(ctx, parent.client, children.Invite, client.NewInvitation{Approved: true, Addresses: []string{m.cable.Addr()}}.Arguments())
	if err != nil {
		return fmt.Errorf("invite it at %s: %w", m.Parent, err)
	}
	_, err = client.Do(ctx, m.client, parentop.Join, parentop.Code{Code: invited.Code})
	return err
}

// settle waits until all parents are reached.
func (e *estate) settle() error {
	for time.Now().Before(e.hello.Start) {
		if e.joined() {
			return nil
		}
		clock.Advance(time.Now().Add(100 * time.Millisecond))
	}
	return fmt.Errorf("the nodes did not reach their parents within %s of the world; make the links between them faster, or better", lead)
}

func (e *estate) joined() bool {
	for _, m := range e.members {
		if m.Parent != "" && !m.reaches() {
			return false
		}
	}
	return true
}

// early is how long before a moment a grant ends: what is due at it happens after the world has set the values of it.
const early = time.Millisecond

// goTo lets time pass until just before a moment of the world.
func (e *estate) goTo(at time.Duration) { clock.Advance(e.hello.Start.Add(at - early)) }

// pass sets values, lets time pass, and returns what was written to devices meanwhile.
func (e *estate) pass(g *whole.Grant) ([]whole.Write, error) {
	for path, values := range g.Values {
		p, known := e.devices[path]
		if !known {
			return nil, fault.E("pass", fault.NotFound, path, errors.New("there is no such device"))
		}
		p.member.field.Set(p.number, values)
	}
	e.goTo(g.To)
	for _, m := range e.members {
		select {
		case err := <-m.done:
			m.done <- err
			return nil, fmt.Errorf("node %s ended: %w", m.Name, err)
		default:
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	writes := e.writes
	e.writes = nil
	return writes, nil
}

// wrote is told what a driver writes.
func (e *estate) wrote(path string, value float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.writes = append(e.writes, whole.Write{At: max(0, time.Since(e.hello.Start)), Point: path, Value: value})
}

// close stops the nodes, children first.
func (e *estate) close() error {
	e.end()
	e.orders.Wait()
	var errs []error
	for _, m := range slices.Backward(e.members) {
		errs = append(errs, m.close())
	}
	return errors.Join(errs...)
}
