package bus_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"voltbus/bus"
	"voltbus/bus/dispatch"
	"voltbus/identity"
	"voltbus/wire"
)

// waitingRoom answers requests when it is opened. Those that "wait" are parked meanwhile.
type waitingRoom struct {
	came   chan string // the methods, as they come
	open   chan struct{}
	inside atomic.Int64 // requests that are not parked
}

func (w *waitingRoom) answer(ctx context.Context, r dispatch.Request) {
	if r.Method == "wait" {
		r.Park()
		r.Park() // a second time changes nothing
	} else {
		w.inside.Add(1)
		defer w.inside.Add(-1)
	}
	w.came <- r.Method
	select {
	case <-w.open:
	case <-ctx.Done():
	}
	_ = r.Respond([]byte(r.Method)) // who asked may be gone
}

func serveRoom(t *testing.T, h *hall) *waitingRoom {
	t.Helper()
	w := &waitingRoom{came: make(chan string, 10_000), open: make(chan struct{})}
	if err := h.Serve(wire.CallPrefix+wire.NodeName+".", w.answer); err != nil {
		t.Fatal(err)
	}
	return w
}

// send asks many times at once; the answers come to the subscription.
func (v *visitor) send(t *testing.T, method string, times int) *nats.Subscription {
	t.Helper()
	sub, err := v.SubscribeSync(fmt.Sprintf("_INBOX.%s.%s.*", v.name, method))
	if err != nil {
		t.Fatal(err)
	}
	v.sendMore(t, method, times)
	return sub
}

// sendMore asks after send.
func (v *visitor) sendMore(t *testing.T, method string, times int) {
	t.Helper()
	for i := range times {
		subject := wire.CallSubject(wire.NodeName, v.name, method)
		if err := v.PublishRequest(subject, fmt.Sprintf("_INBOX.%s.%s.%d", v.name, method, i), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Flush(); err != nil {
		t.Fatal(err)
	}
}

func TestRequestsThatOnlyWaitLetOthersOfTheCallerRun(t *testing.T) {
	h := openHall(t, bus.Limits{})
	w := serveRoom(t, h)
	h.add(t, "boiler", identity.Grants{})
	h.add(t, "pump", identity.Grants{})
	v, other := h.enter(t, "boiler"), h.enter(t, "pump")
	held := v.send(t, "hold", 70)
	for range 64 {
		<-w.came
	}
	// Another caller is served, and nothing more of this one.
	waited := other.send(t, "wait", 500)
	for range 500 {
		if method := <-w.came; method != "wait" {
			t.Fatalf("%s runs beside 64 of its caller", method)
		}
	}
	if n := w.inside.Load(); n != 64 {
		t.Errorf("%d requests run, want 64", n)
	}
	close(w.open)
	for sub, times := range map[*nats.Subscription]int{held: 70, waited: 500} {
		for range times {
			if _, err := sub.NextMsg(time.Minute); err != nil {
				t.Fatalf("an answer to %s: %v", sub.Subject, err)
			}
		}
	}
}

func TestWhereTooManyWaitTheyCountAsRunning(t *testing.T) {
	h := openHall(t, bus.Limits{})
	w := serveRoom(t, h)
	h.add(t, "boiler", identity.Grants{})
	h.add(t, "pump", identity.Grants{})
	v, other := h.enter(t, "boiler"), h.enter(t, "pump")
	answers := v.send(t, "wait", 0)
	for range 1024/64 + 1 { // more at once may come faster than they run, and be refused
		v.sendMore(t, "wait", 64)
		for range 64 {
			<-w.came
		}
	}
	v.sendMore(t, "wait", 10)
	held := other.send(t, "hold", 1)
	if method := <-w.came; method != "hold" {
		t.Errorf("more than 1088 requests of a caller are under way")
	}
	close(w.open)
	for range 1024 + 64 + 10 {
		if _, err := answers.NextMsg(time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := held.NextMsg(time.Minute); err != nil {
		t.Fatal(err)
	}
}
