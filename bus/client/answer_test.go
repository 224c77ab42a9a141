package client

import (
	"testing"

	"github.com/nats-io/nats.go"
)

func TestOnlyWhoAsksGetsTheAnswer(t *testing.T) {
	for reply, want := range map[string]bool{
		"": true, "_INBOX.a%2Eb.x": true, "_INBOX.a%2Eb.x.1": true,
		"_INBOX.a.b.x": false, "_INBOX.other.x": false, "_INBOX.a%2Eb": false, "_INBOX.a%2Eb.": false, "_INBOX.a%2Eb.>": false,
		"live.scan.site": false, "rpc.node.me.config_set": false, "$JS.API.STREAM.PURGE.LOG": false,
	} {
		m := nats.NewMsg("rpc.me.a%2Eb.limit")
		if m.Reply = reply; answerable(m) != want {
			t.Errorf("an answer to %q: %v", reply, !want)
		}
	}
	node := nats.NewMsg("rpc.me.node.limit")
	if node.Reply = "_INBOX.whatever.1"; !answerable(node) {
		t.Error("the node gets no answer")
	}
}
