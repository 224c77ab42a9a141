package bus_test

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/nats-io/nats.go"

	"voltbus/bus"
	"voltbus/identity"
)

// BenchmarkConnect connects one of 10,000 agents over TLS, up to its first answer, and leaves again:
// most of it is TLS and the two ends of the connection.
func BenchmarkConnect(b *testing.B) {
	key := newKey(b)
	agents := map[string]*identity.Agent{}
	for i := range 10_000 {
		agents[fmt.Sprintf("U%055d", i)] = &identity.Agent{Name: fmt.Sprintf("agent%05d", i)}
	}
	agents[key.public] = &identity.Agent{Name: "me"}
	server, client := certificate(b)
	hub, err := bus.Open(bus.Config{
		Name: "node", Dir: b.TempDir(), Listen: "127.0.0.1:0", TLS: server, Key: newKey(b), Log: slog.New(slog.DiscardHandler),
		Admit: func(public string) (bus.Permit, bool) {
			a, known := agents[public]
			if !known {
				return bus.Permit{}, false
			}
			p := bus.AgentPermit(a)
			p.Exclusive = false // who comes back at once would wait for its last connection to end
			return p, true
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer hub.Close()
	for b.Loop() {
		conn, err := nats.Connect("tls://"+hub.Addr(), nats.Nkey(key.public, key.Sign), nats.Secure(client))
		if err != nil {
			b.Fatal(err)
		}
		conn.Close()
	}
}
