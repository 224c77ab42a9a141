package node_test

import (
	"strings"
	"testing"

	"github.com/eclipse/paho.golang/paho"
)

const describing = `
listen: {http: 127.0.0.1:0, bus: 127.0.0.1:0, mqtt: 127.0.0.1:0}
mqtt: {anonymous: true, home_assistant: {prefix: homeassistant, device: "home/{device}"}}
`

func TestADeviceThatDescribesItselfIsKnownAfterARestart(t *testing.T) {
	dir := t.TempDir()
	r := run(t, load(t, dir, describing))
	gateway := func(r *running) *mqttClient {
		return connectMQTT(t, r.MQTTAddr(false), &paho.Connect{ClientID: "gateway", CleanStart: true, KeepAlive: 60})
	}
	const description = `{"device":{"name":"boiler"},"state_topic":"b/s","command_topic":"b/s/set","unit_of_measurement":"°C","min":5,"max":80}`
	a := gateway(r)
	if _, err := a.Publish(t.Context(), &paho.Publish{Topic: "homeassistant/number/b/supply/config", Payload: []byte(description), QoS: 1, Retain: true}); err != nil {
		t.Fatal(err)
	}
	a.publish(t, "b/s", "60", 1)
	has := func(r *running, want string) {
		t.Helper()
		eventually(t, "the history has "+want, func() bool { return strings.Join(r.values("home/boiler/supply"), " ") == want })
		eventually(t, "it can be commanded", func() bool { return r.commandable("home/boiler/supply") })
	}
	has(r, "60")
	if left := r.unknown(); len(left) > 0 {
		t.Errorf("no template takes %v", left)
	}
	r.halt()
	r = run(t, load(t, dir, describing))
	a = gateway(r)
	a.publish(t, "b/s", "61", 1)
	has(r, "60 61")
}
