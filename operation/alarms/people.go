package alarms

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"voltbus/alarm/escalation"
	"voltbus/alarm/monitor"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/webpush"
)

// People tells people about alarms. See monitor.Contacts.
type People interface {
	People(person string) (monitor.People, error)
	Test(ctx context.Context, name, by string) error
	TakePushes(d webpush.Device) (webpush.Device, error)
	EndPushes(person, id string) error
}

// The arguments.
type (
	// Contact names a contact of the plan.
	Contact struct {
		Contact string `json:"contact" api:"required,max=200" doc:"Its name in the document escalation"`
	}
	// Browser is a browser that takes pushes.
	Browser struct {
		Name     string `json:"name" api:"required,max=100" doc:"What you call the device"`
		Endpoint string `json:"endpoint" api:"required,max=2048" doc:"Of the browser's PushSubscription: an https address of a push service"`
		P256dh   string `json:"p256dh" api:"required,max=128" doc:"Its key p256dh, in base64url"`
		Auth     string `json:"auth" api:"required,max=64" doc:"Its key auth, in base64url"`
	}
	// BrowserID names a browser.
	BrowserID struct {
		ID string `json:"id" api:"required,max=64"`
	}
)

// The answers.
type (
	// AlarmPeople says who is told of alarms.
	AlarmPeople struct {
		OnCall   []string       `json:"on_call" doc:"The contacts that are on call now; if there is none, all are told"`
		Contacts []AlarmContact `json:"contacts" doc:"Those of the plan that is used"`
		Wrong    string         `json:"wrong" doc:"What is wrong with the document escalation, so that the one before is used; empty if nothing is"`
		Troubles []string       `json:"troubles" doc:"Who cannot be told of alarms now, and why"`
		PushKey  string         `json:"push_key" doc:"The applicationServerKey to subscribe to pushes with (RFC 8292), in base64url; empty while pushes are off"`
		Pushed   bool           `json:"pushed" doc:"Whether a contact of the plan is told by pushes to your browsers"`
		Browsers []PushBrowser  `json:"browsers" doc:"Your browsers that take pushes"`
	}
	// AlarmContact is somebody who is told.
	AlarmContact struct {
		Name string `json:"name"`
		By   string `json:"by" api:"one-of=email|webhook|ntfy|mqtt|push"`
	}
	// PushBrowser is a browser that takes pushes.
	PushBrowser struct {
		ID      string    `json:"id"`
		Name    string    `json:"name"`
		Service string    `json:"service" doc:"The host of its push service"`
		Since   time.Time `json:"since"`
	}
)

// The operations on who is told.
var (
	PeopleOf = operation.Declare[struct{}, AlarmPeople](operation.Spec{
		Name: "alarm.people", ID: "getAlarmPeople", HTTP: "GET /alarms/people", Role: identity.Viewer,
		Summary: "Say who is told of alarms, who is on call now, and who cannot be told", Result: "People, and your browsers that take pushes",
		Doc: "The plan is the shared document escalation.",
	})
	TestContact = operation.Declare[Contact, operation.None](operation.Spec{
		Name: "alarm.test-contact", ID: "testAlarmContact", HTTP: "POST /alarms/people/test", Role: identity.Engineer, Audited: true, Body: smallBody,
		Summary: "Send a message to a contact that says that it is a test", Doc: "503 with the reason if it cannot be sent.",
	})
	TakePushes = operation.Declare[Browser, PushBrowser](operation.Spec{
		Name: "alarm.take-pushes", ID: "takeAlarmPushes", HTTP: "POST /alarms/browsers", Role: identity.Viewer, Audited: true, Body: smallBody,
		Summary: "Have alarms pushed to a browser of yours", Result: "The browser",
		Doc: "409 while pushes are off. Which alarms it is told of says the plan: a contact with push and your name.",
	})
	EndPushes = operation.Declare[BrowserID, operation.None](operation.Spec{
		Name: "alarm.end-pushes", ID: "endAlarmPushes", HTTP: "DELETE /alarms/browsers/{id}", Role: identity.Viewer, Audited: true,
		Summary: "End pushes to a browser of yours",
	})
)

func (p *Part) aboutPeople() []operation.Bound {
	return []operation.Bound{
		operation.Bind(PeopleOf, nil, p.people), operation.Bind(TestContact, nil, p.testContact), operation.Bind(TakePushes, nil, p.takePushes),
		operation.Bind(EndPushes, nil, p.endPushes),
	}
}

// account is the name of the account of a caller who is a person of this node; empty for others.
func account(c *operation.Call) string {
	name, is := strings.CutPrefix(c.Name, identity.PersonKind+":")
	if !is || strings.Contains(name, "/") {
		return ""
	}
	return name
}

func (p *Part) people(_ context.Context, c *operation.Call, _ *struct{}) (AlarmPeople, error) {
	k, err := p.People.People(account(c))
	if err != nil {
		return AlarmPeople{}, err
	}
	out := AlarmPeople{
		OnCall: append([]string{}, k.OnCall...), Contacts: make([]AlarmContact, len(k.Plan.Contacts)), Troubles: append([]string{}, k.Troubles...),
		PushKey: k.PushKey, Browsers: make([]PushBrowser, len(k.Devices)),
	}
	for i := range k.Plan.Contacts {
		known := &k.Plan.Contacts[i]
		out.Contacts[i] = AlarmContact{known.Name, known.By}
		out.Pushed = out.Pushed || (known.By == escalation.ByPush && known.To == account(c))
	}
	for i := range k.Devices {
		out.Browsers[i] = browserOf(&k.Devices[i])
	}
	if k.Wrong != nil {
		out.Wrong = k.Wrong.Error()
	}
	return out, nil
}

func browserOf(d *webpush.Device) PushBrowser { return PushBrowser{d.ID, d.Name, d.Service(), d.Since} }

func (p *Part) testContact(ctx context.Context, c *operation.Call, in *Contact) (operation.None, error) {
	c.Did(in.Contact, nil)
	return operation.None{}, p.People.Test(ctx, in.Contact, cmp.Or(person(c), "somebody"))
}

var errNobody = errors.New("only a person with an account of this node has browsers; log in as one")

func (p *Part) takePushes(_ context.Context, c *operation.Call, in *Browser) (PushBrowser, error) {
	c.Did(in.Name, nil)
	d := webpush.Device{Person: account(c), Name: in.Name, Endpoint: in.Endpoint, Keys: webpush.Keys{P256dh: in.P256dh, Auth: in.Auth}}
	if d.Person == "" {
		return PushBrowser{}, fault.E("alarms.TakePushes", fault.Refused, c.Name, errNobody)
	}
	d, err := p.People.TakePushes(d)
	return browserOf(&d), err
}

func (p *Part) endPushes(_ context.Context, c *operation.Call, in *BrowserID) (operation.None, error) {
	c.Did(in.ID, nil)
	return operation.None{}, p.People.EndPushes(account(c), in.ID)
}
