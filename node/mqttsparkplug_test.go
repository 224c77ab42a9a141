package node_test

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/paho"

	"voltbus/api/client"
	"voltbus/control"
	"voltbus/point"
	"voltbus/testing/peers"
)

const sparkplugHost = `
listen: {http: 127.0.0.1:0, bus: 127.0.0.1:0, mqtt: 127.0.0.1:0, mqtts: 127.0.0.1:0}
mqtt:
  kinds:
    - name: edge
      publish: ["spBv1.0/plant/+/{device}/#"]
      subscribe: ["spBv1.0/plant/NCMD/{device}/#", "spBv1.0/plant/DCMD/{device}/#", "spBv1.0/STATE/#", STATE/#]
    - {name: panel, publish: [], subscribe: ["spBv1.0/#"]}
  sparkplug: {host: voltbus, writable: ["boiler/outputs/**"]}
`

// newest returns value, unit and quality of a point.
func (r *running) newest(path string) string {
	r.t.Helper()
	got, err := r.Range(context.Background(), client.Span{Points: []string{path}, From: "-1h"}, 0, false)
	if err != nil || len(got.Series) == 0 || len(got.Series[0].Samples) == 0 {
		return ""
	}
	s := got.Series[0].Samples
	last := s[len(s)-1]
	return strings.TrimSpace(string(last.Value)) + " " + cmp.Or(last.Quality, "good")
}

// An edge node of another project is born, reports, loses a message, is commanded, and goes.
func TestAnEdgeNodeOfSparkplugIsFollowedFromBirthToDeath(t *testing.T) {
	r := run(t, load(t, t.TempDir(), sparkplugHost))
	as := r.addDevice("edge1", "edge")
	panel := connectMQTT(t, r.MQTTAddr(false), r.addDevice("panel", "panel"))
	panel.subscribe(t, "spBv1.0/STATE/#", 1)
	if m := panel.next(t); m.Topic != "spBv1.0/STATE/voltbus" || !strings.Contains(string(m.Payload), `"online":true`) || !m.Retain {
		t.Errorf("the state of the host application is %s %s", m.Topic, m.Payload)
	}
	ca := filepath.Join(r.Config().Node.Data, "tls", "ca.pem")
	edge := peers.Sparkplug(t, "mqtts://"+strings.Replace(r.MQTTAddr(true), "127.0.0.1", "localhost", 1), as.Username, string(as.Password), ca)
	const boiler = "sparkplug/plant/edge1/boiler/"
	expect := func(path, want string) {
		t.Helper()
		eventually(t, path+" is "+want, func() bool { return r.newest(path) == want })
	}
	for path, want := range map[string]string{
		boiler + "temperature": "60.5 good", boiler + "setpoint": "70 good", boiler + "outputs/pump": "false good", boiler + "starts": "-3 good",
		boiler + "model": `"B-1" good`, "sparkplug/plant/edge1/load": "7 good",
	} {
		expect(path, want)
	}
	points, err := r.Points(context.Background(), client.Filter{Pattern: "sparkplug/**"})
	if err != nil || len(points.Points) != 6 {
		t.Errorf("the points are %+v, %v", points.Points, err)
	}
	for _, p := range points.Points {
		if p.Path == boiler+"setpoint" && (p.Unit != "degC" || !p.Writable) {
			t.Errorf("the set point is %+v", p)
		}
	}
	edge.Say(t, "data 61.25") // by its alias
	expect(boiler+"temperature", "61.25 good")
	edge.Say(t, "node 9")
	expect("sparkplug/plant/edge1/load", "9 good")
	edge.Say(t, fmt.Sprint("old 55.5 ", time.Now().Add(-time.Minute).UnixMilli()))
	eventually(t, "a stored value is recorded in its place", func() bool {
		values := r.values(boiler + "temperature")
		return len(values) == 3 && values[0] == "55.5" && values[2] == "61.25"
	})

	eventually(t, "the set point can be commanded", func() bool { return r.commandable(boiler+"setpoint") && r.commandable(boiler+"outputs/pump") })
	status, output, reported, err := r.order("one", boiler+"setpoint", point.FloatOf(72.5))
	if status != control.Accepted || output != control.Confirmed || reported != "72.5" {
		t.Errorf("a command: %s, %s, %s, %v", status, output, reported, err)
	}
	status, output, reported, err = r.order("two", boiler+"outputs/pump", point.BoolOf(true))
	if status != control.Accepted || output != control.Confirmed || reported != "true" {
		t.Errorf("a command: %s, %s, %s, %v", status, output, reported, err)
	}
	if status, _, _, _ := r.order("three", boiler+"temperature", point.FloatOf(1)); status != control.Refused {
		t.Errorf("a metric that is not writable: %s", status)
	}

	edge.Say(t, "gap 62") // the host asks for the births, which bring the present values
	eventually(t, "the values are stale, and good again after the births", func() bool {
		all := r.qualities(boiler + "temperature")
		return strings.HasSuffix(strings.Join(all, " "), "bad(stale) good")
	})
	edge.Say(t, "data 63")
	expect(boiler+"temperature", "63 good")
	edge.Say(t, "ddeath")
	expect(boiler+"temperature", "null bad(stale)")
	if got := r.newest("sparkplug/plant/edge1/load"); got != "9 good" && got != "7 good" {
		t.Errorf("the edge node's own metric is %s when its device is gone", got)
	}
	edge.Kill() // its will is the death
	expect("sparkplug/plant/edge1/load", "null bad(stale)")
}

// qualities returns the qualities of what the history has of a point.
func (r *running) qualities(path string) (list []string) {
	r.t.Helper()
	got, err := r.Range(context.Background(), client.Span{Points: []string{path}, From: "-1h"}, 0, false)
	if err != nil || len(got.Series) == 0 {
		return nil
	}
	for _, s := range got.Series[0].Samples {
		list = append(list, cmp.Or(s.Quality, "good"))
	}
	return list
}

func TestDataBeforeABirthAsksForIt(t *testing.T) {
	r := run(t, load(t, t.TempDir(), sparkplugHost))
	c := connectMQTT(t, r.MQTTAddr(false), r.addDevice("edge1", "edge"))
	c.subscribe(t, "spBv1.0/plant/NCMD/edge1", 1)
	if _, err := c.Publish(t.Context(), &paho.Publish{Topic: "spBv1.0/plant/NDATA/edge1", Payload: []byte{0x18, 0x05}}); err != nil {
		t.Fatal(err)
	}
	if m := c.next(t); m.Topic != "spBv1.0/plant/NCMD/edge1" || !strings.Contains(string(m.Payload), "Node Control/Rebirth") {
		t.Errorf("the edge node is sent %s %q", m.Topic, m.Payload)
	}
}
