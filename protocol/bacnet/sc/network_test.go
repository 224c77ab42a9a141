package sc_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/protocol/bacnet/sc"
	"voltbus/protocol/bacnet/sc/sctest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is far above what a test needs.
const patience = time.Minute

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
	a := sctest.NewAuthority(t)
	hub, url, _ := sctest.Hub(t, a, "127.0.0.1:0")
	var nodes []*member
	for i := range byte(3) {
		n := join(t, sc.Config{VMAC: sc.VMAC{2, 0, 0, 0, 0, i + 1}, Primary: url, Certificates: a.Certificates(t, "node", sctest.Soon())})
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
	a := sctest.NewAuthority(t)
	_, primary, stop := sctest.Hub(t, a, "127.0.0.1:0")
	_, failover, _ := sctest.Hub(t, a, "127.0.0.1:0")
	n := join(t, sc.Config{VMAC: one, Primary: primary, Failover: failover, Certificates: a.Certificates(t, "node", sctest.Soon()), Reconnect: 20 * time.Millisecond})
	n.at(t, primary)
	stop()
	n.at(t, failover)
	if n.Hub() != failover {
		t.Errorf("it is connected to %q", n.Hub())
	}
	sctest.Hub(t, a, strings.TrimSuffix(strings.TrimPrefix(primary, "wss://"), "/"))
	n.at(t, primary)
}

func TestAnAddressThatAnotherDeviceHasIsRefusedAndTheSameDeviceTakesItsPlace(t *testing.T) {
	a := sctest.NewAuthority(t)
	hub, url, _ := sctest.Hub(t, a, "127.0.0.1:0")
	n := join(t, sc.Config{VMAC: one, Primary: url, Certificates: a.Certificates(t, "node", sctest.Soon()), Reconnect: time.Hour})
	n.at(t, url)
	other := join(t, sc.Config{VMAC: one, UUID: sc.UUID{9}, Primary: url, Certificates: a.Certificates(t, "other", sctest.Soon()), Reconnect: time.Hour})
	var refused sc.Outcome
	if c := await(t, "a refusal", other.changes); !errors.As(c.err, &refused) || refused.Code.String() != "node-duplicate-vmac" {
		t.Errorf("got %v, want node-duplicate-vmac", c.err)
	}
	again := join(t, sc.Config{VMAC: one, Primary: url, Certificates: a.Certificates(t, "node", sctest.Soon())})
	again.at(t, url)
	if c := await(t, "the end of the first connection", n.changes); c.err == nil {
		t.Errorf("the first connection got %+v", c)
	}
	if there, _ := hub.Nodes(); len(there) != 1 {
		t.Errorf("the hub knows %d nodes", len(there))
	}
}

func TestEachEndSaysInASentenceWhyItDoesNotAcceptACertificate(t *testing.T) {
	a, stranger := sctest.NewAuthority(t), sctest.NewAuthority(t)
	ago, ahead := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	good := a.Certificates(t, "good", sctest.Soon())
	foreign := stranger.Certificates(t, "stranger", sctest.Soon())
	trusting := foreign
	trusting.Issuer = good.Issuer // it trusts the hub, which does not trust it
	for name, c := range map[string]struct {
		hub, node sc.Certificates
		want      string
	}{
		"the hub's has expired": {a.Certificates(t, "late", ago), good, "the certificate of the hub expired on " + ago.UTC().Format("2006-01-02")},
		"the hub's is not valid yet": {
			a.Valid(t, "early", sctest.Validity{From: ahead, Until: ahead.Add(time.Hour)}), good, "the certificate of the hub is valid only from " + ahead.UTC().Format("2006-01-02"),
		},
		"the hub's is of another authority": {good, foreign, `the certificate of the hub was issued by "CN=site", which is none of the authorities of this node`},
		"the hub's is for clients alone": {
			a.Valid(t, "client", sctest.Ends(ahead), x509.ExtKeyUsageClientAuth), good, "the certificate of the hub is not made for servers",
		},
		"the node's has expired":             {good, a.Certificates(t, "late", ago), "the own certificate expired on " + ago.UTC().Format("2006-01-02")},
		"the node's is not valid yet":        {good, a.Valid(t, "early", sctest.Validity{From: ahead, Until: ahead.Add(time.Hour)}), "the own certificate is valid only from "},
		"the node's is of another authority": {good, trusting, "the hub refuses the certificate of this node: the hub does not know the authority that issued it"},
		"the node's is for servers alone": {
			good, a.Valid(t, "server", sctest.Ends(ahead), x509.ExtKeyUsageServerAuth), "the hub refuses the certificate of this node: the hub calls it a bad certificate",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, url, _ := sctest.HubWith(t, c.hub, "127.0.0.1:0")
			n := join(t, sc.Config{VMAC: one, Primary: url, Certificates: c.node, Reconnect: time.Hour})
			got := await(t, "a refusal", n.changes)
			if !errors.Is(got.err, sc.ErrCertificate) || !strings.Contains(got.err.Error(), c.want) {
				t.Errorf("got %v, want %s", got.err, c.want)
			}
		})
	}
}

