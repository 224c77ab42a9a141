package node_test

import (
	"strings"
	"testing"

	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/alarms"
	"voltbus/operation/documents"
)

// tells writes the plan of who is told of alarms, and waits until it is used.
func (r *running) tells(plan string) {
	r.t.Helper()
	if _, err := client.Do(wait(r.t), r.Client, documents.Set, documents.Text{Key: documents.Key{Owner: "shared", Name: "escalation"}, Text: &plan, Type: "json"}); err != nil {
		r.t.Fatal(err)
	}
	eventually(r.t, "the plan is used", func() bool {
		p, err := client.Do(wait(r.t), r.Client, alarms.PeopleOf, struct{}{})
		return err == nil && len(p.Contacts) == strings.Count(plan, `"by"`) && (p.PushKey != "") == strings.Contains(plan, `"contact"`)
	})
}

func TestPeopleAreToldByTheNodesOwnBrokerAndByTheirBrowsers(t *testing.T) {
	r := run(t, load(t, t.TempDir(), strings.Replace(fleetOfDevices, `subscribe: ["t/#"]`, `subscribe: ["plant/#"]`, 1)))
	panel := connectMQTT(t, r.MQTTAddr(false), r.addDevice("panel", "panel"))
	ada, _ := r.person("ada", identity.Engineer)
	viewer, _ := r.person("ben", identity.Viewer)
	phone := alarms.Browser{
		Name: "phone", Endpoint: "https://updates.push.services.mozilla.com/wpush/v2/x", Auth: "BTBZMqHH6r4Tts7J_aSIgg",
		P256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
	}
	if _, err := client.Do(wait(t), ada, alarms.TakePushes, phone); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "pushes are off") {
		t.Errorf("pushes are on: %v", err)
	}
	r.tells(`{"contacts": [{"name": "panel", "by": "mqtt", "to": "plant/alarms"}, {"name": "ada", "by": "push", "to": "ada"}],
		"calendar": [{"who": "ada", "from": "2020-01-01T00:00:00Z", "to": "2120-01-01T00:00:00Z"}], "push": {"contact": "mailto:shift@example.org"}}`)
	if err := client.Tell(wait(t), ada, alarms.TestContact, alarms.Contact{Contact: "panel"}); err == nil || !strings.Contains(err.Error(), "no client") {
		t.Errorf("a topic without subscribers: %v", err)
	}
	panel.subscribe(t, "plant/#", 1)
	if err := client.Tell(wait(t), viewer, alarms.TestContact, alarms.Contact{Contact: "panel"}); !fault.Is(err, fault.Refused) {
		t.Errorf("a viewer sends tests: %v", err)
	}
	if err := client.Tell(wait(t), ada, alarms.TestContact, alarms.Contact{Contact: "panel"}); err != nil {
		t.Fatal(err)
	}
	if m := panel.next(t); m.Topic != "plant/alarms" || m.QoS != 1 || !strings.Contains(string(m.Payload), `"test":true`) {
		t.Errorf("the panel heard %v", m)
	}
	got, err := client.Do(wait(t), ada, alarms.TakePushes, phone)
	if err != nil {
		t.Fatal(err)
	}
	for c, want := range map[*client.Client]int{ada: 1, viewer: 0} {
		p, err := client.Do(wait(t), c, alarms.PeopleOf, struct{}{})
		if err != nil || len(p.Browsers) != want || strings.Join(p.OnCall, "") != "ada" || p.Wrong != "" {
			t.Errorf("people are %+v, %v", p, err)
		}
	}
	if err := client.Tell(wait(t), viewer, alarms.EndPushes, alarms.BrowserID{ID: got.ID}); !fault.Is(err, fault.NotFound) {
		t.Errorf("somebody else ends them: %v", err)
	}
	if err := client.Tell(wait(t), ada, alarms.EndPushes, alarms.BrowserID{ID: got.ID}); err != nil {
		t.Error(err)
	}
}
