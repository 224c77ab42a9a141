package node_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/operation/auditlog"
	"voltbus/operation/mqtt"
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

const fleetOfDevices = `
listen: {http: 127.0.0.1:0, bus: 127.0.0.1:0, mqtt: 127.0.0.1:0, mqtts: 127.0.0.1:0}
mqtt:
  kinds:
    - {name: thermostat, publish: ["t/{device}/#"], subscribe: ["t/{device}/set/#", "all/#"], sessions: 1, payload: 100}
    - {name: panel, publish: ["t/+/set/#"], subscribe: ["t/#"]}
  templates:
    - {name: t, topic: "t/{device}/{what}", device: "home/{device}", format: plain, points: [{name: "{what}"}]}
`

// addDevice adds a device and returns how it connects.
func (r *running) addDevice(name, kind string) *paho.Connect {
	r.t.Helper()
	d, err := client.Do(context.Background(), r.Client, mqtt.Add, mqtt.NewDevice{Name: name, Kind: kind})
	if err != nil {
		r.t.Fatal(err)
	}
	return asDevice(d.Name, d.Secret)
}

func asDevice(name, secret string) *paho.Connect {
	return &paho.Connect{
		ClientID: name, CleanStart: true, KeepAlive: 60, Username: name, UsernameFlag: true, Password: []byte(secret), PasswordFlag: true,
	}
}

// subscribe returns the reason code of the answer.
func (c *mqttClient) subscribe(t testing.TB, filter string, qos byte) byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), mqttLimit)
	defer cancel()
	ack, err := c.Subscribe(ctx, &paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: filter, QoS: qos}}})
	if ack == nil {
		t.Fatal(err)
	}
	return ack.Reasons[0]
}

// next returns the next message.
func (c *mqttClient) next(t testing.TB) *paho.Publish {
	t.Helper()
	select {
	case m := <-c.messages:
		return m
	case <-time.After(mqttLimit):
		t.Fatal("no message came")
		return nil
	}
}

// gone waits until the server ended the connection.
func (c *mqttClient) gone(t testing.TB) {
	t.Helper()
	select {
	case <-c.Done():
	case <-time.After(mqttLimit):
		t.Fatal("the connection stays")
	}
}

func TestAttackADeviceDoesWhatItsKindMayAndNoMore(t *testing.T) {
	r := run(t, load(t, t.TempDir(), fleetOfDevices))
	one, two, panel := r.addDevice("one", "thermostat"), r.addDevice("two", "thermostat"), r.addDevice("panel", "panel")
	address := r.MQTTAddr(false)
	for _, wrong := range []*paho.Connect{
		{ClientID: "x", CleanStart: true}, asDevice("one", "wrong"), asDevice("none", "wrong"), asDevice("", ""), asDevice("two", string(one.Password)),
	} {
		if c, err := dialMQTT(t, address, wrong); err == nil || c.ack.ReasonCode < 0x80 {
			t.Errorf("%q is let in with %q", wrong.Username, wrong.Password)
		}
	}
	will := *two
	will.WillMessage = &paho.WillMessage{Topic: "t/one/set/x", Payload: []byte("1")}
	if _, err := dialMQTT(t, address, &will); err == nil {
		t.Error("a device leaves a will where it may not publish")
	}
	a, p := connectMQTT(t, address, one), connectMQTT(t, address, panel)
	for topic, want := range map[string]byte{"t/one/temp": 0, "t/two/temp": 0x87, "t/one": 0, "x": 0x87, "$SYS/x": 0x87} {
		if got := a.publish(t, topic, "21", 1); got != want && (want != 0 || got != 0x10) {
			t.Errorf("publishing to %s: %#x, want %#x", topic, got, want)
		}
	}
	if got := a.publish(t, "t/one/temp", strings.Repeat("9", 101), 1); got != 0x97 {
		t.Errorf("a large payload: %#x", got)
	}
	for filter, want := range map[string]byte{
		"t/one/set/#": 1, "t/+/set/x": 0x87, "#": 0x87, "t/two/set/#": 0x87, "all/+/x": 1, "$share/g/t/two/set/x": 0x87, "$share/g/all/x": 1, "t/one/#": 0x87,
	} {
		if got := a.subscribe(t, filter, 1); got != want {
			t.Errorf("subscribing to %s: %#x, want %#x", filter, got, want)
		}
	}
	p.publish(t, "t/one/set/target", "22", 1)
	if m := a.next(t); string(m.Payload) != "22" {
		t.Errorf("got %s", m.Payload)
	}
	eventually(t, "the audit log has it", func() bool {
		log, err := client.Do(context.Background(), r.Client, auditlog.List, client.AuditFilter{Actor: "device:one", Action: "mqtt.publish"}.Page())
		return err == nil && len(log.Entries) > 0
	})
}

