package broker_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"voltbus/broker"
	"voltbus/broker/setting"
	"voltbus/protocol/mqtt/packet"
)

// everybody lets any device in, whatever its secret.
type everybody struct{}

func (everybody) Login(string, string) (kind string, err error) { return setting.DefaultKind, nil }
func (everybody) Certified(string, [32]byte) (kind string, err error) {
	return setting.DefaultKind, nil
}

// site is a broker that runs until the test ends.
type site struct {
	*broker.Broker
	t       *testing.T
	ctx     context.Context //nolint:containedctx // of the test
	serving *sync.WaitGroup
}

func newSite(t *testing.T, change func(*setting.Section)) *site {
	t.Helper()
	return newSiteAt(t, time.Now, change)
}

// newSiteAt is newSite with another clock.
func newSiteAt(t *testing.T, now func() time.Time, change func(*setting.Section)) *site {
	t.Helper()
	s := setting.Default()
	change(&s)
	b := broker.New(broker.Config{Setting: s, Devices: everybody{}, Now: now, Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	site := &site{b, t, ctx, new(sync.WaitGroup)}
	site.serving.Go(func() {
		if err := b.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		site.serving.Wait()
	})
	return site
}

// eventually waits until something holds of which nothing tells.
func (s *site) eventually(what string, holds func() bool) {
	s.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			s.t.Fatalf("never: %s; %+v, %+v", what, s.State(), s.Counts())
		}
	}
}

// device is a client of a device.
type device struct {
	t    *testing.T
	conn net.Conn
	id   uint16
}

