package monitor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"voltbus/alarm"
	"voltbus/alarm/escalation"
	"voltbus/document"
	"voltbus/fault"
	"voltbus/mail"
	"voltbus/webpush"
)

// Escalation is the shared document that says who is told of alarms, a JSON object as in escalation.Plan.
const Escalation = "escalation"

// Secrets is the folder of the data directory with the passwords and tokens of the plan.
const Secrets = "alarm-secrets"

// openEscalation opens the part that tells people.
func openEscalation(ctx context.Context, m *Monitor) (err error) {
	if m.devices, err = webpush.Open(webpush.Options{Dir: m.o.Dir, Now: m.o.Now}); err != nil {
		return err
	}
	m.people, err = escalation.Open(ctx, escalation.Options{
		Devices: m.devices, Known: m.o.Known, Publish: m.o.Publish,
		Secrets: filepath.Join(m.o.Dir, Secrets), Node: m.o.Node, Storage: m.file, Now: m.o.Now, Log: m.o.Log,
		Plan: func() escalation.Plan {
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.plan
		},
		Alarms: func() []alarm.Shown {
			m.mu.Lock()
			defer m.mu.Unlock()
			if len(m.plan.Steps) == 0 {
				return nil
			}
			return m.engine.List()
		},
	})
	return err
}

// loadPlan reads the plan. One that is wrong changes nothing, and the health says what is wrong.
func (m *Monitor) loadPlan(ctx context.Context) error {
	d, err := m.o.Documents.Get(ctx, document.Key{Owner: document.Shared, Name: Escalation}, 0)
	if fault.Is(err, fault.NotFound) || (err == nil && d.Deleted) {
		usePlan(m, escalation.Plan{}, nil)
		return nil
	}
	if err != nil {
		return err
	}
	var p escalation.Plan
	in := json.NewDecoder(bytes.NewReader([]byte(d.Text)))
	in.DisallowUnknownFields()
	if err = in.Decode(&p); err == nil {
		err = p.Validate()
	}
	usePlan(m, p, err)
	return nil
}

func usePlan(m *Monitor, p escalation.Plan, wrong error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.wrong = wrong; wrong == nil {
		m.plan = p
	}
}

// unheard says why people are not told of alarms.
func (m *Monitor) unheard() []string {
	list := m.people.Troubles()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.wrong != nil {
		list = append(list, fmt.Sprintf("the document %s, who is told of alarms, is wrong and not used: %v", Escalation, m.wrong))
	}
	return list
}

// isPlan reports whether a document is the plan.
func isPlan(name string) bool { return strings.EqualFold(name, Escalation) }

// People says who is told of alarms.
type People struct {
	Plan     escalation.Plan
	Wrong    error    // with the document; the plan is the last one that was right
	OnCall   []string // now
	Troubles []string // who cannot be told, and why
	Devices  []webpush.Device
	PushKey  string // empty while pushes are off
}

// Contacts is who is told of the alarms of a monitor. It is safe for concurrent use.
type Contacts struct{ m *Monitor }

// ContactsOf returns who is told of the alarms of a monitor.
func ContactsOf(m *Monitor) Contacts { return Contacts{m} }

// People says who is told of alarms, and which browsers of a person take pushes.
func (c Contacts) People(person string) (People, error) {
	m := c.m
	m.mu.Lock()
	p := People{Plan: m.plan, Wrong: m.wrong}
	m.mu.Unlock()
	p.OnCall, p.Troubles, p.Devices = p.Plan.OnCall(m.o.Now()), m.people.Troubles(), m.devices.Of(person)
	var err error
	if p.Plan.Push != nil {
		p.PushKey, err = m.devices.Key()
	}
	return p, err
}

// Mail sends a letter to a contact of the plan, by e-mail.
func (c Contacts) Mail(ctx context.Context, name string, l mail.Letter) error {
	return c.m.people.Mail(ctx, name, l)
}

// Test sends a test to a contact of the plan.
func (c Contacts) Test(ctx context.Context, name, by string) error {
	return c.m.people.Test(ctx, name, by)
}

var errPushOff = errors.New("pushes are off; an engineer turns them on in the plan of who is told of alarms")

// TakePushes keeps a browser that takes pushes.
func (c Contacts) TakePushes(d webpush.Device) (webpush.Device, error) {
	c.m.mu.Lock()
	setting := c.m.plan.Push
	c.m.mu.Unlock()
	if setting == nil {
		return d, fault.E("alarms.TakePushes", fault.Conflict, d.Name, errPushOff)
	}
	return c.m.devices.Add(setting, d)
}

// EndPushes forgets a browser of a person.
func (c Contacts) EndPushes(person, id string) error { return c.m.devices.Remove(person, id) }

// PushFile is the file of the data directory with the browsers that take pushes.
const PushFile = webpush.File

// CheckPushFile returns what is wrong with the content of the file of browsers.
func CheckPushFile(content []byte) error { return webpush.Check(content) }
