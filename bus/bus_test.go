package bus_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"go.uber.org/goleak"

	"voltbus/bus"
	"voltbus/bus/blocklog"
	"voltbus/bus/peer"
	"voltbus/bus/permit"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/wire"
)

func TestMain(m *testing.M) {
	// The server's own timers outlive a shutdown by a moment; everything else must be gone.
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.(*ipQueue[...]).recycle"))
}

// certificate makes a certificate for loopback, and the client side that trusts it.
func certificate(t testing.TB) (server, client *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}},
		&tls.Config{MinVersion: tls.VersionTLS13, RootCAs: pool}
}

type fixture struct {
	*bus.Bus
	reader signer // a key with the role Reader
	client *tls.Config
}

// signer is a key in memory.
type signer struct {
	nkeys.KeyPair
	public string
}

func (s signer) Public() string { return s.public }

func newKey(t testing.TB) signer {
	t.Helper()
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return signer{KeyPair: key, public: public}
}

// open starts a bus in dir; listen may be "".
func open(t testing.TB, dir, listen string) *fixture {
	t.Helper()
	reader := newKey(t)
	server, client := certificate(t)
	b, err := bus.Open(bus.Config{
		Name: "node", Dir: dir, Listen: listen, TLS: server, Key: newKey(t), Log: slog.New(slog.DiscardHandler),
		Admit: func(public string) (permit.Permit, bool) { return permit.Reader("reader"), public == reader.public },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &fixture{Bus: b, reader: reader, client: client}
}

// dial connects from outside, as the holder of key.
func (f *fixture) dial(t testing.TB, key signer, opts ...nats.Option) (*nats.Conn, error) {
	t.Helper()
	opts = append(opts, nats.Nkey(key.public, key.Sign), nats.Secure(f.client), nats.Timeout(time.Minute))
	conn, err := nats.Connect("tls://"+f.Addr(), opts...)
	if err == nil {
		t.Cleanup(conn.Close)
	}
	return conn, err
}

func TestAttackOnlyKnownKeysMayConnect(t *testing.T) {
	f := open(t, t.TempDir(), "127.0.0.1:0")
	if _, err := f.dial(t, f.reader); err != nil {
		t.Fatalf("a known key: %v", err)
	}
	stranger := newKey(t)
	if _, err := f.dial(t, stranger); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("an unknown key: %v, want an authorization error", err)
	}
	for name, opt := range map[string]nats.Option{
		"nobody": nats.Name("x"), "a password": nats.UserInfo("node", "x"), "a token": nats.Token("x"),
	} {
		if _, err := nats.Connect("tls://"+f.Addr(), nats.Secure(f.client), opt); !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("%s: %v, want an authorization error", name, err)
		}
	}
	forged := func([]byte) ([]byte, error) { return stranger.Sign([]byte("something else")) }
	if _, err := nats.Connect("tls://"+f.Addr(), nats.Secure(f.client), nats.Nkey(f.reader.public, forged)); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("a forged signature: %v, want an authorization error", err)
	}
}

func TestConnectionsFromOutsideAreEncryptedWithTLS13(t *testing.T) {
	f := open(t, t.TempDir(), "127.0.0.1:0")
	old := f.client.Clone()
	old.MaxVersion = tls.VersionTLS12
	if _, err := nats.Connect("tls://"+f.Addr(), nats.Secure(old), nats.Nkey(f.reader.public, f.reader.Sign)); err == nil {
		t.Error("TLS 1.2 is accepted")
	}
	if _, err := nats.Connect("nats://"+f.Addr(), nats.Nkey(f.reader.public, f.reader.Sign)); err == nil {
		t.Error("a connection without encryption is accepted")
	}
}

func TestAReaderMayOnlyReadLiveMessages(t *testing.T) {
	f := open(t, t.TempDir(), "127.0.0.1:0")
	if _, err := f.OpenLog(t.Context(), blocklog.Config{MaxBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{"live.scan.a", "$JS.API.STREAM.PURGE.LOG", "$JS.API.STREAM.INFO.LOG", "log.block"} {
		violations := make(chan error, 1)
		conn, err := f.dial(t, f.reader, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { violations <- err }))
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Publish(subject, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := <-violations; !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("publish to %s: %v, want a permissions violation", subject, err)
		}
	}
	for _, subject := range []string{">", "$SYS.>", "$JS.>", "log.>"} {
		violations := make(chan error, 4)
		conn, err := f.dial(t, f.reader, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { violations <- err }))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
		if err := <-violations; !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("subscribe to %s: %v, want a permissions violation", subject, err)
		}
	}
}

