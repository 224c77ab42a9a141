package sc_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/protocol/bacnet/sc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is far above what a test needs.
const patience = time.Minute

// authority issues certificates, as the one of a site does.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	serial      int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{key: key, serial: 1}
	a.certificate = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "site"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign, SubjectKeyId: []byte{1, 2, 3, 4},
	}
	raw, err := x509.CreateCertificate(rand.Reader, a.certificate, a.certificate, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if a.certificate, err = x509.ParseCertificate(raw); err != nil {
		t.Fatal(err)
	}
	return a
}

// issue makes a certificate that ends at a time.
func (a *authority) issue(t *testing.T, name string, until time.Time) (certificate, key []byte) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a.serial++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.serial), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, AuthorityKeyId: a.certificate.SubjectKeyId,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.certificate, own.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

// certificates are those of a node or a hub.
func (a *authority) certificates(t *testing.T, name string, until time.Time) sc.Certificates {
	t.Helper()
	certificate, key := a.issue(t, name, until)
	own, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	c := sc.Certificates{Own: own, Issuer: x509.NewCertPool()}
	c.Issuer.AddCert(a.certificate)
	return c
}

// files writes certificate, key and issuer of a peer into a folder, as name.pem, name.key and ca.pem.
func (a *authority) files(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		certificate, key := a.issue(t, name, soon())
		for file, text := range map[string][]byte{name + ".pem": certificate, name + ".key": key, "ca.pem": a.pem()} {
			if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func soon() time.Time { return time.Now().Add(time.Hour) }

// serve runs a hub at an address until the function that it returns is called.
func serve(t *testing.T, a *authority, address string) (hub *sc.Hub, url string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	hub = sc.NewHub(sc.HubConfig{VMAC: sc.VMAC{2, 0, 0, 0, 0, 0xFF}, UUID: sc.UUID{0xFF}, Certificates: a.certificates(t, "hub", soon())})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- hub.Run(ctx, l) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("the hub: %v", err)
			}
		})
	}
	t.Cleanup(stop)
	return hub, "wss://" + l.Addr().String() + "/", stop
}

// arrival is an NPDU that a node got.
type arrival struct {
	from      sc.VMAC
	npdu      string
	broadcast bool
}

// change is what a node was told of its hub.
type change struct {
	hub string
	err error
}

// member is a node that runs.
type member struct {
	*sc.Node
	got     chan arrival
	changes chan change
}

func join(t *testing.T, c sc.Config) *member {
	t.Helper()
	m := &member{got: make(chan arrival, 100), changes: make(chan change, 100)}
	c.Handler = func(from sc.VMAC, npdu []byte, broadcast bool) { m.got <- arrival{from, string(npdu), broadcast} }
	c.Changed = func(hub string, err error) {
		select {
		case m.changes <- change{hub, err}:
		default:
		}
	}
	if c.UUID == (sc.UUID{}) {
		c.UUID = sc.UUID(append(make([]byte, 10), c.VMAC[:]...))
	}
	m.Node = sc.New(c)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the node: %v", err)
		}
	})
	return m
}

func await[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("never: %s", what)
		panic("unreachable")
	}
}

// at waits until the node is connected to a hub.
func (m *member) at(t *testing.T, hub string) {
	t.Helper()
	for {
		if c := await(t, "connected to "+hub, m.changes); c.err == nil && c.hub == hub {
			return
		}
	}
}

func TestAHubPassesMessagesToOneNodeAndToAll(t *testing.T) {
	a := newAuthority(t)
	hub, url, _ := serve(t, a, "127.0.0.1:0")
	var nodes []*member
	for i := range byte(3) {
		n := join(t, sc.Config{VMAC: sc.VMAC{2, 0, 0, 0, 0, i + 1}, Primary: url, Certificates: a.certificates(t, "node", soon())})
		n.at(t, url)
		nodes = append(nodes, n)
	}
	if err := nodes[0].Send(two, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if got := await(t, "a message for one", nodes[1].got); got != (arrival{one, "hello", false}) {
		t.Errorf("the second node got %+v", got)
	}
	if err := nodes[1].Send(sc.BroadcastVMAC(), []byte("all")); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 2} {
		if got := await(t, "a message for all", nodes[i].got); got != (arrival{two, "all", true}) {
			t.Errorf("node %d got %+v", i, got)
		}
	}
	if len(nodes[1].got) != 0 {
		t.Errorf("the sender got its own broadcast")
	}
	if err := nodes[0].Send(two, make([]byte, sc.MaxNPDU+1)); !errors.Is(err, sc.ErrNPDU) {
		t.Errorf("an NPDU that is too long: %v", err)
	}
	if there, _ := hub.Nodes(); len(there) != 3 {
		t.Errorf("the hub knows %d nodes", len(there))
	}
}

