// Package escalation tells people about alarms that nobody has acknowledged: first those on call, after a time others, by e-mail, a webhook, ntfy,
// MQTT or a push to their browsers. Who was told is kept on disk, so that a restart tells nobody again; a target that is away is tried again, and Troubles says so.
package escalation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"voltbus/alarm"
	"voltbus/fault"
	"voltbus/webpush"
)

// Plan says who is told of which alarms, and when. Durations are in seconds.
type Plan struct {
	Contacts []Contact `json:"contacts"`
	Steps    []Step    `json:"steps"`
	Calendar []Turn    `json:"calendar,omitempty"`
	// Least is the least urgent priority that people are told of; high if left out.
	Least alarm.Priority `json:"least,omitempty"`
	// Push turns pushes to browsers on; nil for off.
	Push *webpush.Setting `json:"push,omitempty"`
}

// Contact is somebody who is told, and how.
type Contact struct {
	Name   string `json:"name"`
	By     string `json:"by"`               // email, webhook, ntfy, mqtt or push
	To     string `json:"to"`               // the address: of e-mail, an URL, a topic, or the name of an account
	Server string `json:"server,omitempty"` // of email: host:port of the SMTP server; of mqtt: the broker, host:port or mqtts://host:port, the node's own if left out
	From   string `json:"from,omitempty"`   // of email
	User   string `json:"user,omitempty"`   // of the SMTP server or the broker
	// Secret is the name of a file in the folder alarm-secrets of the data directory: the password of User, or a bearer token.
	Secret string `json:"secret,omitempty"`
	// CA is the name of a file in the same folder: the authority of the server's certificate, PEM. Those of the system count if it is left out.
	CA string `json:"ca,omitempty"`
}

// OnCall stands in a step for those who are on call by the calendar.
const OnCall = "on-call"

// Step tells contacts of an alarm that nobody has acknowledged for a time.
type Step struct {
	After float64  `json:"after"` // since it opened
	Tell  []string `json:"tell"`  // names of contacts, or on-call
}

