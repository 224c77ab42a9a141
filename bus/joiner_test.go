package bus_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"voltbus/bus"
	"voltbus/bus/peer"
	"voltbus/fault"
	"voltbus/identity"
)

// door accepts connections, and hands them over.
func door(t *testing.T) (address string, came <-chan net.Conn) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conns := make(chan net.Conn, 10)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns <- c
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String(), conns
}

func TestJoiningEndsWithItsContextWhoeverIsSilentThere(t *testing.T) {
	_, config := certificate(t)
	address, came := door(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		c := <-came // and nothing is said to it
		cancel()
		<-t.Context().Done()
		_ = c.Close()
	}()
	if _, err := peer.Join(ctx, address, config, newKey(t), "+x"); !fault.Is(err, fault.Canceled) {
		t.Errorf("joining ends with %v, want that it was canceled", err)
	}
}

func TestWhoIsNotLetInHearsWhetherSomethingAnswersThere(t *testing.T) {
	_, config := certificate(t)
	address, came := door(t)
	go func() { _ = (<-came).Close() }()
	_, err := peer.Join(t.Context(), address, config, newKey(t), "+x")
	if !fault.Is(err, fault.Unreachable) || !strings.Contains(err.Error(), "something answers there") || strings.Contains(err.Error(), "firewall") {
		t.Errorf("where something answers: %v", err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	_, err = peer.Join(t.Context(), l.Addr().String(), config, newKey(t), "+x")
	if !fault.Is(err, fault.Unreachable) || !strings.Contains(err.Error(), "firewall") {
		t.Errorf("where nothing answers: %v", err)
	}
}

func TestANodeThatAnswersNothingYetIsSaidToBeStarting(t *testing.T) {
	h := openHall(t, bus.Limits{})
	h.add(t, "x", identity.Grants{})
	j, err := peer.Join(t.Context(), h.Addr(), h.client, h.keys["x"], "x")
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, err := j.Ask(t.Context(), "enrol", nil); !fault.Is(err, fault.Unreachable) || !strings.Contains(err.Error(), "starting") {
		t.Errorf("asked before anybody answers there: %v", err)
	}
}