func TestANodeWhoseClockIsRightTellsThatTheHubSaysExpired(t *testing.T) {
	a := sctest.NewAuthority(t)
	_, url, _ := sctest.Hub(t, a, "127.0.0.1:0")
	late := a.Certificates(t, "late", time.Now().Add(-time.Hour))
	late.Own.Leaf = nil // its own time is not looked at, as by a node whose clock is wrong
	n := join(t, sc.Config{VMAC: one, Primary: url, Certificates: late, Reconnect: time.Hour})
	if got := await(t, "a refusal", n.changes); !errors.Is(got.err, sc.ErrCertificate) || !strings.Contains(got.err.Error(), "it has expired, or is not valid yet") {
		t.Errorf("got %v", got.err)
	}
}

func TestWhatAnswersWithoutTLSIsNoHub(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_ = conn.Close()
		}
	}()
	n := join(t, sc.Config{VMAC: one, Primary: "wss://" + l.Addr().String(), Certificates: sctest.NewAuthority(t).Certificates(t, "n", sctest.Soon()), Reconnect: time.Hour})
	if got := await(t, "a refusal", n.changes); got.err == nil || !strings.Contains(got.err.Error(), "does not speak TLS") {
		t.Errorf("got %v", got.err)
	}
}

func TestANodeDrawsAnotherAddressWhenItsOwnIsTaken(t *testing.T) {
	a := sctest.NewAuthority(t)
	hub, url, _ := sctest.Hub(t, a, "127.0.0.1:0")
	first := join(t, sc.Config{VMAC: one, Primary: url, Certificates: a.Certificates(t, "node", sctest.Soon())})
	first.at(t, url)
	second := join(t, sc.Config{VMAC: one, UUID: sc.UUID{9}, Primary: url, Certificates: a.Certificates(t, "other", sctest.Soon()), Reconnect: time.Millisecond})
	second.at(t, url)
	if nodes, _ := hub.Nodes(); len(nodes) != 2 || second.VMAC() == one || second.VMAC()[0]&0x0F != 2 {
		t.Errorf("the hub knows %v; the second node is %v", nodes, second.VMAC())
	}
}

func TestAHubTellsWhoComesGoesAndIsRefused(t *testing.T) {
	a := sctest.NewAuthority(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 10)
	hub := sc.NewHub(sc.HubConfig{
		VMAC: two, Certificates: a.Certificates(t, "hub", sctest.Soon()),
		Changed: func(_ net.Addr, node sc.Connect, joined bool) { told <- fmt.Sprint(node.VMAC, joined) },
		Refused: func(text string) { told <- text },
	})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- hub.Run(ctx, l) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	url := "wss://" + l.Addr().String()
	nodeCtx, leave := context.WithCancel(t.Context())
	n := sc.New(sc.Config{VMAC: one, Primary: url, Certificates: a.Certificates(t, "node", sctest.Soon()), Handler: func(sc.VMAC, []byte, bool) {}})
	ran := make(chan error, 1)
	go func() { ran <- n.Run(nodeCtx) }()
	if got := await(t, "it comes", told); got != one.String()+" true" {
		t.Errorf("got %q", got)
	}
	leave()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	if got := await(t, "it goes", told); got != one.String()+" false" {
		t.Errorf("got %q", got)
	}
	join(t, sc.Config{VMAC: one, Primary: url, Certificates: sctest.NewAuthority(t).Certificates(t, "stranger", sctest.Soon()), Reconnect: time.Hour})
	if got := await(t, "a refusal", told); !strings.Contains(got, "TLS handshake error from 127.0.0.1") {
		t.Errorf("got %q", got)
	}
}

func TestHeartbeatsKeepAConnection(t *testing.T) {
	a := sctest.NewAuthority(t)
	_, url, _ := sctest.Hub(t, a, "127.0.0.1:0")
	n := join(t, sc.Config{VMAC: one, Primary: url, Certificates: a.Certificates(t, "node", sctest.Soon()), Heartbeat: 5 * time.Millisecond, Wait: patience})
	n.at(t, url)
	peer := join(t, sc.Config{VMAC: two, Primary: url, Certificates: a.Certificates(t, "node", sctest.Soon())})
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

// stuck is a listener whose connections pass what is written on, but say so only after release, from the time that held says.
type stuck struct {
	net.Listener
	held    func() bool
	release chan struct{}
}

type stuckConn struct {
	net.Conn
	of *stuck
}

func (s *stuck) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &stuckConn{c, s}, nil
}

func (c *stuckConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if c.of.held() {
		<-c.of.release
	}
	return n, err
}

func TestANodeThatKnowsOfItsAdmissionIsHeardAtOnce(t *testing.T) {
	a := sctest.NewAuthority(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	joined := make(chan struct{}, 1)
	hub := sc.NewHub(sc.HubConfig{
		VMAC: two, Certificates: a.Certificates(t, "hub", sctest.Soon()),
		Changed: func(_ net.Addr, _ sc.Connect, is bool) {
			if is {
				joined <- struct{}{}
			}
		},
	})
	slow := &stuck{Listener: l, release: make(chan struct{}), held: func() bool {
		nodes, _ := hub.Nodes()
		return len(nodes) > 0
	}}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- hub.Run(ctx, slow) }()
	url := "wss://" + l.Addr().String()
	n := join(t, sc.Config{VMAC: one, Primary: url, Certificates: a.Certificates(t, "node", sctest.Soon())})
	n.at(t, url)
	await(t, "a node that the hub serves while its answer is under way", joined)
	close(slow.release)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
