package channel_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
)

// certificate returns a key with a certificate for loopback, and the pool that trusts it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	return certificateUntil(t, time.Now().Add(time.Hour))
}

func certificateUntil(t *testing.T, end time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: end.Add(-2 * time.Hour), NotAfter: end,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func TestEventsArriveOverMutualTLSAndStrangersAreTurnedAway(t *testing.T) {
	s := newSite(t, 0)
	ours, trusted := certificate(t)
	stranger, _ := certificate(t)
	listener, err := channel.Listen(s.ctx, "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{ours}, ClientCAs: trusted, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13,
	})
	if err != nil {
		t.Fatal(err)
	}
	o, there := s.outstation(10)
	s.serve(listener, there)
	address := listener.Addr().String()

	wrong, err := tls.Dial("tcp", address, &tls.Config{
		Certificates: []tls.Certificate{stranger}, RootCAs: trusted, MinVersion: tls.VersionTLS13,
	})
	if err == nil {
		if _, err = wrong.Read(make([]byte, 1)); err == nil {
			t.Error("a stranger was served")
		}
		_ = wrong.Close()
	}

	_, handler, here := s.master(10)
	s.dial(channel.DialTCP(address, &tls.Config{
		Certificates: []tls.Certificate{ours}, RootCAs: trusted, MinVersion: tls.VersionTLS13,
	}), here)
	report(o, 7)
	expect(t, handler, 7)
}

func TestAnExpiredCertificateIsRefusedAndSaidSo(t *testing.T) {
	s := newSite(t, 0)
	expired, trusted := certificateUntil(t, time.Now().Add(-time.Minute))
	listener, err := channel.Listen(s.ctx, "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{expired}, MinVersion: tls.VersionTLS13,
	})
	if err != nil {
		t.Fatal(err)
	}
	_, there := s.outstation(10)
	s.serve(listener, there)
	_, _, here := s.master(10)
	refused := make(chan error, 100)
	client, err := channel.NewClient(s.hub, channel.ClientConfig{
		Dial:  channel.DialTCP(listener.Addr().String(), &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS13}),
		Ports: []*station.Port{here}, RetryMin: 10 * time.Millisecond,
		Notify: func(state channel.State) { refused <- state.Err },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.start(client.Run)
	var invalid x509.CertificateInvalidError
	select {
	case err := <-refused:
		if !errors.As(err, &invalid) || invalid.Reason != x509.Expired {
			t.Errorf("the error is %v", err)
		}
	case <-time.After(patience):
		t.Fatal("nobody said anything")
	}
}

func TestAUDPSocketStaysOpenWhileItsPeerIsAway(t *testing.T) {
	peer, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := peer.LocalAddr().String()
	stream, err := channel.DialUDP("", address)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	if err := peer.Close(); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if n, err := stream.Write([]byte("is anybody there?")); n != 17 || err != nil {
			t.Fatalf("%d octets, %v", n, err)
		}
	}
	if peer, err = (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", address); err != nil {
		t.Skip("another program has taken the port")
	}
	defer func() { _ = peer.Close() }()
	if _, err := stream.Write([]byte("now?")); err != nil {
		t.Fatal(err)
	}
	heard := make([]byte, 100)
	n, from, err := peer.ReadFrom(heard)
	if err != nil || string(heard[:n]) != "now?" {
		t.Fatalf("%q, %v", heard[:n], err)
	}
	if _, err := peer.WriteTo([]byte("yes"), from); err != nil {
		t.Fatal(err)
	}
	if n, err := stream.Read(heard); err != nil || string(heard[:n]) != "yes" {
		t.Errorf("%q, %v", heard[:n], err)
	}
}

func TestEventsArriveOverUDP(t *testing.T) {
	s := newSite(t, 0)
	var addresses [2]string
	for i := range addresses {
		socket, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addresses[i] = socket.LocalAddr().String()
		defer socket.Close()
		if err := socket.Close(); err != nil {
			t.Fatal(err)
		}
	}
	o, there := s.outstation(10)
	_, handler, here := s.master(10)
	<-s.dial(channel.DialUDP(addresses[0], addresses[1]), there)
	<-s.dial(channel.DialUDP(addresses[1], addresses[0]), here)
	report(o, 7)
	expect(t, handler, 7)
}

