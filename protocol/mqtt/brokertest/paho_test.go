package brokertest_test

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"
	"go.uber.org/goleak"

	"voltbus/protocol/mqtt/brokertest"
	"voltbus/protocol/mqtt/session"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a broker on loopback until the test ends.
func serve(t *testing.T, config session.Config) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- brokertest.New(config, brokertest.Hooks{}, time.Now).Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// limit is how long anything may take.
const limit = 30 * time.Second

// client is a paho client with its messages in a channel.
type client struct {
	*paho.Client
	messages chan *paho.Publish
	ended    chan byte // the reason code of the server's DISCONNECT
	ack      *paho.Connack
	conn     net.Conn
}

func connect(t *testing.T, addr string, c *paho.Connect) *client {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	p := &client{messages: make(chan *paho.Publish, 100), ended: make(chan byte, 1), conn: conn}
	p.Client = paho.NewClient(paho.ClientConfig{
		Conn: packets.NewThreadSafeConn(conn),
		OnPublishReceived: []func(paho.PublishReceived) (bool, error){
			func(r paho.PublishReceived) (bool, error) { p.messages <- r.Packet; return true, nil },
		},
		OnServerDisconnect: func(d *paho.Disconnect) { p.ended <- d.ReasonCode },
	})
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if p.ack, err = p.Connect(ctx, c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Disconnect(&paho.Disconnect{}) })
	return p
}

// expect returns the next message. Others that are sent again, because their answers were lost with
// a connection, are passed over.
func (c *client) expect(t *testing.T, topic, payload string) *paho.Publish {
	t.Helper()
	for {
		select {
		case m := <-c.messages:
			wanted := m.Topic == topic && string(m.Payload) == payload
			if !wanted && m.Duplicate() {
				continue
			}
			if !wanted {
				t.Fatalf("got %q on %q, want %q on %q", m.Payload, m.Topic, payload, topic)
			}
			return m
		case <-time.After(limit):
			t.Fatalf("no message on %q", topic)
		}
	}
}

func (c *client) subscribe(t *testing.T, id int, subs ...paho.SubscribeOptions) {
	t.Helper()
	s := &paho.Subscribe{Subscriptions: subs}
	if id > 0 {
		s.Properties = &paho.SubscribeProperties{SubscriptionIdentifier: &id}
	}
	if _, err := c.Subscribe(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

func (c *client) publish(t *testing.T, p *paho.Publish) {
	t.Helper()
	if _, err := c.Publish(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}

func TestPahoGolangUsesTheBroker(t *testing.T) {
	addr := serve(t, session.Config{TopicAliases: 5})
	hour := uint32(3600)
	persistent := func(clean bool) *paho.Connect {
		return &paho.Connect{ClientID: "b", CleanStart: clean, KeepAlive: 30, Properties: &paho.ConnectProperties{SessionExpiryInterval: &hour}}
	}
	a := connect(t, addr, &paho.Connect{ClientID: "a", CleanStart: true, KeepAlive: 30})
	b := connect(t, addr, persistent(true))
	b.subscribe(t, 7, paho.SubscribeOptions{Topic: "x/+", QoS: 2})
	for qos := range byte(3) {
		a.publish(t, &paho.Publish{Topic: "x/y", QoS: qos, Payload: []byte{'0' + qos}, Properties: &paho.PublishProperties{
			User: paho.UserProperties{{Key: "k", Value: "v"}}, ContentType: "text/plain", MessageExpiry: &hour,
		}})
		m := b.expect(t, "x/y", string('0'+rune(qos)))
		if m.QoS != qos || m.Properties.User.Get("k") != "v" || m.Properties.ContentType != "text/plain" || *m.Properties.SubscriptionIdentifier != 7 {
			t.Errorf("QoS %d arrived as %+v", qos, m)
		}
	}

	alias := uint16(1)
	a.publish(t, &paho.Publish{Topic: "x/alias", Payload: []byte("1"), Properties: &paho.PublishProperties{TopicAlias: &alias}})
	a.publish(t, &paho.Publish{Payload: []byte("2"), Properties: &paho.PublishProperties{TopicAlias: &alias}})
	b.expect(t, "x/alias", "1")
	b.expect(t, "x/alias", "2")

	a.publish(t, &paho.Publish{Topic: "kept", QoS: 1, Retain: true, Payload: []byte("r")})
	b.subscribe(t, 0, paho.SubscribeOptions{Topic: "kept"})
	if m := b.expect(t, "kept", "r"); !m.Retain {
		t.Error("a retained message arrived without its mark")
	}

	_ = b.Disconnect(&paho.Disconnect{})
	a.publish(t, &paho.Publish{Topic: "x/late", QoS: 1, Payload: []byte("1")})
	a.publish(t, &paho.Publish{Topic: "x/late", QoS: 2, Payload: []byte("2")})
	b = connect(t, addr, persistent(false))
	if !b.ack.SessionPresent {
		t.Error("the session is gone")
	}
	b.expect(t, "x/late", "1")
	b.expect(t, "x/late", "2")

	again := connect(t, addr, persistent(false))
	select {
	case code := <-b.ended:
		if code != 0x8E {
			t.Errorf("the taken over client was told 0x%02X", code)
		}
	case <-time.After(limit):
		t.Error("the taken over client was told nothing")
	}

	c := connect(t, addr, &paho.Connect{ClientID: "c", CleanStart: true, KeepAlive: 30, WillMessage: &paho.WillMessage{Topic: "x/will", Payload: []byte("gone")}})
	_ = c.conn.Close()
	again.expect(t, "x/will", "gone")
}

func TestSharedSubscriptionsOfPahoGolang(t *testing.T) {
	addr := serve(t, session.Config{})
	var members []*client
	for _, id := range []string{"m1", "m2"} {
		m := connect(t, addr, &paho.Connect{ClientID: id, CleanStart: true, KeepAlive: 30})
		m.subscribe(t, 0, paho.SubscribeOptions{Topic: "$share/g/job", QoS: 1})
		members = append(members, m)
	}
	a := connect(t, addr, &paho.Connect{ClientID: "a", CleanStart: true, KeepAlive: 30})
	for range 10 {
		a.publish(t, &paho.Publish{Topic: "job", QoS: 1, Payload: []byte("j")})
	}
	for _, m := range members {
		for range 5 {
			m.expect(t, "job", "j")
		}
	}
}

func TestPahoMQTTOfPythonUsesTheBroker(t *testing.T) {
	host, port, err := net.SplitHostPort(serve(t, session.Config{TopicAliases: 5}))
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(peers.Root(), "testing", "peers", "paho_mqtt_peer.py")
	out, err := exec.CommandContext(t.Context(), peers.Python(t), script, host, port).CombinedOutput()
	if err != nil {
		t.Fatalf("%v (run `make peers` if a package is missing)\n%s", err, out)
	}
	if n := strings.Count(string(out), "\n"); n != 9 {
		t.Errorf("%d things worked, want 9:\n%s", n, out)
	}
}
