package bus_test

import (
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"voltbus/bus"
	"voltbus/point"
)

// lazy dials connections that stop reading when they are told to.
type lazy struct {
	asleep chan struct{} // closed: nothing is read any more
	gone   chan struct{} // closed: the connection is
}

// Dial implements nats.CustomDialer.
func (l *lazy) Dial(network, address string) (net.Conn, error) {
	c, err := net.Dial(network, address)
	if err != nil {
		return nil, err
	}
	if err := c.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		return nil, err
	}
	return &sleeper{Conn: c, lazy: l, once: new(sync.Once)}, nil
}

type sleeper struct {
	net.Conn
	*lazy
	once *sync.Once
}

// Read implements net.Conn.
func (s *sleeper) Read(b []byte) (int, error) {
	select {
	case <-s.asleep:
		<-s.gone
		return 0, net.ErrClosed
	default:
		return s.Conn.Read(b)
	}
}

// Close implements net.Conn.
func (s *sleeper) Close() error {
	s.once.Do(func() { close(s.gone) })
	return s.Conn.Close()
}

func TestAClientThatDoesNotReadIsShownAsSlow(t *testing.T) {
	b := open(t, t.TempDir(), "127.0.0.1:0")
	l := &lazy{asleep: make(chan struct{}), gone: make(chan struct{})}
	c, err := nats.Connect("tls://"+b.Addr(), nats.Secure(b.client), nats.Nkey(b.reader.Public(), b.reader.Sign),
		nats.SetCustomDialer(l), nats.Name("lazy"), nats.NoReconnect())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Subscribe("live.>", func(*nats.Msg) {}); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	if find(t, b, "lazy").Slow {
		t.Error("it is slow before anything was sent")
	}
	close(l.asleep)
	p := b.NewPublisher()
	scan := &point.Scan{Device: "d", Samples: []point.Sample{{Point: "d/p", Value: point.TextOf(strings.Repeat("x", 512<<10))}}}
	for range 100 { // far more than sockets hold, and less than what cuts it off
		if err := p.Publish(scan, bus.Forms{Scan: true}); err != nil {
			t.Fatal(err)
		}
		if got := find(t, b, "lazy"); got.Slow {
			if got.Pending <= 1<<20 {
				t.Errorf("it is slow with %d bytes that wait", got.Pending)
			}
			return
		}
	}
	t.Error("a client that reads nothing of 50 MiB is not slow")
}

// find returns the connection of that name.
func find(t *testing.T, b *fixture, name string) bus.Connection {
	t.Helper()
	o, err := b.Inspect()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range o.Connections {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("nobody on the bus is called %s", name)
	return bus.Connection{}
}
