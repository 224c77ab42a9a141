package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/eclipse/paho.golang/paho"

	"voltbus/api/client"
	"voltbus/operation"
	"voltbus/operation/mqtt"
)

// metrics returns the lines of the node's metrics that begin with a prefix, by name.
func (r *running) metrics(prefix string) map[string]string {
	r.t.Helper()
	req, err := http.NewRequestWithContext(wait(r.t), http.MethodGet, r.HTTPAddr()+"/metrics", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token())
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(body)) {
		if name, value, is := strings.Cut(strings.TrimSpace(line), " "); is && strings.HasPrefix(name, prefix) {
			found[name] = value
		}
	}
	return found
}

// Every count of mqtt.status has a metric with the same figure, and what happens is counted where it belongs.
func TestTheMetricsOfTheBrokerAreItsCounts(t *testing.T) {
	r := run(t, load(t, t.TempDir(), fleetOfDevices))
	one := r.addDevice("one", "thermostat")
	r.addDevice("two", "thermostat")
	a := connectMQTT(t, r.MQTTAddr(false), one)
	if _, err := dialMQTT(t, r.MQTTAddr(false), asDevice("one", "wrong")); err == nil {
		t.Fatal("a wrong secret is let in")
	}
	a.subscribe(t, "all/#", 1)
	a.subscribe(t, "t/two/#", 1) // may not
	a.publish(t, "t/one/temp", "21", 1)
	a.publish(t, "t/one/temp/x/y", "21", 1) // no template takes it
	ctx, cancel := context.WithTimeout(t.Context(), mqttLimit)
	defer cancel()
	if _, err := a.Publish(ctx, &paho.Publish{Topic: "t/one/temp", Payload: []byte("22"), QoS: 1, Retain: true}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"clients": "1", "devices": "2", "sessions": "1", "subscriptions": "1", "retained_messages": "1", "connects_total": "1", "refused_total": "1",
		"received_total": "3", "recorded_total": "2", "samples_total": "2", "unknown_total": "1", "unauthorized_total": "1", "undecoded_total": "0",
	}
	got := r.metrics("voltbus_mqtt_")
	for name, value := range want {
		if got["voltbus_mqtt_"+name] != value {
			t.Errorf("%s is %q, want %s", name, got["voltbus_mqtt_"+name], value)
		}
	}
	status, err := client.Do(t.Context(), r.Client, mqtt.Status, operation.None{})
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{}
	if text, err := json.Marshal(status); err != nil || json.Unmarshal(text, &fields) != nil {
		t.Fatal(err)
	}
	delete(fields, "broker")
	other := map[string]string{"connected": "clients", "retained": "retained_messages", "waiting": "waiting_messages"}
	for field, value := range fields {
		name := "voltbus_mqtt_" + field
		if n := other[field]; n != "" {
			name = "voltbus_mqtt_" + n
		}
		text, is := got[name]
		if !is {
			text, is = got[name+"_total"]
		}
		if !is || text != fmt.Sprint(value) {
			t.Errorf("mqtt.status has %s = %v, the metrics have %q", field, value, text)
		}
	}
	if len(got) != len(fields) {
		t.Errorf("there are %d metrics of %d counts: %v", len(got), len(fields), got)
	}
}
