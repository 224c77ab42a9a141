package bus_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"voltbus/bus"
	"voltbus/bus/permit"
	"voltbus/catalog"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/point"
	"voltbus/wire"
)

// hall is a bus with a registry of agents, wired as the node does it.
type hall struct {
	*fixture
	registry *registry.Agents
	refused  chan bus.Violation
	passed   chan bus.ConnectionEvent
	keys     map[string]signer
}

func openHall(t *testing.T, limits bus.Limits) *hall {
	t.Helper()
	return openHallOf(t, limits, 0)
}

// openHallOf opens a hall that so many may enter from outside.
func openHallOf(t *testing.T, limits bus.Limits, connections int) *hall {
	t.Helper()
	server, client := certificate(t)
	h := &hall{refused: make(chan bus.Violation, 10_000), passed: make(chan bus.ConnectionEvent, 10_000), keys: map[string]signer{}}
	c, err := catalog.Open(t.Context(), t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if h.registry, err = registry.OpenAgents(t.Context(), c, time.Now); err != nil {
		t.Fatal(err)
	}
	b, err := bus.Open(bus.Config{
		Name: "node", Dir: t.TempDir(), Listen: "127.0.0.1:0", TLS: server, Key: newKey(t), Log: slog.New(slog.DiscardHandler),
		Limits: limits, Connections: connections, Refused: func(v bus.Violation) { h.refused <- v },
		Event: func(p bus.ConnectionEvent) { h.passed <- p },
		Admit: func(public string) (permit.Permit, bool) {
			a, known := h.registry.ByKey(public)
			return permit.Agent(&a), known && a.Active()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	h.fixture = &fixture{Bus: b, client: client}
	h.registry.Notify(func(c registry.AgentChange) {
		if c.What == registry.AgentRemoved {
			b.Repermit(c.Before.Public)
			return
		}
		b.Repermit(c.After.Public)
	})
	return h
}

// add registers an agent with a key of its own.
func (h *hall) add(t *testing.T, name string, g identity.Grants) {
	t.Helper()
	h.keys[name] = newKey(t)
	if _, err := h.registry.Add(t.Context(), name, h.keys[name].public, g); err != nil {
		t.Fatal(err)
	}
}

// visitor is a connected agent.
type visitor struct {
	*nats.Conn
	name   string
	back   chan struct{} // one entry for each return
	closed chan struct{}
}

// enter connects an agent.
func (h *hall) enter(t *testing.T, name string, opts ...nats.Option) *visitor {
	t.Helper()
	v, err := h.try(t, name, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// try is enter that may fail.
func (h *hall) try(t *testing.T, name string, opts ...nats.Option) (*visitor, error) {
	t.Helper()
	v := &visitor{name: name, back: make(chan struct{}, 100), closed: make(chan struct{})}
	conn, err := h.dial(t, h.keys[name], append([]nats.Option{
		nats.Name("test " + name), nats.CustomInboxPrefix(wire.InboxPrefix + wire.Token(name)), nats.ReconnectWait(time.Millisecond),
		nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // LastError has it
		nats.ReconnectHandler(func(*nats.Conn) { v.back <- struct{}{} }),
		nats.ClosedHandler(func(*nats.Conn) { close(v.closed) }),
	}, opts...)...)
	v.Conn = conn
	return v, err
}

// mayPublish tells the server's verdict on a message.
func (v *visitor) mayPublish(t *testing.T, subject string) bool {
	t.Helper()
	return v.verdict(t, func() error { return v.Publish(subject, []byte(`{}`)) })
}

// maySubscribe tells the server's verdict on a subscription, which is ended again.
func (v *visitor) maySubscribe(t *testing.T, subject string) bool {
	t.Helper()
	return v.verdict(t, func() error {
		sub, err := v.SubscribeSync(subject)
		if err == nil {
			t.Cleanup(func() { _ = sub.Unsubscribe() })
		}
		return err
	})
}

// verdict does something, and reports whether the server has nothing against it. Its complaint
// comes before the answer to a ping.
func (v *visitor) verdict(t *testing.T, try func() error) bool {
	t.Helper()
	before := v.LastError()
	if err := try(); err != nil {
		t.Fatal(err)
	}
	if err := v.Flush(); err != nil {
		t.Fatal(err)
	}
	after := v.LastError()
	return after == nil || after == before || !errors.Is(after, nats.ErrPermissionViolation) //nolint:errorlint // the same error twice is no news
}

// ask sends the node a request.
func (v *visitor) ask(t *testing.T, method string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	m, err := v.RequestWithContext(ctx, wire.CallSubject(wire.NodeName, v.name, method), nil)
	if err != nil {
		return "", err
	}
	return string(m.Data), nil
}

func patterns(list ...point.Pattern) []point.Pattern { return list }