func TestAUDPSocketServesManyPeersInEitherRole(t *testing.T) {
	s := newSite(t, 0)
	open := func() net.Listener {
		listener, err := channel.ListenUDP(t.Context(), "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return listener
	}
	outstations, masters := open(), open()
	first, there := s.outstation(10)
	second, alsoThere := s.outstation(11)
	s.serve(outstations, there, alsoThere)
	for address, o := range map[link.Address]*outstation.Outstation{10: first, 11: second} {
		_, handler, here := s.master(address)
		<-s.dial(channel.DialUDP("", outstations.Addr().String()), here)
		report(o, int64(address))
		expect(t, handler, int64(address))
	}
	third, calling := s.outstation(12)
	_, handler, here := s.master(12)
	s.serve(masters, here)
	<-s.dial(channel.DialUDP("", masters.Addr().String()), calling)
	report(third, 12)
	expect(t, handler, 12)
}

// pipe is a dialer whose far ends go to a channel.
func pipe(far chan<- net.Conn) channel.Dialer {
	return func(ctx context.Context) (io.ReadWriteCloser, error) {
		here, there := net.Pipe()
		select {
		case far <- there:
			return here, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// quietMaster returns a port whose master does nothing by itself but keep the line alive.
func quietMaster(t *testing.T, alive time.Duration) *station.Port {
	t.Helper()
	a, err := master.New(master.Config{Outstation: 10}, points{make(chan object.Point, 1)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := station.NewPort(station.Config{Local: 1, Remote: 10, Master: true, KeepAlive: alive}, a)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestASilentPeerIsAskedForItsLinkStatusAndThenDialedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		hub := channel.NewHub(channel.HubConfig{})
		far := make(chan net.Conn)
		client, err := channel.NewClient(hub, channel.ClientConfig{
			Dial: pipe(far), Ports: []*station.Port{quietMaster(t, time.Minute)},
		})
		if err != nil {
			t.Fatal(err)
		}
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		running.Go(func() { _ = hub.Run(ctx) })
		running.Go(func() { _ = client.Run(ctx) })
		start := time.Now()
		for range 2 {
			peer := <-far
			question := make([]byte, 100)
			n, err := peer.Read(question)
			if err != nil || n != 10 || question[3] != 0xC9 {
				t.Fatalf("%v after %v: % X", err, time.Since(start), question[:n])
			}
			if _, err := peer.Read(question); err == nil {
				t.Error("the line stays open though the peer does not answer")
			}
			_ = peer.Close()
		}
		if d := time.Since(start).Round(time.Second); d < 2*65*time.Second || d > 2*67*time.Second {
			t.Errorf("two rounds took %v", d)
		}
	})
}

func TestAnEventIsReportedOnceThoughTheLineBreaksBeforeItsConfirmation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		hub := channel.NewHub(channel.HubConfig{})
		o, err := outstation.New(outstation.Config{Points: []outstation.PointConfig{{Kind: object.KindAnalogInput, Class: app.Class1}}})
		if err != nil {
			t.Fatal(err)
		}
		session, err := o.Session(outstation.SessionConfig{Master: 1, Unsolicited: true})
		if err != nil {
			t.Fatal(err)
		}
		there, err := station.NewPort(station.Config{Local: 10, Remote: 1}, session)
		if err != nil {
			t.Fatal(err)
		}
		handler := points{make(chan object.Point, 100)}
		a, err := master.New(master.Config{Outstation: 10, Enable: app.EventClasses}, handler)
		if err != nil {
			t.Fatal(err)
		}
		here, err := station.NewPort(station.Config{Local: 1, Remote: 10, Master: true}, a)
		if err != nil {
			t.Fatal(err)
		}
		lines := &breaking{}
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		running.Go(func() { _ = hub.Run(ctx) })
		for side, port := range []*station.Port{here, there} {
			client, err := channel.NewClient(hub, channel.ClientConfig{Dial: lines.end(side), Ports: []*station.Port{port}})
			if err != nil {
				t.Fatal(err)
			}
			running.Go(func() { _ = client.Run(ctx) })
		}
		for n := range int64(20) {
			time.AfterFunc(time.Duration(n)*time.Second, func() { report(o, n) })
		}
		timer := time.NewTimer(10 * time.Minute)
		<-timer.C
		if n := len(handler.arrived); n != 20 {
			t.Errorf("%d of 20 events arrived", n)
		}
		if lines.broken < 5 {
			t.Errorf("the line broke %d times only", lines.broken)
		}
	})
}

// breaking joins two clients by lines that break on every third confirmation of a report.
type breaking struct {
	mu       sync.Mutex
	waiting  [2]chan net.Conn
	confirms int
	broken   int
}

// end dials from one side; both sides must dial to get a line.
func (b *breaking) end(side int) channel.Dialer {
	return func(ctx context.Context) (io.ReadWriteCloser, error) {
		b.mu.Lock()
		mine := b.waiting[side]
		b.waiting[side] = nil
		if mine == nil {
			mine = make(chan net.Conn, 1)
			b.waiting[1-side] = mine
			b.mu.Unlock()
			select {
			case c := <-mine:
				return b.wrap(side, c), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		b.mu.Unlock()
		here, there := net.Pipe()
		mine <- there
		return b.wrap(side, here), nil
	}
}

func (b *breaking) wrap(side int, c net.Conn) net.Conn {
	buffered := newBuffered(c)
	if side == 0 {
		return &fragile{buffered, b}
	}
	return buffered
}

// buffered is an end of a pipe whose writes, like those of a socket, do not wait for the reader.
type buffered struct {
	net.Conn

	queue chan []byte

	mu     sync.Mutex
	closed bool
}

func newBuffered(c net.Conn) *buffered {
	b := &buffered{Conn: c, queue: make(chan []byte, 1000)}
	go func() { // ends with Close
		for p := range b.queue {
			_, _ = c.Write(p)
		}
	}()
	return b
}

func (b *buffered) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, io.ErrClosedPipe
	}
	b.queue <- append([]byte(nil), p...)
	return len(p), nil
}

func (b *buffered) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		close(b.queue)
	}
	return b.Conn.Close()
}