func scanOf(device string, names ...string) *point.Scan {
	s := &point.Scan{Device: point.Path(device), Time: time.Unix(1_700_000_000, 0)}
	for i, name := range names {
		s.Samples = append(s.Samples, point.Sample{Point: s.Device.Join(name), Time: s.Time, Value: point.IntOf(int64(i))})
	}
	return s
}

func TestAnyClientCanReadLiveMessagesAsJSON(t *testing.T) {
	f := open(t, t.TempDir(), "127.0.0.1:0")
	conn, err := f.dial(t, f.reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.SubscribeSync("live.scan.campus.b 1.*"); err == nil {
		t.Fatal("a space in a subject is refused by clients, so it must be escaped")
	}
	scans, err := conn.SubscribeSync("live.scan.campus.b%201.*")
	if err != nil {
		t.Fatal(err)
	}
	points, err := conn.SubscribeSync("live.point.campus.b%201.ahu.temp")
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.NewPublisher().Publish(scanOf("campus/b 1/ahu", "temp", "fan"), bus.Forms{Scan: true, Point: true}); err != nil {
		t.Fatal(err)
	}
	msg, err := scans.NextMsg(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := wire.ParseScan(msg.Data); err != nil || s.Device != "campus/b 1/ahu" || len(s.Points) != 2 {
		t.Errorf("scan message %s: %v", msg.Data, err)
	}
	if msg, err = points.NextMsg(time.Minute); err != nil {
		t.Fatal(err)
	}
	if want := `"point":"campus/b 1/ahu/temp"`; !contains(msg.Data, want) {
		t.Errorf("point message %s does not hold %s", msg.Data, want)
	}
}

func TestEachFormOfALiveMessageIsSentWhenItIsWantedAndOnlyThen(t *testing.T) {
	f := open(t, t.TempDir(), "127.0.0.1:0")
	conn, err := f.dial(t, f.reader)
	if err != nil {
		t.Fatal(err)
	}
	sub, err := conn.SubscribeSync("live.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		forms bus.Forms
		want  []string
	}{
		"scan":          {bus.Forms{Scan: true}, []string{"live.scan.b 1.ahu"}},
		"point":         {bus.Forms{Point: true}, []string{"live.point.b 1.ahu.fan", "live.point.b 1.ahu.temp"}},
		"breadth scan":  {bus.Forms{BreadthScan: true}, []string{"live.breadth.scan.ahu.b 1"}},
		"breadth point": {bus.Forms{BreadthPoint: true}, []string{"live.breadth.point.fan.ahu.b 1", "live.breadth.point.temp.ahu.b 1"}},
		"all": {bus.Forms{Scan: true, Point: true, BreadthScan: true, BreadthPoint: true}, []string{
			"live.breadth.point.fan.ahu.b 1", "live.breadth.point.temp.ahu.b 1", "live.breadth.scan.ahu.b 1",
			"live.point.b 1.ahu.fan", "live.point.b 1.ahu.temp", "live.scan.b 1.ahu",
		}},
	} {
		p := f.NewPublisher()
		if err := errors.Join(p.Publish(scanOf("b 1/ahu", "temp", "fan"), c.forms), p.Publish(scanOf("end"), bus.Forms{Scan: true})); err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			msg, err := sub.NextMsg(time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if msg.Subject == "live.scan.end" {
				break
			}
			got = append(got, strings.ReplaceAll(msg.Subject, "%20", " "))
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s gave %q, want %q", name, got, c.want)
		}
	}
}

func contains(data []byte, s string) bool {
	for i := range len(data) - len(s) + 1 {
		if string(data[i:i+len(s)]) == s {
			return true
		}
	}
	return false
}

func TestSubscribeDeliversWhatThePatternSelects(t *testing.T) {
	f := open(t, t.TempDir(), "")
	got := make(chan json.RawMessage, 1000)
	stop, err := f.Subscribe(wire.Selection{Patterns: []point.Pattern{"campus/*/ahu/temp"}}, func(m json.RawMessage) { got <- m })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	p := f.NewPublisher()
	publishUntil(t, p, scanOf("campus/b1/ahu", "temp"), got)
	for _, s := range []*point.Scan{scanOf("campus/b1/zone", "temp"), scanOf("other", "temp"), scanOf("campus/b2/ahu", "temp", "fan")} {
		if err := p.Publish(s, bus.Forms{Scan: true}); err != nil {
			t.Fatal(err)
		}
	}
	for m := range got {
		s, err := wire.ParseScan(m)
		if err != nil {
			t.Fatal(err)
		}
		if s.Device == "campus/b1/ahu" {
			continue
		}
		if s.Device != "campus/b2/ahu" || len(s.Points) != 1 || s.Points["temp"] == nil {
			t.Errorf("got the message %s", m)
		}
		return
	}
}

// publishUntil publishes the scan until it arrives: subscriptions are asynchronous.
func publishUntil(t *testing.T, p *bus.Publisher, s *point.Scan, got <-chan json.RawMessage) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-got:
			return
		case <-tick.C:
			if err := p.Publish(s, bus.Forms{Scan: true}); err != nil {
				t.Fatal(err)
			}
		case <-t.Context().Done():
			t.Fatal("the scan never arrives")
		}
	}
}

