package node_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/api/client"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/configuration"
	"voltbus/operation/mqtt"
)

const withoutTemplates = `
listen: {http: 127.0.0.1:0, bus: 127.0.0.1:0, mqtt: 127.0.0.1:0}
mqtt:
  kinds: [{name: thermostat, publish: ["t/{device}/#"], points: 3}]
  templates:
    - name: known
      topic: t/{device}/known
      device: home/{device}
      format: json
      points: [{name: a}, {name: b}]
`

// unknown lists the topics that no template takes, with the proposals.
func (r *running) unknown() map[string]string {
	r.t.Helper()
	list, err := client.Do(context.Background(), r.Client, mqtt.Unknown, operation.None{})
	if err != nil {
		r.t.Fatal(err)
	}
	topics := map[string]string{}
	for _, u := range list.Topics {
		topics[u.Topic] = u.Proposal
	}
	return topics
}

func TestAProposedTemplateTakesMessagesFromNowOn(t *testing.T) {
	dir := t.TempDir()
	r := run(t, load(t, dir, withoutTemplates))
	a := connectMQTT(t, r.MQTTAddr(false), r.addDevice("one", "thermostat"))
	a.publish(t, "t/one/known", `{"a":1,"b":2}`, 1)
	a.publish(t, "t/one/state", `{"temperature":20.5}`, 1)
	proposal := r.unknown()["t/one/state"]
	done, err := client.Do(t.Context(), r.Client, configuration.AddTemplate, configuration.Template{Template: proposal})
	if err != nil || len(done.Changes.Restart) > 0 || !strings.Contains(strings.Join(done.Changes.Words, " "), "mqtt.templates is changed") {
		t.Fatalf("%+v, %v", done, err)
	}
	if left := r.unknown(); len(left) > 0 {
		t.Errorf("there are still %v", left)
	}
	// The device may have three points: what it had before does not count twice.
	for topic, payload := range map[string]string{"t/one/state": `{"temperature":21}`, "t/one/known": `{"a":3,"b":4}`} {
		if code := a.publish(t, topic, payload, 1); code != 0 {
			t.Errorf("%s is answered with %#x", topic, code)
		}
	}
	for path, want := range map[string]string{"mqtt/one/temperature": "21", "home/one/a": "1 3", "home/one/b": "2 4"} {
		eventually(t, path+" is "+want, func() bool { return strings.Join(r.values(path), " ") == want })
	}
	r.halt()
	text, err := os.ReadFile(filepath.Join(dir, "voltbus.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	again := run(t, load(t, dir, strings.TrimPrefix(string(text), "node: {name: test, data: data}\n"))) // the file has it
	a = connectMQTT(t, again.MQTTAddr(false), again.addDevice("two", "thermostat"))
	a.publish(t, "t/two/state", `{"temperature":22}`, 1)
	eventually(t, "it is known after a restart", func() bool { return strings.Join(again.values("mqtt/two/temperature"), " ") == "22" })
}

func TestAttackOnlyAnEngineerAddsATemplate(t *testing.T) {
	r := run(t, load(t, t.TempDir(), withoutTemplates))
	const template = "- {name: x, topic: x/y, device: home/x, format: plain, points: [{name: v}]}"
	for role, want := range map[identity.Role]int{identity.Viewer: http.StatusForbidden, identity.Operator: http.StatusForbidden, identity.Engineer: 0} {
		_, token := r.person("p-"+role.String(), role)
		if p := r.call(token, "POST", "/mqtt/templates", m{"template": template}, nil); p.Status != want {
			t.Errorf("%v is answered with %+v", role, p)
		}
	}
	// What an engineer may not change does not come with a template.
	_, token := r.person("sly", identity.Engineer)
	for _, text := range []string{"{name: z, topic: z, device: z, format: plain, points: [{name: v}]}\n---\nmqtt: {anonymous: true}", "{name: z, anonymous: true}"} {
		if p := r.call(token, "POST", "/mqtt/templates", m{"template": text}, nil); p.Status != http.StatusBadRequest {
			t.Errorf("%q is answered with %+v", text, p)
		}
	}
}