// Turn is a time in which somebody is on call.
type Turn struct {
	Who  string    `json:"who"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// The ways.
const (
	ByEmail   = "email"
	ByWebhook = "webhook"
	ByNtfy    = "ntfy"
	ByMQTT    = "mqtt"
	ByPush    = "push"
)

const (
	mostContacts = 100
	mostSteps    = 20
	mostTurns    = 5_000
	longest      = 7 * 24 * 3600
)

func wrong(field, format string, args ...any) error {
	return fault.E("escalation.Plan", fault.Invalid, field, fmt.Errorf(format, args...))
}

// Validate returns what is wrong with a plan.
func (p *Plan) Validate() error {
	if len(p.Contacts) > mostContacts || len(p.Steps) > mostSteps || len(p.Calendar) > mostTurns {
		return wrong("contacts", "at most %d contacts, %d steps and %d turns are possible", mostContacts, mostSteps, mostTurns)
	}
	if !slices.Contains([]alarm.Priority{"", alarm.PriorityLow, alarm.PriorityMedium, alarm.PriorityHigh, alarm.Critical}, p.Least) {
		return wrong("least", "%.40q is not a priority; write low, medium, high or critical", p.Least)
	}
	if p.Push != nil {
		if err := p.Push.Validate(); err != nil {
			return wrong("push", "%w", err)
		}
	}
	names, err := p.checkContacts()
	if err != nil {
		return err
	}
	return p.checkSteps(names)
}

// checkContacts checks the contacts, and returns their names.
func (p *Plan) checkContacts() (names map[string]bool, err error) {
	names = map[string]bool{}
	for i := range p.Contacts {
		c := &p.Contacts[i]
		if c.Name == "" || c.Name == OnCall || names[c.Name] {
			return nil, wrong(fmt.Sprintf("contacts[%d].name", i), "%.40q is empty, used twice, or %s; write a name of its own", c.Name, OnCall)
		}
		names[c.Name] = true
		if err := c.validate(i); err != nil {
			return nil, err
		}
		if c.By == ByPush && p.Push == nil {
			return nil, wrong(fmt.Sprintf("contacts[%d].by", i), "pushes are off; turn them on with push, such as {\"contact\": \"mailto:shift@example.org\"}")
		}
	}
	return names, nil
}

// checkSteps checks what refers to contacts.
func (p *Plan) checkSteps(names map[string]bool) error {
	for i, s := range p.Steps {
		if !(s.After >= 0 && s.After <= longest) {
			return wrong(fmt.Sprintf("steps[%d].after", i), "%v s is not possible; write 0 to %d seconds", s.After, longest)
		}
		for _, name := range s.Tell {
			if name != OnCall && !names[name] {
				return wrong(fmt.Sprintf("steps[%d].tell", i), "%.40q is not among the contacts; write one of them, or %s", name, OnCall)
			}
		}
	}
	for i, t := range p.Calendar {
		if !names[t.Who] || !t.To.After(t.From) {
			return wrong(fmt.Sprintf("calendar[%d]", i), "write a contact as who, and a to after from")
		}
	}
	return nil
}

// told returns the contacts of a step at a time. With nobody on call all contacts are told, so that an alarm does not go unheard.
func (p *Plan) told(s *Step, now time.Time) (list []string) {
	for _, name := range s.Tell {
		if name != OnCall {
			list = append(list, name)
			continue
		}
		on := p.OnCall(now)
		if list = append(list, on...); len(on) == 0 {
			for i := range p.Contacts {
				list = append(list, p.Contacts[i].Name)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// OnCall lists who is on call at a time by the calendar.
func (p *Plan) OnCall(now time.Time) (list []string) {
	for _, t := range p.Calendar {
		if !now.Before(t.From) && now.Before(t.To) {
			list = append(list, t.Who)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Storage keeps who was told. See storage.Storage.
type Storage interface {
	Told(ctx context.Context) ([][2]string, error)
	SaveTold(ctx context.Context, told [][2]string, gone []string) error
}

// Options are what an escalation needs.
type Options struct {
	Secrets string // the folder of passwords and tokens
	Node    string // its name, for the texts
	Storage Storage
	// Devices are the browsers of people that take pushes.
	Devices *webpush.Registry
	// Known reports whether there is an account; nil if nobody can tell.
	Known func(ctx context.Context, person string) (bool, error)
	// Publish publishes a message by the node's own MQTT broker, and returns for how many clients it is; there is false without a broker.
	Publish func(topic string, payload []byte) (clients int, there bool)
	// Plan returns the plan, and Alarms the alarms of the node.
	Plan   func() Plan
	Alarms func() []alarm.Shown
	Now    func() time.Time
	Log    *slog.Logger
}

// Escalation tells people. It is safe for concurrent use.
type Escalation struct {
	o    Options
	told map[string]map[string]bool // contacts by alarm and when it opened; of the goroutine of Run

	mu   sync.Mutex
	away map[string]*away // contacts that cannot be told
}

// away is a contact that cannot be told.
type away struct {
	until time.Time // it is not tried again before
	fails int
	why   string
}

// Open returns an escalation that knows who was told.
func Open(ctx context.Context, o Options) (*Escalation, error) {
	e := &Escalation{o: o, told: map[string]map[string]bool{}, away: map[string]*away{}}
	list, err := o.Storage.Told(ctx)
	for _, t := range list {
		e.note(t[0], t[1])
	}
	return e, err
}

func (e *Escalation) note(alarm, contact string) {
	if e.told[alarm] == nil {
		e.told[alarm] = map[string]bool{}
	}
	e.told[alarm][contact] = true
}

// look is how often alarms are looked at.
const look = time.Second

// Run tells people until ctx ends, and returns nil.
func (e *Escalation) Run(ctx context.Context) error {
	clock := time.NewTicker(look)
	defer clock.Stop()
	for {
		e.step(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-clock.C:
		}
	}
}

// Troubles says who cannot be told, and why.
func (e *Escalation) Troubles() (list []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, a := range e.away {
		list = append(list, name+" cannot be told of alarms, and is tried again: "+a.why)
	}
	slices.Sort(list)
	return list
}

func key(a *alarm.Shown) string { return string(a.ID) + " " + a.Since.UTC().Format(time.RFC3339Nano) }

// step tells who is due. What a contact has to be told at once is one message.
func (e *Escalation) step(ctx context.Context) {
	plan, now := e.o.Plan(), e.o.Now()
	due, open := e.due(&plan, now)
	var gone []string
	for k := range e.told {
		if !open[k] {
			delete(e.told, k)
			gone = append(gone, k)
		}
	}
	told := e.tellAll(ctx, &plan, due, now)
	e.forget(&plan)
	if len(told)+len(gone) == 0 {
		return
	}
	if err := e.o.Storage.SaveTold(context.WithoutCancel(ctx), told, gone); err != nil {
		e.o.Log.WarnContext(ctx, "who was told of alarms cannot be kept", slog.Any("err", err))
	}
}

// tellAll tells all who are due at the same time, so that one who is away holds up nobody, and returns who was told of what.
func (e *Escalation) tellAll(ctx context.Context, plan *Plan, due map[string][]alarm.Shown, now time.Time) (told [][2]string) {
	heard := make([]bool, len(plan.Contacts))
	var group sync.WaitGroup
	for i := range plan.Contacts {
		if c := &plan.Contacts[i]; len(due[c.Name]) > 0 && e.ready(c.Name, now) {
			group.Go(func() { heard[i] = e.tell(ctx, plan, c, due[c.Name]) })
		}
	}
	group.Wait()
	for i := range heard {
		if name := plan.Contacts[i].Name; heard[i] {
			for k := range due[name] {
				id := key(&due[name][k])
				e.note(id, name)
				told = append(told, [2]string{id, name})
			}
		}
	}
	return told
}

func (e *Escalation) ready(contact string, now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.away[contact]
	return a == nil || !now.Before(a.until)
}

// due returns what each contact has to be told, and the alarms that wait to be acknowledged.
func (e *Escalation) due(plan *Plan, now time.Time) (due map[string][]alarm.Shown, open map[string]bool) {
	due, open = map[string][]alarm.Shown{}, map[string]bool{}
	least := cmp.Or(plan.Least, alarm.PriorityHigh).Rank()
	for _, a := range e.o.Alarms() {
		if a.State != alarm.Unacknowledged || a.Priority.Rank() < least {
			continue
		}
		k := key(&a)
		open[k] = true
		for i := range plan.Steps {
			if now.Sub(a.Since).Seconds() < plan.Steps[i].After {
				continue
			}
			for _, name := range plan.told(&plan.Steps[i], now) {
				if !e.told[k][name] && !slices.ContainsFunc(due[name], func(o alarm.Shown) bool { return o.ID == a.ID }) {
					due[name] = append(due[name], a)
				}
			}
		}
	}
	return due, open
}

// pauses are how long a contact that is away is left alone, after each attempt.
const (
	pause     = 10 * time.Second
	mostPause = 10 * time.Minute
)

func (e *Escalation) tell(ctx context.Context, plan *Plan, c *Contact, list []alarm.Shown) bool {
	l := letterOf(e.o.Node, list)
	err := e.send(ctx, plan, c, &l)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err == nil {
		delete(e.away, c.Name)
		return true
	}
	if ctx.Err() != nil {
		return false
	}
	a := e.away[c.Name]
	if a == nil {
		a = &away{}
		e.away[c.Name] = a
	}
	a.until, a.why = e.o.Now().Add(min(mostPause, pause<<min(a.fails, 8))), err.Error()
	a.fails++
	return false
}

// Test sends a message to a contact of the plan that says that it is a test, whatever the steps say, and returns why it could not. A contact that
// gets it is not away any more.
func (e *Escalation) Test(ctx context.Context, name, by string) error {
	const op = "escalation.Test"
	plan := e.o.Plan()
	i := slices.IndexFunc(plan.Contacts, func(c Contact) bool { return c.Name == name })
	if i < 0 {
		return fault.E(op, fault.NotFound, name, errors.New("is not a contact of the plan that is used"))
	}
	text := fmt.Sprintf("This is a test by %s, sent at %s. Nothing is wrong. Alarms of this node will come in this way.\n", plain(by), e.o.Now().UTC().Format(time.DateTime+" UTC"))
	l := letter{"Test by " + plain(e.o.Node), text, Message{Node: e.o.Node, Alarms: []Alarm{}, Test: true}}
	if err := e.send(ctx, &plan, &plan.Contacts[i], &l); err != nil {
		return fault.E(op, fault.Unavailable, name, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.away, name)
	return nil
}

// forget drops what is known of contacts that are not in the plan any more.
func (e *Escalation) forget(plan *Plan) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for name := range e.away {
		if !slices.ContainsFunc(plan.Contacts, func(c Contact) bool { return c.Name == name }) {
			delete(e.away, name)
		}
	}
}
