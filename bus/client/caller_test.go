package client_test

import (
	"context"
	"testing"

	"github.com/nats-io/nats.go"

	"voltbus/bus/client"
	"voltbus/identity"
	"voltbus/wire"
)

func TestAMethodKnowsWhoOfAnotherNodeCallsAndBelievesOnlyTheNode(t *testing.T) {
	h := openHall(t)
	callee, _ := h.enter("callee", identity.Grants{}, nil)
	must(t, callee.Handle(client.Method{Name: "who", Do: func(_ context.Context, r *client.Request) (any, error) { return r.From, nil }}))
	for caller, want := range map[string]string{"agent:campus/weather": "agent:campus/weather", "person:campus/ada": "person:campus/ada", "": "node"} {
		if body, err := h.CallFor(wait(t), caller, "callee", "who", nil); err != nil || string(body) != `{"result":"`+want+`"}` {
			t.Errorf("asked for %q it knows %s, %v", caller, body, err)
		}
	}
	liar := h.plain("liar", identity.Grants{Call: []identity.CallGrant{{Agent: "callee"}}})
	m := nats.NewMsg(wire.CallSubject("callee", "liar", "who"))
	m.Reply = "_INBOX.liar.1"
	m.Header.Set(wire.CallerHeader, "agent:campus/weather")
	answers, err := liar.SubscribeSync(m.Reply)
	must(t, err)
	must(t, liar.PublishMsg(m))
	got, err := answers.NextMsgWithContext(wait(t))
	if err != nil || string(got.Data) != `{"result":"liar"}` {
		t.Errorf("an agent that says to be another one is known as %v, %v", got, err)
	}
}