// client connects a client of a device by MQTT 5.0.
func (s *site) client(name string, c packet.Connect) *device {
	s.t.Helper()
	here, there := net.Pipe()
	s.serving.Go(func() { s.Attend(s.ctx, there, netip.MustParseAddr("127.0.0.1"), false) })
	s.t.Cleanup(func() { _ = here.Close() })
	c.Version, c.UserName, c.Password = packet.V5, []byte(name), []byte("secret")
	d := &device{t: s.t, conn: here}
	text, err := c.Append(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if kind, body := d.ask(text); kind != packet.CONNACK || body[1] != 0 {
		s.t.Fatalf("%s is answered %v % x", name, kind, body)
	}
	return d
}

// ask sends a packet and returns the answer.
func (d *device) ask(text []byte) (packet.Type, []byte) {
	d.t.Helper()
	if _, err := d.conn.Write(text); err != nil {
		d.t.Fatal(err)
	}
	var head [2]byte // no answer here has 128 bytes
	if _, err := io.ReadFull(d.conn, head[:]); err != nil {
		d.t.Fatal(err)
	}
	body := make([]byte, head[1])
	if _, err := io.ReadFull(d.conn, body); err != nil {
		d.t.Fatal(err)
	}
	return packet.Type(head[0] >> 4), body
}

// publish publishes with QoS 1 and reports whether the message is accepted.
func (d *device) publish(topic string, octets int, retain bool) bool {
	d.t.Helper()
	d.id++
	p := packet.Publish{QoS: 1, Retain: retain, ID: d.id, Topic: []byte(topic), Payload: bytes.Repeat([]byte("x"), octets)}
	text, err := p.Append(nil, packet.V5)
	if err != nil {
		d.t.Fatal(err)
	}
	kind, body := d.ask(text)
	if kind != packet.PUBACK {
		d.t.Fatalf("%s is answered %v % x", topic, kind, body)
	}
	return len(body) == 2 || !packet.Code(body[2]).Failed()
}

func TestAttackADeviceFillsTheRoomForRetainedMessages(t *testing.T) {
	s := newSite(t, func(s *setting.Section) { s.Retained, s.RetainedBytes = 1000, 4000 })
	a := s.client("a", packet.Connect{})
	for i, want := range []bool{true, true, true, false, false} { // a quarter of the room
		if ok := a.publish(fmt.Sprintf("devices/a/%d", i), 300, true); ok != want {
			t.Errorf("message %d of a is accepted: %v", i, ok)
		}
	}
	switch {
	case !a.publish("devices/a/0", 300, true):
		t.Error("a message that replaces one of its size is refused")
	case a.publish("devices/a/0", 400, true):
		t.Error("a message that replaces a smaller one has room that is not there")
	case !a.publish("devices/a/1", 0, true), !a.publish("devices/a/4", 300, true):
		t.Error("the room of a message that was taken away is not free")
	}
	for _, name := range []string{"b", "c", "d"} {
		d := s.client(name, packet.Connect{})
		for i := range 3 {
			if !d.publish(fmt.Sprintf("devices/%s/%d", name, i), 300, true) {
				t.Errorf("message %d of %s is refused because of others", i, name)
			}
		}
	}
	if n := s.State().Retained; n != 12 {
		t.Errorf("%d messages are retained", n)
	}
	if e := s.client("e", packet.Connect{}); e.publish("devices/e/0", 300, true) || !e.publish("devices/e/0", 300, false) {
		t.Error("beyond the room of all a message is retained, or one that is not to be retained is refused")
	}
}

func TestAttackWillsTakeNoRoomThatIsNotThere(t *testing.T) {
	s := newSite(t, func(s *setting.Section) { s.Retained = 8 })
	const lost = 20
	for i := range lost {
		will := packet.Will{Retain: true, Topic: fmt.Appendf(nil, "devices/a/%d", i), Payload: []byte("lost")}
		_ = s.client("a", packet.Connect{ClientID: []byte("a"), Will: &will}).conn.Close()
		s.eventually("the will is published", func() bool { return s.State().Retained+int(s.Counts().Unretained) == i+1 })
	}
	if n := s.State().Retained; n != 2 {
		t.Errorf("%d wills are retained, want 2", n)
	}
}

func TestAttackWhatWaitsForAClientIsBoundedInOctets(t *testing.T) {
	s := newSite(t, func(s *setting.Section) { s.QueueBytes = 1000 })
	sleeper := s.client("a", packet.Connect{ClientID: []byte("sleeper"), Properties: packet.Properties{}.WithUint(packet.SessionExpiry, 3600)})
	sub := packet.Subscribe{ID: 1, Subscriptions: []packet.Subscription{{Filter: []byte("devices/a/#"), Options: 1}}}
	text, err := sub.Append(nil, packet.V5)
	if err != nil {
		t.Fatal(err)
	}
	if kind, body := sleeper.ask(text); kind != packet.SUBACK {
		t.Fatalf("the subscription is answered %v % x", kind, body)
	}
	_ = sleeper.conn.Close()
	s.eventually("it is away", func() bool { return s.State().Connected == 0 })
	a := s.client("a", packet.Connect{ClientID: []byte("waker")})
	waiting := func() (n int, dropped uint64) {
		list, _ := s.Clients("", 10)
		for _, c := range list {
			n, dropped = n+c.Waiting, dropped+c.Dropped
		}
		return n, dropped
	}
	a.publish("devices/a/large", 5000, false)
	if n, _ := waiting(); n != 1 {
		t.Errorf("%d messages wait: one may be larger", n)
	}
	sleeper = s.client("a", packet.Connect{ClientID: []byte("sleeper"), CleanStart: true, Properties: packet.Properties{}.WithUint(packet.SessionExpiry, 3600)})
	if kind, body := sleeper.ask(text); kind != packet.SUBACK {
		t.Fatalf("the subscription is answered %v % x", kind, body)
	}
	_ = sleeper.conn.Close()
	s.eventually("it is away again", func() bool { return s.State().Connected == 1 })
	for range 10 {
		a.publish("devices/a/x", 300, false)
	}
	if n, dropped := waiting(); n != 3 || dropped != 7 {
		t.Errorf("%d messages wait and %d were dropped, want 3 and 7", n, dropped)
	}
}

// refused connects a client and returns the reason code of the answer. The connection ends.
func (s *site) refused(name string, c packet.Connect) packet.Code {
	s.t.Helper()
	here, there := net.Pipe()
	s.serving.Go(func() { s.Attend(s.ctx, there, netip.MustParseAddr("127.0.0.1"), false) })
	defer here.Close()
	c.Version, c.UserName, c.Password = packet.V5, []byte(name), []byte("secret")
	text, err := c.Append(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	_, body := (&device{t: s.t, conn: here}).ask(text)
	return packet.Code(body[1])
}
