package node_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"voltbus/api/client"
)

const thermostats = `
listen: {http: 127.0.0.1:0, bus: 127.0.0.1:0, mqtt: 127.0.0.1:0}
mqtt:
  anonymous: true
  templates:
    - name: thermostat
      topic: thermostats/{device}/state
      device: home/{device}
      format: json
      points:
        - {name: temperature, from: room.temperature, unit: degC}
        - {name: heating, type: bool, on: [heat], off: [idle]}
    - {name: plain, topic: "plain/{device}/{what}", device: "home/{device}", format: plain, points: [{name: "{what}"}]}
`

// mqttLimit is how long anything may take.
const mqttLimit = 30 * time.Second

// mqttClient is a paho client with its messages in a channel.
type mqttClient struct {
	*paho.Client
	messages chan *paho.Publish
	ended    chan byte // the reason code of the server's DISCONNECT
	ack      *paho.Connack
	conn     net.Conn
}

// dialMQTT connects a client; the error is that of the CONNACK.
func dialMQTT(t testing.TB, address string, c *paho.Connect) (*mqttClient, error) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	p := &mqttClient{messages: make(chan *paho.Publish, 1000), ended: make(chan byte, 1), conn: conn}
	p.Client = paho.NewClient(paho.ClientConfig{
		Conn: packets.NewThreadSafeConn(conn),
		OnPublishReceived: []func(paho.PublishReceived) (bool, error){
			func(r paho.PublishReceived) (bool, error) { p.messages <- r.Packet; return true, nil },
		},
		OnServerDisconnect: func(d *paho.Disconnect) { p.ended <- d.ReasonCode },
	})
	ctx, cancel := context.WithTimeout(t.Context(), mqttLimit)
	defer cancel()
	p.ack, err = p.Connect(ctx, c)
	t.Cleanup(func() { _ = p.Disconnect(&paho.Disconnect{}) })
	return p, err
}

// connectMQTT connects a client that must be let in.
func connectMQTT(t testing.TB, address string, c *paho.Connect) *mqttClient {
	t.Helper()
	p, err := dialMQTT(t, address, c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// publish publishes and returns the reason code of the answer.
func (c *mqttClient) publish(t testing.TB, topic, payload string, qos byte) byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), mqttLimit)
	defer cancel()
	r, err := c.Publish(ctx, &paho.Publish{Topic: topic, Payload: []byte(payload), QoS: qos})
	if r == nil && err != nil {
		t.Fatal(err)
	}
	if r == nil {
		return 0
	}
	return r.ReasonCode
}

// values returns what the history has of a point.
func (r *running) values(path string) (list []string) {
	r.t.Helper()
	got, err := r.Range(context.Background(), client.Span{Points: []string{path}, From: "-1h"}, 0, false)
	if err != nil || len(got.Series) == 0 {
		return nil
	}
	for _, s := range got.Series[0].Samples {
		list = append(list, strings.TrimSpace(string(s.Value)))
	}
	return list
}

func TestMessagesOfDevicesBecomePoints(t *testing.T) {
	r := run(t, load(t, t.TempDir(), thermostats))
	c := connectMQTT(t, r.MQTTAddr(false), &paho.Connect{ClientID: "a", CleanStart: true, KeepAlive: 60})
	for _, payload := range []string{`{"room":{"temperature":21.5},"heating":"heat"}`, `{"room":{"temperature":22},"heating":"idle"}`} {
		if code := c.publish(t, "thermostats/t1/state", payload, 1); code != 0 {
			t.Fatalf("the answer is %#x", code)
		}
	}
	if produced := r.ledger().Origins[0].Acknowledged; produced != 4 {
		t.Errorf("%d samples are on disk when the messages are answered, want 4", produced)
	}
	c.publish(t, "plain/t1/humidity", "40", 0)
	c.publish(t, "plain/t1/mode", "eco", 2)
	for path, want := range map[string]string{
		"home/t1/temperature": "21.5 22", "home/t1/heating": "true false", "home/t1/humidity": "40", "home/t1/mode": `"eco"`,
	} {
		eventually(t, path+" is "+want, func() bool { return strings.Join(r.values(path), " ") == want })
	}
	points, err := r.Points(context.Background(), client.Filter{Pattern: "home/t1/temperature"})
	if err != nil || len(points.Points) != 1 || points.Points[0].Unit != "degC" {
		t.Errorf("the point is %+v, %v", points.Points, err)
	}
}