// fragile is the master's end of a line.
type fragile struct {
	net.Conn

	line *breaking
}

func (f *fragile) Write(p []byte) (int, error) {
	const confirmation = 15 // octets of a frame with a confirmation
	f.line.mu.Lock()
	breaks := false
	if len(p) == confirmation && p[12] == 0 {
		f.line.confirms++
		if breaks = f.line.confirms%3 == 0; breaks {
			f.line.broken++
		}
	}
	f.line.mu.Unlock()
	if breaks {
		_ = f.Close()
		return 0, io.ErrClosedPipe
	}
	return f.Conn.Write(p)
}

func TestAStreamThatEndsTogetherWithItsLastOctetsIsNoticed(t *testing.T) {
	bothWays(t, aStreamThatEndsTogetherWithItsLastOctetsIsNoticed)
}

func aStreamThatEndsTogetherWithItsLastOctetsIsNoticed(t *testing.T, workers int) {
	t.Helper()
	s := newSite(t, workers)
	listener, err := channel.Listen(s.ctx, "127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, _, port := s.master(10)
	ended := make(chan error, 100)
	client, err := channel.NewClient(s.hub, channel.ClientConfig{
		Dial: channel.DialTCP(listener.Addr().String(), nil), Ports: []*station.Port{port}, RetryMin: 10 * time.Millisecond,
		Notify: func(state channel.State) {
			if !state.Online {
				ended <- state.Err
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.start(client.Run)
	for range 3 {
		peer, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := peer.Write([]byte{0x05, 0x64, 0x05}); err != nil {
			t.Fatal(err)
		}
		if err := peer.Close(); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if err == nil {
				t.Error("the stream ended without a reason")
			}
		case <-time.After(patience):
			t.Fatal("the client still listens to a stream that ended")
		}
	}
}
