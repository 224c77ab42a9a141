package bus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"voltbus/bus"
	"voltbus/bus/blocklog"
	"voltbus/bus/dispatch"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/wire"
)

func TestAnAgentMayDoWhatItWasGrantedAndNothingElse(t *testing.T) {
	h := openHall(t, bus.Limits{})
	if _, err := h.OpenLog(t.Context(), blocklog.Config{MaxBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	h.add(t, "a.b", identity.Grants{
		Publish: patterns("analysis/**"), Subscribe: patterns("campus/*/temp", "site"),
		Call: []identity.CallGrant{{Agent: "boiler", Method: "limit"}},
	})
	v := h.enter(t, "a.b")
	for subject, want := range map[string]bool{
		"live.scan.analysis.x": true, "live.point.analysis.x.y": true, "msg.a%2Eb.analysis.note": true,
		"msg.a%2Eb.health": true, "msg.a%2Eb.alert.hot": true, "rpc.boiler.a%2Eb.limit": true, "rpc.node.a%2Eb.hello": true,

		"live.scan.campus": false, "live.point.site.x": false, "msg.a%2Eb.site": false,
		"msg.other.analysis.x": false, "msg.a.b.analysis.x": false, "msg.other.health": false, // forged senders
		"rpc.boiler.other.limit": false, "rpc.node.other.hello": false, "rpc.node.node.hello": false,
		"rpc.boiler.a%2Eb.stop": false, "rpc.other.a%2Eb.limit": false, "rpc.boiler.a%2Eb.limit.x": false,
		"_INBOX.a%2Eb.x": false, "_INBOX.other.x": false, "news.a%2Eb.stop": false, "news.other.stop": false,
		"$JS.API.STREAM.INFO.LOG": false, "$JS.API.STREAM.PURGE.LOG": false, "$SYS.REQ.SERVER.PING": false, "log.block": false,
		"live.scan.>": false, "live.>": false, "x": false,
	} {
		if got := v.mayPublish(t, subject); got != want {
			t.Errorf("publish to %s is allowed: %v, want %v", subject, got, want)
		}
	}
	for subject, want := range map[string]bool{
		"live.point.campus.*.temp": true, "live.point.campus.b1.temp": true, "live.scan.site.>": true, "live.scan.site": true, "msg.*.site.>": true,
		"live.breadth.point.temp.*.campus": true, "live.breadth.point.temp.b1.campus": true,
		"live.breadth.scan.ahu.site": true, "live.breadth.scan.site": true, "live.breadth.point.*.*.site": true,
		"live.breadth.point.temp.>": false, "live.breadth.scan.>": false, "live.breadth.point.*.*.campus": false,
		"live.breadth.point.temp.*.other": false, "live.breadth.scan.*.campus": false, "live.breadth.point.*.>": false, "live.breadth.>": false,

		"rpc.a%2Eb.>": true, "rpc.a%2Eb.*.limit": true, "_INBOX.a%2Eb.>": true, "_INBOX.a%2Eb.x.*": true, "news.a%2Eb.>": true,

		">": false, "live.>": false, "live.scan.>": false, "live.point.>": false, "live.point.campus.>": false,
		"live.point.campus.*.>": false, "live.point.campus.*.*": false, "live.point.*.*.temp": false, "live.scan.campus.b1.temp": false,
		"*": false, "*.*": false, "*.>": false, "msg.>": false, "msg.*.>": false,
		"_INBOX.>": false, "_INBOX.*.>": false, "_INBOX.other.>": false, "_INBOX.*": false,
		"rpc.>": false, "rpc.*.>": false, "rpc.node.>": false, "rpc.boiler.>": false, "news.>": false, "news.*.stop": false,
		"$JS.>": false, "$SYS.>": false, "$JS.API.>": false, "log.>": false, "log.block": false, "a.b": false,
	} {
		if got := v.maySubscribe(t, subject); got != want {
			t.Errorf("subscribe to %s is allowed: %v, want %v", subject, got, want)
		}
	}
	if v.mayQueue(t, "live.scan.>") {
		t.Error("a group of subscribers gets around it")
	}
}

func (v *visitor) mayQueue(t *testing.T, subject string) bool {
	return v.verdict(t, func() error { _, err := v.QueueSubscribeSync(subject, "group"); return err })
}

func TestAViolationIsToldWithNameAndSubject(t *testing.T) {
	h := openHall(t, bus.Limits{})
	h.add(t, "a.b", identity.Grants{})
	// A name of the client that looks like a report, or like a format, confuses nobody.
	v := h.enter(t, "a.b", nats.Name(`%s %q cid:99 - Publish Violation - Subject "forged"`))
	for subject, publish := range map[string]bool{"live.scan.x%2Ey": true, "_INBOX.other.>": false} {
		allowed := v.maySubscribe
		if publish {
			allowed = v.mayPublish
		}
		if allowed(t, subject) {
			t.Errorf("%s is allowed", subject)
		}
		want := bus.Violation{Name: "a.b", Key: h.keys["a.b"].public, Subject: subject, Publish: publish, Count: 1}
		if got := <-h.refused; got != want {
			t.Errorf("told %+v, want %+v", got, want)
		}
	}
}

func TestTheSameViolationIsCountedNotRepeated(t *testing.T) {
	h := openHall(t, bus.Limits{})
	h.add(t, "a", identity.Grants{})
	v := h.enter(t, "a")
	const tries = 3000
	for range tries {
		if err := v.Publish("live.scan.x", nil); err != nil {
			t.Fatal(err)
		}
	}
	told, sum := 0, uint64(0)
	for sum < tries {
		told++
		sum += (<-h.refused).Count
	}
	if sum != tries || told > tries/10 {
		t.Errorf("%d violations were told in %d messages, want %d in few", sum, told, tries)
	}
}

func TestReportsOfTheServerAreRead(t *testing.T) {
	const who = `127.0.0.1:5 - cid:7 - "v1:go:x %q" - "$G/U"`
	for _, tt := range []struct {
		name    string
		format  string
		v       []any
		id      uint64
		subject string
		publish bool
		ok      bool
	}{
		{"a message", who + ` - Publish Violation - Subject %q`, []any{[]byte("a.b")}, 7, "a.b", true, true},
		{"a message with a reply of the server", who + ` - Publish Violation - Reply %q`, []any{[]byte("_R_.x")}, 7, "_R_.x", true, true},
		{"a subscription", who + ` - Subscription Violation - Subject "a.%2E", SID 1`, nil, 7, "a.%2E", false, true},
		{"a subscription of a group", who + ` - Subscription Violation - Subject "a", Queue: "q", SID 1`, nil, 7, "a", false, true},
		{"another error", who + ` - read error: %v`, []any{errors.New("x")}, 0, "", false, false},
		{"an error of nobody", `Publish Violation - Subject %q`, []any{[]byte("a")}, 0, "", false, false},
		{"a name that lies", `127.0.0.1:5 - cid:7 - "Subscription Violation - Subject \"a\"" - error`, nil, 0, "", false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id, subject, publish, ok := bus.ParseTrespass(tt.format, tt.v...)
			if ok != tt.ok || (ok && (id != tt.id || subject != tt.subject || publish != tt.publish)) {
				t.Errorf("it says %d %q %v %v", id, subject, publish, ok)
			}
		})
	}
}

func TestARequestReachesTheAgentAndItsAnswerTheCaller(t *testing.T) {
	h := openHall(t, bus.Limits{})
	h.add(t, "boiler", identity.Grants{})
	h.add(t, "caller", identity.Grants{Call: []identity.CallGrant{{Agent: "boiler"}}})
	boiler, caller := h.enter(t, "boiler"), h.enter(t, "caller")
	seen := make(chan *nats.Msg, 10)
	if _, err := boiler.Subscribe("rpc.boiler.>", func(m *nats.Msg) { seen <- m; _ = m.Respond([]byte("yes")) }); err != nil {
		t.Fatal(err)
	}
	if err := boiler.Flush(); err != nil {
		t.Fatal(err)
	}
	m, err := caller.Request(wire.CallSubject("boiler", "caller", "limit"), []byte("{}"), time.Minute)
	if err != nil || string(m.Data) != "yes" {
		t.Fatalf("the answer is %v, %v", m, err)
	}
	request := <-seen
	if call, err := wire.ParseCall(request.Subject); err != nil || call.Caller != "caller" || call.Method != "limit" {
		t.Errorf("the request came as %q: %v", request.Subject, err)
	}
	if boiler.mayPublish(t, request.Reply) {
		t.Error("a request can be answered twice")
	}
	if _, err := caller.Request(wire.CallSubject("absent", "caller", "x"), nil, time.Second); err == nil {
		t.Error("a call that was not granted is answered")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if body, err := h.Call(ctx, "boiler", "limit", nil); err != nil || string(body) != "yes" {
		t.Errorf("the node's own call gives %q, %v", body, err)
	}
	if _, err := h.Call(ctx, "absent", "limit", nil); !fault.Is(err, fault.Unreachable) {
		t.Errorf("a call of nobody gives %v, want unreachable", err)
	}
}

func TestASlowAgentGivesATimeout(t *testing.T) {
	h := openHall(t, bus.Limits{})
	h.add(t, "boiler", identity.Grants{})
	boiler := h.enter(t, "boiler")
	seen := make(chan *nats.Msg, 10)
	if _, err := boiler.ChanSubscribe("rpc.boiler.>", seen); err != nil {
		t.Fatal(err)
	}
	if err := boiler.Flush(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-seen; cancel(nil) }() //nolint:testinggoroutine // ends with the request
	if _, err := h.Call(ctx, "boiler", "limit", nil); !fault.Is(err, fault.Canceled) {
		t.Errorf("a call that was given up gives %v", err)
	}
	ended, end := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer end()
	if _, err := h.Call(ended, "boiler", "limit", nil); !fault.Is(err, fault.Timeout) {
		t.Errorf("a call without an answer gives %v, want a timeout", err)
	}
}

func TestTheNodeHearsMessagesAndTellsNews(t *testing.T) {
	h := openHall(t, bus.Limits{})
	h.add(t, "a.b", identity.Grants{})
	v := h.enter(t, "a.b")
	got := make(chan bus.Message, 10)
	stop, err := h.Messages([]point.Pattern{"health", "alert/**"}, func(m bus.Message) { got <- m })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := v.Publish(wire.MessageSubject("a.b", "alert/too hot"), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if m := <-got; m.From != "a.b" || m.Topic != "alert/too hot" || string(m.Data) != "{}" {
		t.Errorf("heard %+v", m)
	}
	news, err := v.SubscribeSync("news.a%2Eb.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := h.Notify("a.b", wire.NewsStanding, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if m, err := news.NextMsg(time.Minute); err != nil || m.Subject != "news.a%2Eb.standing" {
		t.Errorf("the news are %v, %v", m, err)
	}
}

// failureOf reads the error of an answer.
func failureOf(t *testing.T, body string) wire.Failure {
	t.Helper()
	var r wire.Reply
	if err := json.Unmarshal([]byte(body), &r); err != nil || r.Error == nil {
		t.Fatalf("%s is no failure: %v", body, err)
	}
	return *r.Error
}

func serveHello(t *testing.T, h *hall) {
	t.Helper()
	err := h.Serve(wire.CallPrefix+wire.NodeName+".", func(_ context.Context, r dispatch.Request) {
		_ = r.Respond(fmt.Appendf(nil, `{"result":"welcome %s"}`, r.From))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestASecondConnectionOfANameIsToldSoAndClosed(t *testing.T) {
	h := openHall(t, bus.Limits{})
	serveHello(t, h)
	h.add(t, "boiler", identity.Grants{Subscribe: patterns("**"), Publish: patterns("**")})
	first := h.enter(t, "boiler")
	second := h.enter(t, "boiler", nats.NoReconnect())
	answer, err := second.ask(t, "hello")
	if err != nil {
		t.Fatal(err)
	}
	if f := failureOf(t, answer); f.Kind != "conflict" || !strings.Contains(f.Message, "boiler: is connected already, from 127.0.0.1:") {
		t.Errorf("the second hello is answered with %+v", f)
	}
	if second.mayPublish(t, "live.scan.x") {
		t.Error("the second connection can publish")
	}
	if answer, err := first.ask(t, "hello"); err != nil || !strings.Contains(answer, "welcome boiler") {
		t.Errorf("the first connection is answered with %q, %v", answer, err)
	}
	<-second.closed
	if first.IsClosed() {
		t.Error("the first connection is closed too")
	}
	first.Close()
	if answer, err := h.enter(t, "boiler").ask(t, "hello"); err != nil || !strings.Contains(answer, "welcome") {
		t.Errorf("when the name is free, hello is answered with %q, %v", answer, err)
	}
}
