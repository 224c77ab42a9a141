package bus_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"voltbus/bus"
	"voltbus/identity"
)

// Who only connects, and shows no key, takes the places of those who have one for a moment at most.
func TestAttackConnectionsThatShowNoKeyKeepNobodyOut(t *testing.T) {
	h := openHallOf(t, bus.Limits{}, 24)
	h.add(t, "good", identity.Grants{Publish: patterns("y")})
	var idle []net.Conn
	for range 100 {
		c, err := net.Dial("tcp", h.Addr())
		if err != nil {
			t.Fatal(err)
		}
		idle = append(idle, c)
	}
	defer func() {
		for _, c := range idle {
			_ = c.Close()
		}
	}()
	deadline := time.Now().Add(30 * time.Second)
	for {
		c, err := h.try(t, "good", nats.NoReconnect())
		if err == nil {
			defer c.Close()
			if err := c.Flush(); err != nil {
				t.Errorf("who has a key is closed for others: %v", err)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("who has a key does not get in: %v", err)
		}
	}
	if n := h.Clients(); n > 24+16 {
		t.Errorf("there are %d connections", n)
	}
}

// Those who have shown a key are never closed for others.
func TestAttackAFullBusRefusesAndClosesNobodyWithAKey(t *testing.T) {
	h := openHallOf(t, bus.Limits{}, 8)
	var in []*visitor
	for i := range 40 {
		name := fmt.Sprint("good", i)
		h.add(t, name, identity.Grants{Publish: patterns("y")})
		c, err := h.try(t, name, nats.NoReconnect())
		if err != nil {
			break
		}
		defer c.Close()
		in = append(in, c)
	}
	if len(in) < 8 || len(in) > 8+16 {
		t.Errorf("%d connections with a key were let in where 8 may be", len(in))
	}
	for i, c := range in {
		if err := c.Flush(); err != nil {
			t.Errorf("connection %d was closed: %v", i, err)
		}
	}
}

// The node's own connections find a place while strangers hold all.
func TestAttackStrangersKeepNoneOfTheNodesOwnConnectionsOut(t *testing.T) {
	h := openHallOf(t, bus.Limits{}, 8)
	full := func() {
		for range 100 {
			c, err := net.Dial("tcp", h.Addr())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
		}
	}
	for range 20 {
		full()
		tap, err := h.NewTap()
		if err != nil {
			t.Fatal(err)
		}
		tap.Close()
	}
}

// Who connects and goes writes few lines into the node's log.
func TestAttackConnectionsThatGoFillNoLog(t *testing.T) {
	var log bytes.Buffer
	const gone = 1000
	report := bus.ServerError(slog.New(slog.NewTextHandler(&log, nil)))
	for i := range gone {
		report("%s - TLS handshake error: %s", fmt.Sprint("127.0.0.1:", i), "EOF")
	}
	if n := strings.Count(log.String(), "\n"); n < 2 || n > 12 {
		t.Errorf("%d connections gave %d lines:\n%s", gone, n, &log)
	}
}