func TestNothingIsDeliveredAfterStop(t *testing.T) {
	f := open(t, t.TempDir(), "")
	p := f.NewPublisher()
	first, second := make(chan json.RawMessage, 1000), make(chan json.RawMessage, 1000)
	stopped := false
	stop, err := f.Subscribe(wire.Selection{}, func(m json.RawMessage) {
		if stopped {
			t.Error("a message is delivered after stop")
		}
		first <- m
	})
	if err != nil {
		t.Fatal(err)
	}
	publishUntil(t, p, scanOf("d", "p"), first)
	stop()
	stopped = true
	stop, err = f.Subscribe(wire.Selection{}, func(m json.RawMessage) { second <- m })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	publishUntil(t, p, scanOf("d", "p"), second)
}

func TestOpenSaysWhatToDoWhenThePortIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = bus.Open(bus.Config{Name: "n", Dir: t.TempDir(), Listen: l.Addr().String(), Key: newKey(t), Log: slog.New(slog.DiscardHandler)})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("error is %v, want a conflict", err)
	}
}

func TestAClientListensFromOutside(t *testing.T) {
	b := open(t, t.TempDir(), "127.0.0.1:0")
	c, err := peer.Dial(b.Addr(), b.client, b.reader, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got := make(chan string, 1)
	if err := c.Listen("live.>", 0, func(subject string, _ []byte) { got <- subject }); err != nil {
		t.Fatal(err)
	}
	if err := b.NewPublisher().Publish(scanOf("a/b", "x"), bus.Forms{Scan: true}); err != nil {
		t.Fatal(err)
	}
	if subject := <-got; subject != wire.Subject(wire.ScanPrefix, "a/b") {
		t.Error(subject)
	}
}

func TestAttackAStrangerCannotDial(t *testing.T) {
	b := open(t, t.TempDir(), "127.0.0.1:0")
	if _, err := peer.Dial(b.Addr(), b.client, newKey(t), func(error) {}); fault.KindOf(err) != fault.Unreachable {
		t.Errorf("error %v, want unreachable", err)
	}
}

// A server that gives up while it starts says why, and at once: nobody waits for what never comes.
func TestABusThatCannotStartSaysWhy(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "jetstream"), nil, 0o600); err != nil { // where its folder should be
		t.Fatal(err)
	}
	_, err := bus.Open(bus.Config{
		Name: "node", Dir: dir, Key: newKey(t), Log: slog.New(slog.DiscardHandler),
		Admit: func(string) (permit.Permit, bool) { return permit.Permit{}, false },
	})
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "the bus cannot start: ") || !strings.Contains(err.Error(), "storage directory") {
		t.Errorf("the bus says %v", err)
	}
}
