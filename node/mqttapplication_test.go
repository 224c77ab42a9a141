package node_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"voltbus/api/client"
	"voltbus/operation"
	"voltbus/operation/mqtt"
)

// forecastAllowed is what an application outside may do: at the plant, two nodes below, and at the region itself.
const forecastAllowed = `listen: {http: 127.0.0.1:0, bus: 127.0.0.1:0, mqtt: 127.0.0.1:0}
mqtt:
  kinds: [{name: wide, publish: ["#"], subscribe: ["#"]}]
  applications:
    - name: forecast
      status: ["**/room/temp"]
      commands:
        - {name: room, node: plant, point: site/room/setpoint, level: 14, min: 20, max: 24, step: 2, every: 1s, lease: 10m}
        - {name: own, point: lab/room/setpoint, min: 20, max: 24, every: 1h}
devices:
  lab/room: {driver: sim, interval: 1s, config: {model: zone}}
`

// forecastChain is region ◀ campus ◀ plant, with an application outside at the region.
func forecastChain(t *testing.T) *chain {
	t.Helper()
	c := plantChain(t, map[string]string{
		"region": forecastAllowed,
		"campus": "uplink: {allow: [\"call plant/node:set\", \"call plant/node:get\", \"call plant/node:release\"]}\n",
		"plant":  commandedRooms + "uplink: {allow: [\"command site/room/setpoint@14\"]}\n",
	}, nil)
	return c
}

// outside is a client of an application.
type outside struct{ *mqttClient }

// reply is what an application is told.
type reply struct {
	Command, ID, Status, Output, Why string
	Value, Reported                  float64
	Until                            string
}

// ask asks for a command, and returns the answer.
func (o outside) ask(t *testing.T, command, payload string) (code byte, r reply) {
	t.Helper()
	return o.publish(t, "applications/forecast/set/"+command, payload, 1), o.answer(t)
}

// answer returns the next answer.
func (o outside) answer(t *testing.T) (r reply) {
	t.Helper()
	for {
		m := o.next(t)
		if !strings.HasPrefix(m.Topic, "applications/forecast/answers/") {
			continue
		}
		if err := json.Unmarshal(m.Payload, &r); err != nil {
			t.Fatalf("%s: %v", m.Payload, err)
		}
		return r
	}
}

func (r *running) application(t *testing.T) mqtt.ApplicationState {
	t.Helper()
	out, err := client.Do(wait(t), r.Client, mqtt.ListApplications, operation.None{})
	if err != nil || len(out.Applications) != 1 {
		t.Fatalf("applications: %+v, %v", out, err)
	}
	return out.Applications[0]
}

func TestAnApplicationOutsideCommandsAFewPointsWithinBounds(t *testing.T) {
	t.Parallel()
	c := forecastChain(t)
	as := c.region.addDevice("forecast", "application")
	o := outside{connectMQTT(t, c.region.MQTTAddr(false), as)}
	for _, filter := range []string{"applications/forecast/status/#", "applications/forecast/answers/#"} {
		if code := o.subscribe(t, filter, 1); code >= 0x80 {
			t.Fatalf("subscribing to %s: %x", filter, code)
		}
	}
	seen := func(topic string) {
		for m := o.next(t); m.Topic != topic; m = o.next(t) {
			if !strings.HasPrefix(m.Topic, "applications/forecast/status/") || !strings.HasSuffix(m.Topic, "/room/temp") {
				t.Errorf("it gets %s: %s", m.Topic, m.Payload)
			}
		}
	}
	seen("applications/forecast/status/lab/room/temp")
	seen("applications/forecast/status/campus/plant/site/room/temp")

	if code, r := o.ask(t, "room", `{"value": 22.5, "lease": 300, "id": "a-1"}`); code != 0 || r.Status != "accepted" || r.Output != "held" || r.Reported != 22.5 || r.ID != "a-1" || r.Until == "" {
		t.Fatalf("the first command: %x, %+v", code, r)
	}
	if owners := ownersOf(t, c.plant); !slices.Equal(owners, []string{"application:region/forecast"}) {
		t.Errorf("the point belongs to %q", owners)
	}
	for _, told := range []struct {
		at             *member
		action, begins string
	}{
		{&c.region, "node.call", "application:forecast node.call ok"},
		{&c.campus, "node.pass", "application:region/forecast node.pass ok"},
		{&c.plant, "control.command", "application:region/forecast control.command"},
	} {
		awaitTrue(t, told.at.cfg.Node.Name+" tells its audit log "+told.begins, func() bool { return told.at.hasTold(told.action, told.begins) })
	}
	if code, r := o.ask(t, "own", `{"value": 21}`); code != 0 || r.Status != "accepted" || r.Reported != 21 {
		t.Fatalf("a command at the node itself: %x, %+v", code, r)
	}
	for _, tt := range []struct{ command, payload, why string }{
		{"own", `{"value": 21.5}`, "comes too soon"},
		{"room", `{"value": 19.9}`, "not from 20 to 24"},
		{"room", `{"value": 24.1}`, "not from 20 to 24"},
		{"room", `{"value": 22, "lease": 601}`, "600 is the longest"},
		{"room", `{"value": "22"}`, "is no request"},
		{"room", `{"value": 22, "level": 1}`, "is no request"},
		{"room", `{"value": 22} {"value": 23}`, "is no request"},
		{"room", `{}`, "is no request"},
		{"room", "\x00", "is no request"},
		{"hall", `{"value": 22}`, "none of its commands: it has room, own"},
	} {
		if code, r := o.ask(t, tt.command, tt.payload); code < 0x80 || r.Status != "refused" || !strings.Contains(r.Why, tt.why) {
			t.Errorf("%s %s: %x, %+v, want %q", tt.command, tt.payload, code, r, tt.why)
		}
	}
	awaitTrue(t, "too large a step is refused, when the time between two has passed", func() bool {
		_, r := o.ask(t, "room", `{"value": 20}`)
		return r.Status == "refused" && strings.Contains(r.Why, "the largest step is 2")
	})
	if _, r := o.ask(t, "room", `{"release": true}`); r.Status != "released" {
		t.Errorf("giving it back: %+v", r)
	}
	if owners := ownersOf(t, c.plant); len(owners) != 0 {
		t.Errorf("then the point belongs to %q", owners)
	}
	if a := c.region.application(t); a.Connected != 1 || a.Accepted != 3 || a.Refused < 11 || a.Published == 0 || a.Commands[0].Accepted != 2 || len(a.Events) < 14 {
		t.Errorf("the account of it: %+v", a)
	}
	awaitTrue(t, "refusals are in the audit log", func() bool {
		return c.region.hasTold("mqtt.command", "application:forecast mqtt.command refused: asks for 19.9")
	})
}
