package client_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"math/big"
	"net"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"voltbus/bus"
	"voltbus/bus/client"
	"voltbus/bus/dispatch"
	"voltbus/bus/permit"
	"voltbus/catalog"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/presence"
	"voltbus/service"
	"voltbus/wire"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.(*ipQueue[...]).recycle"))
}

// hall is a bus with agents and the service of the node, wired as the node does it.
type hall struct {
	*bus.Bus
	t        *testing.T
	registry *registry.Agents
	ca       *x509.CertPool
	denied   atomic.Pointer[string] // a subject that is denied, whatever the grants say
}

// Connections implements service.Bus.
func (h *hall) Connections() ([]service.Connection, error) {
	var list []service.Connection
	for _, p := range h.Online() {
		list = append(list, service.Connection{Agent: p.Name, Since: p.Since})
	}
	return list, nil
}

// admit gives an agent what it was granted, without what is denied.
func (h *hall) admit(public string) (permit.Permit, bool) {
	a, known := h.registry.ByKey(public)
	permit := permit.Agent(&a)
	if denied := h.denied.Load(); denied != nil {
		permit.Publish = slices.DeleteFunc(permit.Publish, func(s string) bool { return s == *denied })
	}
	return permit, known && a.Active()
}

func openHall(t *testing.T) *hall {
	t.Helper()
	h := &hall{t: t}
	list, err := catalog.Open(t.Context(), t.TempDir(), time.Now)
	must(t, err)
	t.Cleanup(func() { must(t, list.Close()) })
	h.registry, err = registry.OpenAgents(t.Context(), list, time.Now)
	must(t, err)
	room, err := presence.Open(t.Context(), list, time.Now)
	must(t, err)
	var server *tls.Config
	server, h.ca = certificate(t)
	key, err := identity.OpenKey(filepath.Join(t.TempDir(), "node.nk"))
	must(t, err)
	h.Bus, err = bus.Open(bus.Config{
		Name: "node", Dir: t.TempDir(), Listen: "127.0.0.1:0", TLS: server, Key: key, Log: slog.New(slog.DiscardHandler),
		Limits: bus.Limits{Messages: -1, Bytes: -1}, Refused: func(bus.Violation) {}, Admit: h.admit,
	})
	must(t, err)
	t.Cleanup(func() { must(t, h.Close()) })
	desk := service.New(service.Config{Node: "node", Registry: h.registry, Presence: room, Bus: h, Log: slog.New(slog.DiscardHandler), Now: time.Now})
	must(t, h.Serve(wire.CallPrefix+wire.NodeName+".", func(ctx context.Context, r dispatch.Request) {
		_ = r.Respond(desk.Answer(ctx, service.Call{From: r.From, Method: r.Method, Body: r.Data})) // who asked may be gone
	}))
	h.registry.Notify(func(c registry.AgentChange) {
		h.Repermit(c.After.Public)
		_ = h.Notify(c.After.Name, wire.NewsStanding, nil) // it asks again when it returns
	})
	return h
}

// enter registers and connects an agent, whose reports go to the channel.
func (h *hall) enter(name string, g identity.Grants, change func(*client.Options)) (*client.Client, chan error) {
	h.t.Helper()
	key, err := identity.OpenKey(filepath.Join(h.t.TempDir(), name+".nk"))
	must(h.t, err)
	_, err = h.registry.Add(h.t.Context(), name, key.Public(), g)
	must(h.t, err)
	reports := make(chan error, 1000)
	o := client.Options{Address: h.Addr(), CA: h.ca, Key: key, Name: name, Report: func(err error) { reports <- err }}
	if change != nil {
		change(&o)
	}
	c, err := client.Connect(wait(h.t), o)
	must(h.t, err)
	h.t.Cleanup(c.Close)
	return c, reports
}

// plain connects an agent by a plain NATS client.
func (h *hall) plain(name string, g identity.Grants) *nats.Conn {
	h.t.Helper()
	key, err := identity.OpenKey(filepath.Join(h.t.TempDir(), name+".nk"))
	must(h.t, err)
	_, err = h.registry.Add(h.t.Context(), name, key.Public(), g)
	must(h.t, err)
	conn, err := nats.Connect("tls://"+h.Addr(), nats.Secure(&tls.Config{RootCAs: h.ca, MinVersion: tls.VersionTLS13}), nats.Nkey(key.Public(), key.Sign))
	must(h.t, err)
	h.t.Cleanup(conn.Close)
	return conn
}

// await waits for a report that fits.
func await(t *testing.T, reports chan error, what string, fits func(error) bool) {
	t.Helper()
	ctx := wait(t)
	for {
		select {
		case err := <-reports:
			if fits(err) {
				return
			}
		case <-ctx.Done():
			t.Fatalf("nobody reports %s", what)
		}
	}
}

// wait bounds what a test waits for; it ends only tests that fail.
func wait(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// certificate makes a certificate of 127.0.0.1, and who trusts it.
func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	leaf, err := x509.ParseCertificate(der)
	must(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, pool
}
