package bus_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"voltbus/bus"
	"voltbus/bus/blocklog"
	"voltbus/bus/dispatch"
	"voltbus/identity"
	"voltbus/wire"
)

// flood sends until its connection is cut off, and returns what was told of it.
func flood(ctx context.Context, h *hall, v *visitor) bus.Violation {
	body := []byte(strings.Repeat("x", 200))
	for {
		select {
		case told := <-h.refused:
			if told.Flood != "" {
				return told
			}
		case <-ctx.Done():
			return bus.Violation{Flood: "never"}
		default:
			for range 100 {
				_ = v.Publish("live.scan.x", body) // fails when it is cut off, and then the news come
			}
		}
	}
}

func TestAttackAFloodIsCutOffWhileOthersGoOn(t *testing.T) {
	h := openHall(t, bus.Limits{Messages: 10_000})
	serveHello(t, h)
	log, err := h.OpenLog(t.Context(), blocklog.Config{MaxBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	h.add(t, "bad", identity.Grants{Publish: patterns("x")})
	h.add(t, "good", identity.Grants{Publish: patterns("y")})
	h.add(t, "ear", identity.Grants{Subscribe: patterns("y")})
	good, ear := h.enter(t, "good"), h.enter(t, "ear")
	sub, err := ear.SubscribeSync("live.scan.y")
	if err != nil {
		t.Fatal(err)
	}
	if err := ear.Flush(); err != nil {
		t.Fatal(err)
	}
	bad := h.enter(t, "bad", nats.NoReconnect())
	cut := make(chan bus.Violation, 1)
	go func() { cut <- flood(t.Context(), h, bad) }() //nolint:testinggoroutine // ends with cut
	// Until it is cut off, messages of others and blocks of the log go through.
	rounds := uint64(0)
	for told := (bus.Violation{}); told.Flood == ""; rounds++ {
		if err := good.Publish("live.scan.y", []byte("{}")); err != nil {
			t.Fatal(err)
		}
		if _, err := sub.NextMsg(time.Minute); err != nil {
			t.Fatalf("another's message: %v", err)
		}
		wait, err := log.Append([]byte("block"), rounds)
		if err == nil {
			err = wait(t.Context())
		}
		if err != nil {
			t.Fatalf("the log: %v", err)
		}
		select {
		case told = <-cut:
			if told.Name != "bad" || !strings.Contains(told.Flood, "messages") {
				t.Errorf("told %+v", told)
			}
		default:
		}
	}
	<-bad.closed
	if good.Reconnects+ear.Reconnects != 0 {
		t.Error("somebody else was cut off")
	}
	back := h.enter(t, "bad", nats.NoReconnect())
	answer, err := back.ask(t, "hello")
	if err != nil {
		t.Fatal(err)
	}
	if f := failureOf(t, answer); f.Kind != "unavailable" || !strings.Contains(f.Message, "was cut off because it sent") {
		t.Errorf("hello says %+v", f)
	}
	<-back.closed
	// After the pause it is welcome.
	for {
		v := h.enter(t, "bad", nats.NoReconnect())
		answer, err := v.ask(t, "hello")
		if err == nil && strings.Contains(answer, "welcome") {
			return
		}
		<-v.closed
	}
}

func TestWhoSendsMuchInAShortTimeIsNotCutOff(t *testing.T) {
	h := openHall(t, bus.Limits{Messages: 10_000})
	h.add(t, "a", identity.Grants{Publish: patterns("x")})
	v := h.enter(t, "a")
	for range 20_000 {
		if err := v.Publish("live.scan.x", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Flush(); err != nil {
		t.Fatal(err)
	}
	if n := len(h.refused); n > 0 || v.Reconnects > 0 {
		t.Errorf("%d complaints", n)
	}
}

func TestAttackARequestStormOfOneCallerIsBounded(t *testing.T) {
	h := openHall(t, bus.Limits{})
	h.add(t, "a", identity.Grants{})
	h.add(t, "b", identity.Grants{})
	began, release := make(chan string, 10_000), make(chan struct{})
	err := h.Serve(wire.CallPrefix+wire.NodeName+".", func(_ context.Context, r dispatch.Request) {
		began <- r.From
		<-release
		_ = r.Respond([]byte(r.Method))
	})
	if err != nil {
		t.Fatal(err)
	}
	a, b := h.enter(t, "a"), h.enter(t, "b")
	replies, err := a.SubscribeSync("_INBOX.a.>")
	if err != nil {
		t.Fatal(err)
	}
	const storm = 2000
	for range storm {
		if err := a.PublishRequest("rpc.node.a.x", "_INBOX.a.1", nil); err != nil {
			t.Fatal(err)
		}
	}
	// 64 run and 1,024 wait; the others are refused at once.
	refused := 0
	for refused < storm-64-1024 {
		m, err := replies.NextMsg(time.Minute)
		if err != nil {
			t.Fatalf("after %d refusals: %v", refused, err)
		}
		if f := failureOf(t, string(m.Data)); f.Kind != "unavailable" {
			t.Fatalf("refused with %+v", f)
		}
		refused++
	}
	for range 64 {
		if from := <-began; from != "a" {
			t.Fatal(from)
		}
	}
	if len(began) > 0 {
		t.Fatal("more than 64 requests of one caller run")
	}
	done := make(chan error, 1)
	go func() { _, err := b.ask(t, "y"); done <- err }() //nolint:testinggoroutine // ends with done
	if from := <-began; from != "b" {
		t.Error("another caller has to wait")
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	for range storm - refused {
		m, err := replies.NextMsg(time.Minute)
		if err != nil || string(m.Data) != "x" {
			t.Fatalf("a request that waited is answered with %v, %v", m, err)
		}
	}
}

func TestAttackWhoSubscribesToTooMuchIsCutOff(t *testing.T) {
	h := openHall(t, bus.Limits{Subscriptions: 200})
	serveHello(t, h)
	h.add(t, "bad", identity.Grants{Subscribe: patterns("**")})
	h.add(t, "good", identity.Grants{Subscribe: patterns("**")})
	good := h.enter(t, "good")
	for i := range 200 {
		if _, err := good.SubscribeSync("live.scan.x." + strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	bad := h.enter(t, "bad", nats.NoReconnect())
	for i := range 10_000 {
		if _, err := bad.SubscribeSync("live.scan.x." + strconv.Itoa(i)); err != nil {
			break // it was cut off meanwhile
		}
	}
	if v := <-h.refused; v.Name != "bad" || !strings.Contains(v.Flood, "subscriptions, and may have 200") {
		t.Errorf("told %+v", v)
	}
	<-bad.closed
	if _, err := good.ask(t, "hello"); err != nil {
		t.Errorf("who has as many as it may: %v", err)
	}
}

func TestAttackTheHolderOfAKeyHasOnlySoManyConnections(t *testing.T) {
	h := openHall(t, bus.Limits{Connections: 3})
	h.add(t, "bad", identity.Grants{})
	h.add(t, "good", identity.Grants{})
	first := h.enter(t, "bad")
	refused := 0
	for range 10 { // those kept in quarantine stay for longer than this takes
		if conn, err := h.dial(t, h.keys["bad"], nats.NoReconnect()); err != nil {
			refused++
		} else {
			defer conn.Close()
		}
	}
	if refused == 0 {
		t.Error("ten more connections of a key that may have three are let in")
	}
	if err := first.Flush(); err != nil {
		t.Errorf("the first one: %v", err)
	}
	h.enter(t, "good")
}

// A list of {} takes a hundred times its text when it is read.
func TestAttackRequestsThatTakeMuchMemoryToReadAreBounded(t *testing.T) {
	h := openHall(t, bus.Limits{})
	h.add(t, "a", identity.Grants{})
	h.add(t, "b", identity.Grants{})
	began, release := make(chan string, 1000), make(chan struct{})
	err := h.Serve(wire.CallPrefix+wire.NodeName+".", func(_ context.Context, r dispatch.Request) {
		began <- r.From
		<-release
		_ = r.Respond([]byte(r.Method))
	})
	if err != nil {
		t.Fatal(err)
	}
	a, b := h.enter(t, "a"), h.enter(t, "b")
	replies, err := a.SubscribeSync("_INBOX.a.>")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(body string) {
		if err := a.PublishRequest("rpc.node.a.x", "_INBOX.a.1", []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	ask("[" + strings.Repeat("{},", 2_000_000) + "{}]")
	m, err := replies.NextMsg(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if f := failureOf(t, string(m.Data)); f.Kind != "invalid" || !strings.Contains(f.Message, "too many values") {
		t.Errorf("2,000,001 objects: %+v", f)
	}
	const each = 500_000 // two do not fit beside each other
	heavy := "[" + strings.Repeat("{},", each-1) + "{}]"
	for range 4 {
		ask(heavy)
	}
	done := make(chan error, 1)
	if from := <-began; from != "a" {
		t.Fatal(from)
	}
	go func() { _, err := b.ask(t, "y"); done <- err }() //nolint:testinggoroutine // ends with done
	if from := <-began; from != "b" {
		t.Error("two heavy requests of one caller run at once, or another caller waits for them")
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	for range 4 {
		if m, err := replies.NextMsg(time.Minute); err != nil || string(m.Data) != "x" {
			t.Fatalf("a heavy request is answered: %v", err)
		}
	}
}
