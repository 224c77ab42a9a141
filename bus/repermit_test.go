package bus_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"voltbus/bus"
	"voltbus/identity"
)

// grant sets what an agent may do.
func (h *hall) grant(t *testing.T, name string, g identity.Grants) {
	t.Helper()
	if _, err := h.registry.SetGrants(t.Context(), name, g); err != nil {
		t.Fatal(err)
	}
}

func TestMoreRightsHoldAtOnceOnTheSameConnection(t *testing.T) {
	h := openHall(t, bus.Limits{})
	h.add(t, "a", identity.Grants{Subscribe: patterns("x")})
	v := h.enter(t, "a")
	sub, err := v.SubscribeSync("live.scan.x")
	if err != nil {
		t.Fatal(err)
	}
	if v.mayPublish(t, "live.scan.y") || v.maySubscribe(t, "live.scan.y") {
		t.Fatal("it may before it was granted")
	}
	h.grant(t, "a", identity.Grants{Subscribe: patterns("x", "y"), Publish: patterns("y")})
	if !v.mayPublish(t, "live.scan.y") || !v.maySubscribe(t, "live.scan.y") {
		t.Error("it may not after it was granted")
	}
	if err := h.NewPublisher().Publish(scanOf("x", "p"), bus.Forms{Scan: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := sub.NextMsg(time.Minute); err != nil {
		t.Errorf("the old subscription: %v", err)
	}
	if v.Reconnects != 0 {
		t.Error("the connection was closed")
	}
}

func TestANarrowerGrantEndsOpenSubscriptionsAtOnce(t *testing.T) {
	h := openHall(t, bus.Limits{})
	h.add(t, "a", identity.Grants{Subscribe: patterns("x", "y"), Publish: patterns("x")})
	v := h.enter(t, "a")
	taken, err := v.SubscribeSync("live.scan.x.>")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := v.SubscribeSync("live.scan.y.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Flush(); err != nil {
		t.Fatal(err)
	}
	h.grant(t, "a", identity.Grants{Subscribe: patterns("y")})
	<-v.back // it returns by itself, with what it may now
	if err := v.Flush(); err != nil {
		t.Fatal(err)
	}
	p := h.NewPublisher()
	for _, device := range []string{"x/1", "y/1"} {
		if err := p.Publish(scanOf(device, "p"), bus.Forms{Scan: true}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := kept.NextMsg(time.Minute); err != nil {
		t.Errorf("what is still allowed does not arrive: %v", err)
	}
	if m, err := taken.NextMsg(0); err == nil {
		t.Errorf("%s arrives, which is no longer allowed", m.Subject)
	}
	if v.mayPublish(t, "live.scan.x.1") {
		t.Error("it can still publish")
	}
}

func TestLessToPublishHoldsAtOnceOnTheSameConnection(t *testing.T) {
	h := openHall(t, bus.Limits{})
	h.add(t, "a", identity.Grants{Publish: patterns("x", "y"), Subscribe: patterns("z")})
	v := h.enter(t, "a")
	if _, err := v.SubscribeSync("live.scan.z"); err != nil {
		t.Fatal(err)
	}
	if !v.mayPublish(t, "live.scan.x") {
		t.Fatal("it may not publish what it was granted")
	}
	h.grant(t, "a", identity.Grants{Publish: patterns("y"), Subscribe: patterns("z")})
	if v.mayPublish(t, "live.scan.x") {
		t.Error("it may publish what was taken away")
	}
	if v.Reconnects != 0 {
		t.Error("the connection was closed, though nothing that it hears was taken away")
	}
}

func TestARevokedKeyIsShutOutAndDoesNotReturn(t *testing.T) {
	h := openHall(t, bus.Limits{})
	h.add(t, "a", identity.Grants{Publish: patterns("**"), Subscribe: patterns("**")})
	h.add(t, "b", identity.Grants{})
	v := h.enter(t, "a", nats.NoReconnect())
	other := h.enter(t, "b")
	if _, err := h.registry.Revoke(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	<-v.closed
	if _, err := h.dial(t, h.keys["a"]); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("the revoked key returns with %v", err)
	}
	if err := other.Flush(); err != nil || other.Reconnects != 0 {
		t.Errorf("somebody else is hurt: %v", err)
	}
	if err := h.registry.Remove(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.dial(t, h.keys["b"]); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("a removed key returns with %v", err)
	}
}

func TestADroppedConnectionMayReturn(t *testing.T) {
	h := openHall(t, bus.Limits{})
	h.add(t, "a", identity.Grants{})
	v := h.enter(t, "a")
	if online := h.Online(); len(online) != 1 || online[0].Name != "a" || online[0].Key != h.keys["a"].public || online[0].Address == "" {
		t.Errorf("online are %+v", online)
	}
	h.Drop(h.keys["a"].public, "test")
	<-v.back
	if err := v.Flush(); err != nil {
		t.Error(err)
	}
}

func TestInspectSaysWhoIsWho(t *testing.T) {
	h := openHall(t, bus.Limits{})
	h.add(t, "a", identity.Grants{})
	h.enter(t, "a")
	if c := find(t, h.fixture, "test a"); c.Role != "agent" || c.Who != "a" {
		t.Errorf("the agent is %+v", c)
	}
	if c := find(t, h.fixture, "node publish"); c.Role != "node" || c.Who != "node" {
		t.Errorf("the node is %+v", c)
	}
}
