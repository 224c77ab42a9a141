package bus_test

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go"

	"voltbus/bus"
	"voltbus/bus/dispatch"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/wire"
)

// The node may publish everything. Whoever could choose where its answer goes could let the node
// do what the own key may not: clear the log, report as a device, ask in another's name.
func TestAttackTheNodeCannotBeMadeToSpeakForACaller(t *testing.T) {
	h := openHall(t, bus.Limits{})
	log := openLog(t, h.fixture, 1<<20)
	must(t, appendOne(t, log, "what was acknowledged", 0))
	served := make(chan string, 100)
	if err := h.Serve(wire.CallPrefix+wire.NodeName+".", func(_ context.Context, r dispatch.Request) {
		served <- r.Method
		_ = r.Respond([]byte(`{"result":{}}`))
	}); err != nil {
		t.Fatal(err)
	}
	h.add(t, "evil", identity.Grants{})
	h.add(t, "victim", identity.Grants{Subscribe: []point.Pattern{"**"}})
	victim := h.enter(t, "victim")
	heard, err := victim.SubscribeSync("live.scan.>")
	must(t, err)
	calls, err := victim.SubscribeSync("rpc.victim.>")
	must(t, err)
	inbox, err := victim.SubscribeSync("_INBOX.victim.>")
	must(t, err)
	must(t, victim.Flush())
	evil := h.enter(t, "evil")
	wishes := []string{
		"$JS.API.STREAM.PURGE.LOG", "live.scan.site", "rpc.victim.node.stop", "rpc.node.victim.config_set", "_INBOX.victim.x",
		"_INBOX.evil", "_INBOX.", "news.victim.stop",
	}
	for _, reply := range wishes {
		must(t, evil.PublishRequest("rpc.node.evil.hello", reply, nil))
	}
	if _, err := evil.ask(t, "last"); err != nil {
		t.Errorf("its own inbox gets no answer: %v", err)
	}
	if first, last, err := log.Bounds(t.Context()); err != nil || first != 1 || last != 1 {
		t.Errorf("the log holds %d to %d, %v", first, last, err)
	}
	must(t, victim.Flush())
	for name, sub := range map[string]*nats.Subscription{"a report": heard, "a call": calls, "an answer": inbox} {
		if n, _, _ := sub.Pending(); n != 0 {
			t.Errorf("the victim got %s", name)
		}
	}
	if n := len(served); n != 1 {
		t.Fatalf("%d requests were served", n)
	}
	for _, reply := range wishes {
		if v := <-h.refused; v.Name != "evil" || v.Subject != reply || !v.Publish {
			t.Errorf("an answer to %s is told as %+v", reply, v)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
