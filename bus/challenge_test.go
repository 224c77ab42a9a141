package bus_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"voltbus/bus"
	"voltbus/bus/dispatch"
	"voltbus/bus/peer"
	"voltbus/bus/permit"
	"voltbus/identity/registry"
	"voltbus/testing/link"
	"voltbus/wire"
)

// nursery is a bus that admits one child.
type nursery struct {
	*fixture
	key     signer
	old     signer // a key that it had before
	refused chan bus.Violation
	passed  chan bus.ConnectionEvent
}

func openNursery(t *testing.T) *nursery {
	t.Helper()
	return openQuiet(t, 0)
}

// openQuiet is a nursery in which nothing may be heard of a connection for so long.
func openQuiet(t *testing.T, silence time.Duration) *nursery {
	t.Helper()
	server, client := certificate(t)
	n := &nursery{key: newKey(t), old: newKey(t), refused: make(chan bus.Violation, 1000), passed: make(chan bus.ConnectionEvent, 1000)}
	b, err := bus.Open(bus.Config{
		Name: "node", Dir: t.TempDir(), Listen: "127.0.0.1:0", TLS: server, Key: newKey(t), Log: slog.New(slog.DiscardHandler), Silence: silence,
		Refused: func(v bus.Violation) { n.refused <- v },
		Event:   func(p bus.ConnectionEvent) { n.passed <- p },
		Admit: func(public string) (permit.Permit, bool) {
			c := registry.Child{Name: "plant", Public: n.key.public, State: registry.ChildApproved}
			return permit.Child(&c, public, time.Now()), public == n.key.public || public == n.old.public
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	n.fixture = &fixture{Bus: b, client: client}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	err = b.Serve(wire.CallPrefix+wire.NodeName+".", func(_ context.Context, r dispatch.Request) { _ = r.Respond([]byte(`{"result":"welcome"}`)) })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// connect is what a child does with a connection, over a way of its own if address is not "".
func (n *nursery) connect(t *testing.T, address string, handler func(context.Context, dispatch.Request)) *peer.Parent {
	t.Helper()
	if address == "" {
		address = n.Addr()
	}
	p, err := peer.DialParent(t.Context(), peer.Way{Address: address, TLS: n.client}, n.key, "@plant")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if err := p.Serve(handler); err != nil {
		t.Fatal(err)
	}
	return p
}

// why is the word with which a connection is kept in quarantine; "" if it is welcome.
func why(t *testing.T, p *peer.Parent) string {
	t.Helper()
	_, err := p.Ask(t.Context(), "hello", nil)
	if err == nil {
		return ""
	}
	f, ok := errors.AsType[*wire.Failure](err)
	if !ok {
		t.Fatalf("hello: %v", err)
	}
	return f.Why
}

func TestAChildThatIsThereKeepsItsNameHoweverBusyItIs(t *testing.T) {
	n := openNursery(t)
	over, calls := make(chan struct{}), make(chan struct{}, 1000)
	first := n.connect(t, "", func(context.Context, dispatch.Request) { calls <- struct{}{}; <-over })
	for range 64 { // as many as run at once
		go func() { _, _ = n.Call(t.Context(), "@plant", "wait", nil) }()
	}
	for range 64 {
		<-calls
	}
	for range 3 {
		second := n.connect(t, "", func(context.Context, dispatch.Request) {})
		if got := why(t, second); got != permit.QuarantineConflict {
			t.Errorf("the second connection is kept aside for %q", got)
		}
		second.Close()
	}
	if got := why(t, first); got != "" {
		t.Errorf("the first connection is kept aside for %q", got)
	}
	close(over)
	if v := <-n.refused; v.Conflict == "" {
		t.Errorf("told as refused: %+v", v)
	}
	select {
	case v := <-n.refused:
		t.Errorf("told as refused, too: %+v", v)
	default:
	}
}

func TestAChildThatIsSilentLosesItsNameToTheOneThatReturns(t *testing.T) {
	n := openNursery(t)
	way := link.New(t)
	way.Lead(n.Addr())
	first := n.connect(t, way.Addr(), func(context.Context, dispatch.Request) {})
	if got := why(t, first); got != "" {
		t.Fatalf("the first connection is kept aside for %q", got)
	}
	n.Works("@plant")
	way.Hold(link.Up, true)
	way.Hold(link.Down, true)
	asked := false
	for {
		second := n.connect(t, "", func(context.Context, dispatch.Request) {})
		got := why(t, second)
		if got == "" {
			break
		}
		if got != permit.QuarantineAsked {
			t.Fatalf("the second connection is kept aside for %q", got)
		}
		asked = true
		second.Close()
	}
	if !asked {
		t.Error("the first connection was closed before it could answer")
	}
	for p := range n.passed {
		if p.Ended == "" {
			continue
		}
		if !strings.HasPrefix(p.Ended, "it was silent when another connection") {
			t.Errorf("a connection ended: %+v", p)
		}
		break
	}
	select {
	case v := <-n.refused:
		t.Errorf("told as refused: %+v", v)
	default:
	}
}

func TestAChildThatIsCutOffBeforeItListensLosesItsNameToTheOneThatReturns(t *testing.T) {
	n := openNursery(t)
	way := link.New(t)
	way.Lead(n.Addr())
	first, err := peer.Join(t.Context(), way.Addr(), n.client, n.key, "@plant") // it listens to nothing yet
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(first.Close)
	way.Hold(link.Up, true)
	way.Hold(link.Down, true)
	for got := permit.QuarantineAsked; got != ""; {
		second := n.connect(t, "", func(context.Context, dispatch.Request) {})
		if got = why(t, second); got != "" && got != permit.QuarantineAsked {
			t.Fatalf("the second connection is kept aside for %q", got)
		}
		second.Close()
	}
	select {
	case v := <-n.refused:
		t.Errorf("told as refused: %+v", v)
	default:
	}
}

func TestACopyIsToldAsSuchAlsoIfTheFirstIsFar(t *testing.T) {
	n := openNursery(t)
	way := link.New(t)
	way.Lead(n.Addr())
	first := n.connect(t, way.Addr(), func(context.Context, dispatch.Request) {})
	way.Delay(700 * time.Millisecond)
	for attempt := 1; ; attempt++ {
		second := n.connect(t, "", func(context.Context, dispatch.Request) {})
		got := why(t, second)
		second.Close()
		if got == permit.QuarantineConflict {
			break
		}
		if got != permit.QuarantineAsked || attempt == 5 {
			t.Fatalf("attempt %d of the second connection is kept aside for %q", attempt, got)
		}
		if got := why(t, first); got != "" { // takes as long as its answer to the ping
			t.Errorf("the first connection is kept aside for %q", got)
		}
	}
	if v := <-n.refused; v.Conflict == "" {
		t.Errorf("told as refused: %+v", v)
	}
}

// A server that pings a connection at the door has it fail. A busy machine may be so late once, and a child dials again
// then; if it waited at the door longer than the server's pings are apart, no attempt would get an answer.
func TestWhoReturnsIsLetInAlsoWhereSignsOfLifeAreAskedForOften(t *testing.T) {
	n := openQuiet(t, 2700*time.Millisecond) // a ping each 900 ms, which is less than the longest wait at the door
	way := link.New(t)
	way.Lead(n.Addr())
	first := n.connect(t, way.Addr(), func(context.Context, dispatch.Request) {})
	if got := why(t, first); got != "" {
		t.Fatalf("the first connection is kept aside for %q", got)
	}
	way.Hold(link.Up, true)
	way.Hold(link.Down, true)
	var answered, pinged int
	for got := permit.QuarantineAsked; got != ""; {
		second, err := peer.DialParent(t.Context(), peer.Way{Address: n.Addr(), TLS: n.client}, n.key, "@plant")
		if err != nil && strings.Contains(err.Error(), "got 'PING'") {
			pinged++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got = why(t, second); got == permit.QuarantineAsked {
			answered++
		} else if got != "" {
			t.Fatalf("the second connection is kept aside for %q", got)
		}
		second.Close()
	}
	if answered == 0 {
		t.Errorf("no attempt was answered while the first connection was asked; %d met a ping at the door", pinged)
	}
}

func TestEachThatIsKeptAsideHearsWhyItself(t *testing.T) {
	n := openNursery(t)
	n.connect(t, "", func(context.Context, dispatch.Request) {})
	second := n.connect(t, "", func(context.Context, dispatch.Request) {})
	// As a copy from before a rotation:
	third, err := peer.DialParent(t.Context(), peer.Way{Address: n.Addr(), TLS: n.client}, n.old, "@plant")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(third.Close)
	if a, b := why(t, third), why(t, second); a != permit.QuarantineReplaced || b != permit.QuarantineConflict {
		t.Errorf("the copy with the old key is kept aside for %q, the second connection for %q", a, b)
	}
}