func TestARemovedOrRotatedDeviceIsShutOutAtOnce(t *testing.T) {
	r := run(t, load(t, t.TempDir(), fleetOfDevices))
	one := r.addDevice("one", "thermostat")
	a := connectMQTT(t, r.MQTTAddr(false), one)
	d, err := client.Do(t.Context(), r.Client, mqtt.Rotate, mqtt.Device{Device: "one"})
	if err != nil {
		t.Fatal(err)
	}
	a.gone(t)
	if _, err := dialMQTT(t, r.MQTTAddr(false), one); err == nil {
		t.Error("the secret before is still good")
	}
	a = connectMQTT(t, r.MQTTAddr(false), asDevice("one", d.Secret))
	if _, err := client.Do(t.Context(), r.Client, mqtt.Remove, mqtt.Device{Device: "one"}); err != nil {
		t.Fatal(err)
	}
	a.gone(t)
	if _, err := dialMQTT(t, r.MQTTAddr(false), asDevice("one", d.Secret)); err == nil {
		t.Error("a device that was removed is let in")
	}
}

func TestACertificateStandsForASecret(t *testing.T) {
	r := run(t, load(t, t.TempDir(), fleetOfDevices))
	r.addDevice("one", "thermostat")
	first, err := client.Do(t.Context(), r.Client, mqtt.Certify, mqtt.Device{Device: "one"})
	if err != nil {
		t.Fatal(err)
	}
	dial := func(c answer.MQTTCertificate, name string) error {
		pair, err := tls.X509KeyPair([]byte(c.Certificate), []byte(c.Key))
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM([]byte(c.Authority))
		conn, err := tls.Dial("tcp", r.MQTTAddr(true), &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, ServerName: "localhost"})
		if err != nil {
			t.Fatal(err)
		}
		p := &mqttClient{messages: make(chan *paho.Publish, 10), ended: make(chan byte, 1), conn: conn}
		p.Client = paho.NewClient(paho.ClientConfig{Conn: packets.NewThreadSafeConn(conn)})
		t.Cleanup(func() { _ = p.Disconnect(&paho.Disconnect{}) })
		connect := &paho.Connect{ClientID: "one", CleanStart: true, KeepAlive: 60, Username: name, UsernameFlag: name != ""}
		_, err = p.Connect(t.Context(), connect)
		if err == nil {
			p.publish(t, "t/one/temp", "21", 1)
		}
		return err
	}
	if err := dial(first, ""); err != nil {
		t.Fatal(err)
	}
	if err := dial(first, "two"); err == nil {
		t.Error("the certificate of one device lets another one in")
	}
	second, err := client.Do(t.Context(), r.Client, mqtt.Certify, mqtt.Device{Device: "one"})
	if err != nil {
		t.Fatal(err)
	}
	if err := dial(first, ""); err == nil {
		t.Error("the certificate before is still good")
	}
	if err := dial(second, "one"); err != nil {
		t.Error(err)
	}
}

func TestManyDevicesAreAddedTogetherOrNone(t *testing.T) {
	r := run(t, load(t, t.TempDir(), fleetOfDevices))
	var b strings.Builder
	b.WriteString("name,kind,secret\n")
	const devices = 100_000
	for i := range devices {
		fmt.Fprintf(&b, "d%d,thermostat,secret-of-device-%08d\n", i, i)
	}
	good, bad := b.String(), b.String()+"a b,thermostat,\n"
	if _, err := client.Do(t.Context(), r.Client, mqtt.Provision, mqtt.List{List: &bad}); err == nil {
		t.Error("a list with a wrong name is taken")
	}
	made, err := client.Do(t.Context(), r.Client, mqtt.Provision, mqtt.List{List: &good})
	if err != nil || made.Count != devices || len(made.Devices) != 0 {
		t.Fatalf("%+v, %v", made, err)
	}
	connectMQTT(t, r.MQTTAddr(false), asDevice("d99999", "secret-of-device-00099999"))
	page, err := client.Do(t.Context(), r.Client, mqtt.ListDevices, mqtt.Page{After: "d9", Limit: 2})
	if err != nil || page.Total != devices || !page.More || len(page.Devices) != 2 || page.Devices[0].Name != "d90" {
		t.Errorf("the page is %+v, %v", page, err)
	}
}
