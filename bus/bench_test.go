package bus_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"voltbus/bus"
	"voltbus/bus/permit"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/point"
)

// BenchmarkConnect connects one of 10,000 agents over TLS, up to its first answer, and leaves again:
// most of it is TLS and the two ends of the connection.
func BenchmarkConnect(b *testing.B) {
	key := newKey(b)
	agents := map[string]*registry.Agent{}
	for i := range 10_000 {
		agents[fmt.Sprintf("U%055d", i)] = &registry.Agent{Name: fmt.Sprintf("agent%05d", i)}
	}
	agents[key.public] = &registry.Agent{Name: "me"}
	server, client := certificate(b)
	hub, err := bus.Open(bus.Config{
		Name: "node", Dir: b.TempDir(), Listen: "127.0.0.1:0", TLS: server, Key: newKey(b), Log: slog.New(slog.DiscardHandler),
		Admit: func(public string) (permit.Permit, bool) {
			a, known := agents[public]
			if !known {
				return permit.Permit{}, false
			}
			p := permit.Agent(a)
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

// BenchmarkForms sends a scan of 18 points in each form to one subscriber. The bytes are those of subjects and
// bodies; the table in docs/guides/read-live-messages.md is made of them.
func BenchmarkForms(b *testing.B) {
	names := make([]string, 18)
	for i := range names {
		names[i] = fmt.Sprintf("point_%02d_temp", i)
	}
	scan := scanOf("campus/building/unit1", names...)
	for i := range scan.Samples {
		scan.Samples[i].Value = point.FloatOf(20.25 + float64(i))
	}
	for name, forms := range map[string]bus.Forms{
		"scan": {Scan: true}, "point": {Point: true}, "breadth_scan": {BreadthScan: true}, "breadth_point": {BreadthPoint: true},
		"all_four": {Scan: true, Point: true, BreadthScan: true, BreadthPoint: true},
	} {
		b.Run(name, func(b *testing.B) {
			f := open(b, b.TempDir(), "127.0.0.1:0")
			conn, err := f.dial(b, f.reader)
			if err != nil {
				b.Fatal(err)
			}
			var messages, octets int
			one := make(chan struct{})
			publish := func(p *bus.Publisher, s *point.Scan, forms bus.Forms) {
				if err := p.Publish(s, forms); err != nil {
					b.Fatal(err)
				}
			}
			if _, err := conn.Subscribe("live.>", func(m *nats.Msg) {
				if m.Subject == "live.scan.end" {
					one <- struct{}{}
					return
				}
				messages, octets = messages+1, octets+len(m.Subject)+len(m.Data)
			}); err != nil {
				b.Fatal(err)
			}
			if err := conn.Flush(); err != nil {
				b.Fatal(err)
			}
			p, end, n := f.NewPublisher(), scanOf("end"), 0
			for b.Loop() {
				publish(p, scan, forms)
				publish(p, end, bus.Forms{Scan: true})
				<-one
				n++
			}
			b.ReportMetric(float64(messages)/float64(n), "messages/scan")
			b.ReportMetric(float64(octets)/float64(n), "octets/scan")
		})
	}
}

// BenchmarkAuthenticate is what the node does for a connection of one of 10,000 agents apart from TLS:
// it checks the signature, finds the agent, and makes its permit.
func BenchmarkAuthenticate(b *testing.B) {
	key := newKey(b)
	list := make(crowd, 10_000)
	for i := range list {
		list[i] = registry.Agent{
			Name: fmt.Sprintf("agent%05d", i), Public: fmt.Sprintf("U%055d", i),
			Grants: identity.Grants{Publish: patterns("analysis/**"), Subscribe: patterns("campus/b1/**", "campus/*/temp")},
		}
	}
	list[4711].Public = key.public
	r, err := registry.OpenAgents(b.Context(), list, time.Now)
	if err != nil {
		b.Fatal(err)
	}
	nonce := []byte("0123456789abcdef")
	raw, err := key.Sign(nonce)
	if err != nil {
		b.Fatal(err)
	}
	signature := base64.RawURLEncoding.EncodeToString(raw)
	b.ReportAllocs()
	for b.Loop() {
		a, known := r.ByKey(key.public)
		if p := permit.Agent(&a); !known || p.Name != "agent04711" || !bus.Signed(key.public, signature, nonce) {
			b.Fatal("a stranger")
		}
	}
}

// crowd is agents that are never changed.
type crowd []registry.Agent

func (c crowd) Agents(context.Context) ([]registry.Agent, error) { return c, nil }
func (crowd) PutAgent(context.Context, registry.Agent) error     { return errors.ErrUnsupported }
func (crowd) DropAgent(context.Context, string) error            { return errors.ErrUnsupported }