func TestANodeUsesTheFailoverHubUntilThePrimaryIsBack(t *testing.T) {
	a := newAuthority(t)
	_, primary, stop := serve(t, a, "127.0.0.1:0")
	_, failover, _ := serve(t, a, "127.0.0.1:0")
	n := join(t, sc.Config{VMAC: one, Primary: primary, Failover: failover, Certificates: a.certificates(t, "node", soon()), Reconnect: 20 * time.Millisecond})
	n.at(t, primary)
	stop()
	n.at(t, failover)
	if n.Hub() != failover {
		t.Errorf("it is connected to %q", n.Hub())
	}
	serve(t, a, strings.TrimSuffix(strings.TrimPrefix(primary, "wss://"), "/"))
	n.at(t, primary)
}

func TestAnAddressThatAnotherDeviceHasIsRefusedAndTheSameDeviceTakesItsPlace(t *testing.T) {
	a := newAuthority(t)
	hub, url, _ := serve(t, a, "127.0.0.1:0")
	n := join(t, sc.Config{VMAC: one, Primary: url, Certificates: a.certificates(t, "node", soon()), Reconnect: time.Hour})
	n.at(t, url)
	other := join(t, sc.Config{VMAC: one, UUID: sc.UUID{9}, Primary: url, Certificates: a.certificates(t, "other", soon()), Reconnect: time.Hour})
	var refused sc.Outcome
	if c := await(t, "a refusal", other.changes); !errors.As(c.err, &refused) || refused.Code.String() != "node-duplicate-vmac" {
		t.Errorf("got %v, want node-duplicate-vmac", c.err)
	}
	again := join(t, sc.Config{VMAC: one, Primary: url, Certificates: a.certificates(t, "node", soon())})
	again.at(t, url)
	if c := await(t, "the end of the first connection", n.changes); c.err == nil {
		t.Errorf("the first connection got %+v", c)
	}
	if there, _ := hub.Nodes(); len(there) != 1 {
		t.Errorf("the hub knows %d nodes", len(there))
	}
}

func TestCertificatesThatAreWrongOrExpiredAreRefusedByBothEnds(t *testing.T) {
	a, stranger := newAuthority(t), newAuthority(t)
	_, url, _ := serve(t, a, "127.0.0.1:0")
	expired := a.certificates(t, "late", time.Now().Add(-time.Hour))
	foreign := stranger.certificates(t, "stranger", soon())
	foreign.Issuer = a.certificates(t, "x", soon()).Issuer // it trusts the hub, which does not trust it
	for name, c := range map[string]sc.Certificates{"expired": expired, "of another authority": foreign} {
		n := join(t, sc.Config{VMAC: one, Primary: url, Certificates: c, Reconnect: time.Hour})
		if got := await(t, name, n.changes); got.err == nil {
			t.Errorf("%s: the hub takes it", name)
		}
	}
	n := join(t, sc.Config{VMAC: one, Primary: url, Certificates: stranger.certificates(t, "stranger", soon()), Reconnect: time.Hour})
	if got := await(t, "the node looks at the hub's", n.changes); !errors.Is(got.err, sc.ErrCertificate) {
		t.Errorf("a hub of another authority: %v", got.err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	late := sc.NewHub(sc.HubConfig{Certificates: expired})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- late.Run(ctx, l) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	n = join(t, sc.Config{VMAC: one, Primary: "wss://" + l.Addr().String(), Certificates: a.certificates(t, "node", soon()), Reconnect: time.Hour})
	if got := await(t, "the node looks at the time", n.changes); !errors.Is(got.err, sc.ErrCertificate) {
		t.Errorf("a hub whose certificate has expired: %v", got.err)
	}
}

func TestHeartbeatsKeepAConnection(t *testing.T) {
	a := newAuthority(t)
	_, url, _ := serve(t, a, "127.0.0.1:0")
	n := join(t, sc.Config{VMAC: one, Primary: url, Certificates: a.certificates(t, "node", soon()), Heartbeat: 5 * time.Millisecond, Wait: patience})
	n.at(t, url)
	peer := join(t, sc.Config{VMAC: two, Primary: url, Certificates: a.certificates(t, "node", soon())})
	peer.at(t, url)
	for range 20 { // it outlives many heartbeats
		if err := peer.Send(one, []byte("x")); err != nil {
			t.Fatal(err)
		}
		await(t, "a message", n.got)
	}
	if n.Hub() != url {
		t.Error("it has lost the hub")
	}
}
