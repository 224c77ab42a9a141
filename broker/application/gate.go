// Package application lets programs outside command a few points through the MQTT broker: each request is checked by what the
// configuration allows, carried out through control in the name of the application, and answered. What is not allowed is refused with
// the reason, counted, and written to the audit log.
package application

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/broker/setting"
	"voltbus/point"
	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
)

// Order is a command to carry out, in the name of an application.
type Order struct {
	Application string
	Node        string // "" for this one
	Point       point.Path
	Level       int
	Value       float64
	Lease       time.Duration
	ID          string // "" for none; a repeat gets the first answer
}

// Outcome is what control says of an order.
type Outcome struct {
	Status   string // accepted, pending, refused or failed
	Output   string // what the point does: held, waiting and others
	Reported json.RawMessage
	Until    *time.Time
	Why      string // why it was not carried out
}

// Carrier carries orders out, as the operations of control do.
type Carrier interface {
	Set(ctx context.Context, o *Order) (Outcome, error)
	Release(ctx context.Context, o *Order) error
	// Present reads the point from its device.
	Present(ctx context.Context, o *Order) (float64, error)
}

// Config is what a gate needs. All but Blocks is required.
type Config struct {
	Applications []setting.Application
	Carry        Carrier
	Send         func(*session.Message)
	// Refused is told of each refusal, for the audit log. It must return at once.
	Refused func(application, topic, why string)
	Blocks  Log // from which the status is read; nil for no status
	Now     func() time.Time
	Log     *slog.Logger
}

// Gate stands between applications and control. It is safe for concurrent use.
type Gate struct {
	cfg  Config
	apps map[string]*app

	mu sync.Mutex // guards the states of apps
}

// app is an application.
type app struct {
	setting setting.Application
	orders  map[string]*order
	names   []string // of the orders, as configured
	jobs    chan job
	state   State // without orders
}

// order is what an application may command.
type order struct {
	setting.Order

	next  time.Time // when the next command may be carried out
	state OrderState
}

// job is a request on its way to control, or a refusal on its way to the application.
type job struct {
	name string
	order
	request request
	why     string // not "" if it is refused
}

// mostWaiting is how many requests of an application wait, refused ones included.
const mostWaiting = 16

// New returns a gate.
func New(cfg Config) *Gate {
	g := &Gate{cfg: cfg, apps: map[string]*app{}}
	for _, s := range cfg.Applications {
		a := &app{setting: s, orders: map[string]*order{}, jobs: make(chan job, mostWaiting)}
		for _, o := range s.Commands {
			o = o.Completed()
			a.orders[o.Name] = &order{Order: o}
			a.names = append(a.names, o.Name)
		}
		g.apps[s.Name] = a
	}
	return g
}

// Take judges a message that a client with the account of a device published, or left as its will. taken says that it is for the gate,
// and nobody else gets it then. It is called with the lock of the broker, and asks nobody.
func (g *Gate) Take(device string, m *session.Message, will bool) (code packet.Code, taken bool) {
	rest, is := strings.CutPrefix(m.Topic, setting.ApplicationTopics)
	if !is || len(g.apps) == 0 {
		return packet.Success, false
	}
	name, rest, _ := strings.Cut(rest, "/")
	what, command, _ := strings.Cut(rest, "/")
	a := g.apps[device]
	if name != device || a == nil || what != setting.SetTopic {
		return g.turnAway(device, m.Topic, whyStranger), true
	}
	g.mu.Lock()
	j, code := g.judge(a, command, m, will)
	g.mu.Unlock()
	if code.Failed() {
		g.note(device, Event{Topic: m.Topic, Value: j.request.Value, Why: j.why})
		g.cfg.Refused(device, m.Topic, j.why)
	}
	select {
	case a.jobs <- j:
	default:
		if code.Failed() {
			return code, true // it is counted; the answer is left out
		}
		return g.turnAway(device, m.Topic, whyBusy), true
	}
	return code, true
}

// judge says what becomes of a request. The lock is held.
func (g *Gate) judge(a *app, name string, m *session.Message, will bool) (j job, code packet.Code) {
	refuse := func(code packet.Code, why string) (job, packet.Code) {
		j.why = why
		if o := a.orders[name]; o != nil {
			o.state.Refused++
			o.state.last(g.cfg.Now(), j.request.Value, refused, why)
		}
		return j, code
	}
	j.name = name
	o := a.orders[name]
	if o == nil {
		return refuse(packet.NotAuthorized, "is none of its commands: it has "+strings.Join(a.names, ", "))
	}
	j.order = *o
	switch {
	case will:
		return refuse(packet.NotAuthorized, whyWill)
	case m.Retain:
		return refuse(packet.NotAuthorized, whyRetained)
	}
	var why string
	if j.request, why = parse(m.Payload); why != "" {
		return refuse(packet.PayloadFormatInvalid, why)
	}
	if j.request.Release {
		return j, packet.Success
	}
	if why := o.within(&j.request); why != "" {
		return refuse(packet.NotAuthorized, why)
	}
	now := g.cfg.Now()
	if wait := o.next.Sub(now); wait > 0 {
		return refuse(packet.QuotaExceeded, tooSoon(o.Every, wait))
	}
	o.next = now.Add(o.Every)
	return j, packet.Success
}

// turnAway counts a refusal, and tells the audit log.
func (g *Gate) turnAway(device, topic, why string) packet.Code {
	g.Note(device, topic, why)
	g.cfg.Refused(device, topic, why)
	return packet.NotAuthorized
}

// Knows reports whether a device is an application.
func (g *Gate) Knows(device string) bool { return g.apps[device] != nil }

// Note counts what the broker itself refused to a client of an application.
func (g *Gate) Note(device, topic, why string) {
	g.note(device, Event{Topic: topic, Why: why})
}

func (g *Gate) note(device string, e Event) {
	a := g.apps[device]
	if a == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	a.state.Refused++
	e.Time, e.Status = g.cfg.Now(), refused
	a.state.remember(e)
}

// Run carries out requests and publishes the status until ctx ends.
func (g *Gate) Run(ctx context.Context) {
	var parts sync.WaitGroup
	for _, a := range g.apps {
		parts.Go(func() { g.serve(ctx, a) })
	}
	if g.cfg.Blocks != nil && slices.ContainsFunc(g.cfg.Applications, func(s setting.Application) bool { return len(s.Status) > 0 }) {
		parts.Go(func() { g.publish(ctx) })
	}
	parts.Wait()
}

func (g *Gate) serve(ctx context.Context, a *app) {
	for {
		select {
		case <-ctx.Done():
			return
		case j := <-a.jobs:
			g.answer(a, &j, g.do(ctx, a, &j))
		}
	}
}
