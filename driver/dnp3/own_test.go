package dnp3

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
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/internal/folder"
	"voltbus/point"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
	"voltbus/testing/peers"
)

// device is an outstation of our own library.
type device struct {
	*outstation.Outstation

	confirm time.Duration // how long it waits for a confirmation; 0 for the library's
	hub     *channel.Hub
	ctx     context.Context //nolint:containedctx // ends with the test
	running *sync.WaitGroup
}

// newDevice makes an outstation with the values of the foreign one, and more.
func newDevice(t testing.TB) *device {
	t.Helper()
	binary := outstation.PointConfig{Kind: object.KindBinaryInput, Class: app.Class1, Initial: object.Bool(true)}
	points := []outstation.PointConfig{
		binary,
		{Kind: object.KindBinaryInput, Index: 3, Class: app.Class1},
		{Kind: object.KindDoubleBitInput, Index: 1, Class: app.Class1},
		{Kind: object.KindAnalogInput, Index: 0, Class: app.Class2},
		{Kind: object.KindAnalogInput, Index: 2, Class: app.Class2, Static: object.G30V5, Event: object.G32V7},
		{Kind: object.KindCounter, Index: 1, Class: app.Class3},
		{Kind: object.KindBinaryOutput, Index: 1, Class: app.Class2},
		{Kind: object.KindAnalogOutput, Index: 2, Class: app.Class2},
		{Kind: object.KindFrozenCounter, Index: 7},
		{Kind: object.KindFrozenAnalog, Index: 7},
		{Kind: object.KindOctetString, Index: 5, NotInClass0: true},
	}
	o, err := outstation.New(outstation.Config{Points: points, Callbacks: outstation.Callbacks{
		Operate: func(tx *outstation.Tx, c outstation.Command) object.Status {
			if c.Kind == object.KindBinaryCommand {
				on := c.CROB.Code.Operation() == object.OpLatchOn
				tx.Set(object.KindBinaryOutput, object.Point{Index: c.Index, Value: object.Bool(on), Flags: object.FlagOnline}, outstation.Detect)
			}
			return object.StatusSuccess
		},
		SetTime: func(time.Time) bool { return true },
	}})
	if err != nil {
		t.Fatal(err)
	}
	o.Update(func(tx *outstation.Tx) {
		set := func(kind object.Kind, index uint32, v object.Value) {
			tx.Set(kind, object.Point{Index: index, Value: v, Flags: object.FlagOnline}, outstation.Suppress)
		}
		set(object.KindBinaryInput, 0, object.Bool(true))
		set(object.KindBinaryInput, 3, object.Bool(false))
		set(object.KindDoubleBitInput, 1, object.Double(object.DeterminedOn))
		set(object.KindAnalogInput, 0, object.Signed(1234))
		set(object.KindAnalogInput, 2, object.Float(-20))
		set(object.KindCounter, 1, object.Unsigned(4_000_000_000))
		set(object.KindBinaryOutput, 1, object.Bool(false))
		set(object.KindAnalogOutput, 2, object.Signed(5))
		set(object.KindFrozenCounter, 7, object.Unsigned(77))
		set(object.KindFrozenAnalog, 7, object.Float(0.5))
		tx.SetString(5, []byte("relay \x01\xffseven\x00\x00"), outstation.Suppress)
	})
	d := &device{Outstation: o, hub: channel.NewHub(channel.HubConfig{}), running: &sync.WaitGroup{}}
	ctx, cancel := context.WithCancel(t.Context())
	d.ctx = ctx
	t.Cleanup(func() {
		cancel()
		d.running.Wait()
	})
	d.running.Go(func() { _ = d.hub.Run(ctx) })
	return d
}

// port gives the device an address.
func (d *device) port(t testing.TB, address link.Address) *station.Port {
	t.Helper()
	session, err := d.Session(outstation.SessionConfig{Master: 1, Unsolicited: true, ConfirmTimeout: d.confirm})
	if err != nil {
		t.Fatal(err)
	}
	port, err := station.NewPort(station.Config{Local: address, Remote: 1}, session)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// listen serves the device to masters, and returns where.
func (d *device) listen(t testing.TB, secure *tls.Config, addresses ...link.Address) string {
	t.Helper()
	var ports []*station.Port
	for _, a := range addresses {
		ports = append(ports, d.port(t, a))
	}
	server, err := channel.NewServer(d.hub, channel.ServerConfig{Ports: ports})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := channel.Listen(t.Context(), "127.0.0.1:0", secure)
	if err != nil {
		t.Fatal(err)
	}
	d.running.Go(func() { _ = server.Run(d.ctx, listener) })
	return listener.Addr().String()
}

// dial has the device reach its master, until the returned function is called.
func (d *device) dial(t *testing.T, dialer channel.Dialer, address link.Address) (hangUp func()) {
	t.Helper()
	client, err := channel.NewClient(d.hub, channel.ClientConfig{
		Dial: dialer, Ports: []*station.Port{d.port(t, address)}, RetryMin: 10 * time.Millisecond, RetryMax: 100 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(d.ctx)
	ended := make(chan struct{})
	d.running.Go(func() {
		defer close(ended)
		_ = client.Run(ctx)
	})
	return func() {
		cancel()
		<-ended
	}
}

func TestDriverConformsAgainstOurOwnOutstation(t *testing.T) {
	d := newDevice(t)
	conforms(t, d.listen(t, nil, 10), "denied", func(raw int) { d.event(0, object.Signed(int64(raw)), object.TimestampOf(time.Now())) })
}

// event is a change at the device, at its own time.
func (d *device) event(index uint32, v object.Value, at object.Timestamp) {
	d.Update(func(tx *outstation.Tx) {
		tx.Set(object.KindAnalogInput, object.Point{Index: index, Value: v, Flags: object.FlagOnline, Time: at}, outstation.Force)
	})
}

func TestEventsArriveWithTheDevicesTime(t *testing.T) {
	at := time.Now().UTC().Add(-24 * time.Hour).Truncate(time.Second).Add(89 * time.Millisecond)
	longAgo, ahead := time.Date(1970, 1, 9, 0, 0, 0, 0, time.UTC), time.Now().Add(48*time.Hour)
	for name, c := range map[string]struct {
		clock   string
		asks    bool // the device asks for the time
		at      time.Time
		own     bool // the sample has the device's time
		quality point.Quality
	}{
		"as the device says":                             {clockDevice, false, at, true, point.Good},
		"uncertain while the device asks for the time":   {clockDevice, true, at, true, point.UncertainClock},
		"trusted all the same if the configuration says": {clockTrust, true, at, true, point.Good},
		"when they arrived if the configuration says":    {clockReceived, false, at, false, point.Good},
		"when they arrived if the clock was never set":   {clockDevice, false, longAgo, false, point.UncertainClock},
		"when they arrived if the clock runs ahead":      {clockTrust, false, ahead, false, point.UncertainClock},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDevice(t)
			s := connect(t, config(t, d.listen(t, nil, 10), values, func(config *Config) { config.Clock = c.clock }))
			await(t, s, "the first value", named("voltage", point.Good))
			if c.asks {
				d.Indicate(app.IINNeedTime, 0)
			}
			d.event(2, object.Float(42), object.TimestampOf(c.at))
			got := await(t, s, "the event", func(p point.Sample) bool { return p.Value == point.FloatOf(42) })
			if got.Time.Equal(c.at) != c.own || got.Quality != c.quality {
				t.Errorf("the event is at %v, %v; want the device's %v: %v, and %v", got.Time, got.Quality, c.at, c.own, c.quality)
			}
		})
	}
}

func TestEveryTypeOfPointIsRead(t *testing.T) {
	s := connect(t, config(t, newDevice(t).listen(t, nil, 10), `
- {name: frozen, group: 21, index: 7, scale: 0.5}
- {name: mean, type: frozen_analog, index: 7}
- {name: text, type: octet_string, index: 5}
- {name: isolator, group: 4, variation: 2, index: 1}
`))
	samples, err := s.Read(t.Context(), []string{"frozen", "mean", "text", "isolator"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []point.Value{point.FloatOf(38.5), point.FloatOf(1), point.TextOf("relay \x01\uFFFDseven"), point.IntOf(2)} {
		if samples[i].Value != want || samples[i].Quality != point.Good {
			t.Errorf("%s is %q, %v; want %q", samples[i].Point, samples[i].Value, samples[i].Quality, want)
		}
	}
}

func TestSeveralDevicesShareALine(t *testing.T) {
	d := newDevice(t)
	address := d.listen(t, nil, 10, 11, 12)
	first := connect(t, config(t, address, values, func(c *Config) { c.OneAtATime = true }))
	for _, outstation := range []int{11, 12} {
		other := openOn(t, first.line, config(t, address, values, func(c *Config) { c.OneAtATime, c.Outstation = true, outstation }))
		await(t, other, "a value of the other device", named("voltage", point.Good))
	}
	await(t, first, "a value", named("voltage", point.Good))
	d.event(2, object.Float(42), object.TimestampOf(time.Now()))
	await(t, first, "the event", func(p point.Sample) bool { return p.Value == point.FloatOf(42) })
	if _, err := first.line.Open(t.Context(), config(t, address, values, func(c *Config) { c.Outstation = 13 })); fault.KindOf(err) != fault.Invalid {
		t.Errorf("another setting of the line gives %v", err)
	}
	if _, err := first.line.Open(t.Context(), config(t, address, values, func(c *Config) { c.OneAtATime, c.Retries = true, 9 })); fault.KindOf(err) != fault.Invalid {
		t.Errorf("another setting of the same outstation gives %v", err)
	}
}

// listening opens a line that devices dial, with the session of outstation 10.
func listening(t *testing.T, change func(*Config)) (*session, string) {
	t.Helper()
	c := config(t, "127.0.0.1:0", values, func(c *Config) { c.Transport = transportListen }, change)
	s := connect(t, c)
	return s, s.line.accepts.Addr().String()
}

func TestDevicesThatDialInAreFoundByTheirAddress(t *testing.T) {
	s, address := listening(t, func(*Config) {})
	if _, err := s.Read(t.Context(), []string{"power"}); fault.KindOf(err) != fault.Unreachable || errors.Is(err, driver.ErrNotConnected) {
		t.Errorf("before the device dials, a read gives %v", err)
	}
	second := openOn(t, s.line, config(t, "127.0.0.1:0", values, func(c *Config) { c.Transport, c.Outstation = transportListen, 11 }))
	ten, eleven := newDevice(t), newDevice(t)
	hangUp := ten.dial(t, channel.DialTCP(address, nil), 10)
	eleven.dial(t, channel.DialTCP(address, nil), 11)
	await(t, s, "a value of device 10", named("voltage", point.Good))
	await(t, second, "a value of device 11", named("voltage", point.Good))
	ten.event(2, object.Float(42), object.TimestampOf(time.Now()))
	await(t, s, "the event", func(p point.Sample) bool { return p.Value == point.FloatOf(42) })

	hangUp()
	if err := listen(t.Context(), s, []string{"voltage"}, func(point.Sample) {}); fault.KindOf(err) != fault.Unreachable || errors.Is(err, driver.ErrNotConnected) {
		t.Errorf("when the device hangs up, a subscription gives %v", err)
	}
	if _, err := second.Read(t.Context(), []string{"voltage"}); err != nil {
		t.Errorf("the other device gives %v", err)
	}
	ten.event(2, object.Float(43), object.TimestampOf(time.Now()))
	ten.dial(t, channel.DialTCP(address, nil), 10)
	await(t, s, "the value after the device dialled again", func(p point.Sample) bool { return p.Value == point.FloatOf(43) })
}

func TestADeviceFromAnAddressThatIsNotAllowedIsTurnedAwayAndNamed(t *testing.T) {
	s, address := listening(t, func(c *Config) { c.Allow = []string{"10.0.0.0/8", "192.168.1.5"} })
	stranger, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Close() }()
	if n, err := stranger.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes came", n)
	}
	_, err = s.Read(t.Context(), []string{"power"})
	if fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), "an address that allow does not hold came from 127.0.0.1") {
		t.Errorf("a read gives %v", err)
	}

	allowed, address := listening(t, func(c *Config) { c.Allow = []string{"10.0.0.0/8", "127.0.0.1"} })
	newDevice(t).dial(t, channel.DialTCP(address, nil), 10)
	await(t, allowed, "a value", named("voltage", point.Good))
}

func TestADeviceIsReachedByItsSecondAddress(t *testing.T) {
	listener, err := channel.Listen(t.Context(), "127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	deaf := listener.Addr().String()
	_ = listener.Close()
	second := newDevice(t).listen(t, nil, 10)
	s := connect(t, config(t, deaf, values, func(c *Config) { c.Alternatives = []string{deaf, second} }))
	await(t, s, "a value", named("voltage", point.Good))

	c := config(t, deaf, values, func(c *Config) { c.Alternatives = []string{"127.0.0.1:1"} })
	_, err = Kind().Dial(t.Context(), c)
	if fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), deaf) || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("when none answers, dialling gives %v", err)
	}
}

func TestANewConnectionOfADeviceReplacesItsOldOne(t *testing.T) {
	s, address := listening(t, func(*Config) {})
	old := newDevice(t)
	old.dial(t, channel.DialTCP(address, nil), 10)
	await(t, s, "a value by the first connection", named("voltage", point.Good))
	fresh := newDevice(t)
	fresh.event(2, object.Float(42), object.TimestampOf(time.Now()))
	fresh.dial(t, channel.DialTCP(address, nil), 10)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	seen := false
	for !seen && ctx.Err() == nil { // the old connection's end is reported in between
		_ = listen(ctx, s, []string{"voltage"}, func(p point.Sample) {
			if seen = seen || p.Value == point.FloatOf(42); seen {
				cancel()
			}
		})
	}
	if !seen {
		t.Error("the value of the new connection never came")
	}
}

func TestADeviceIsReachedOverASerialLine(t *testing.T) {
	near, far, cut := peers.SerialLine(t)
	d := newDevice(t)
	set := NewConfig().serial()
	set.device = far
	d.dial(t, func(context.Context) (io.ReadWriteCloser, error) { return openSerial(set) }, 10)
	s := connect(t, config(t, near, values, func(c *Config) { c.Transport, c.Parity = transportSerial, "even" }))
	await(t, s, "a value over the serial line", named("voltage", point.Good))
	cut()
	if _, err := s.Read(t.Context(), []string{"voltage"}); !errors.Is(err, driver.ErrNotConnected) {
		t.Errorf("after the cable was cut, a read gives %v", err)
	}
	if _, err := Kind().Dial(t.Context(), config(t, "/dev/null/none", values, func(c *Config) { c.Transport = transportSerial })); !errors.Is(err, driver.ErrNotConnected) {
		t.Errorf("a port that is not there gives %v", err)
	}
}

func TestADeviceIsReachedOverUDP(t *testing.T) {
	local, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	master, remote := "127.0.0.1:"+peers.FreePort(t), local.LocalAddr().String()
	_ = local.Close()
	newDevice(t).dial(t, channel.DialUDP(remote, master), 10)
	s := connect(t, config(t, remote, values, func(c *Config) { c.Transport, c.LocalAddress, c.Retries = transportUDP, master, 10 }))
	await(t, s, "a value over UDP", named("voltage", point.Good))
}

// authority makes certificates for a test.
type authority struct {
	dir string
	key *ecdsa.PrivateKey
	own *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	a.key, a.own = a.make(t, "ca", true, time.Now().Add(time.Hour))
	return a
}

// make writes NAME.pem and NAME.key.
func (a *authority) make(t *testing.T, name string, isAuthority bool, until time.Time) (*ecdsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: until.Add(-48 * time.Hour), NotAfter: until, IsCA: isAuthority, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	parent, signer := a.own, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{".pem": {Type: "CERTIFICATE", Bytes: der}, ".key": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(a.dir, name+file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return key, made
}

// tls names the files of a certificate.
func (a *authority) tls(name, other string) TLS {
	at := func(file string) string { return filepath.Join(a.dir, file) }
	return TLS{Certificate: at(name + ".pem"), Key: at(name + ".key"), CA: at("ca.pem"), Name: other}
}

func TestASecuredLineNeedsTheRightCertificates(t *testing.T) {
	right, wrong := newAuthority(t), newAuthority(t)
	for _, a := range []*authority{right, wrong} {
		a.make(t, "master", false, time.Now().Add(time.Hour))
		a.make(t, "device", false, time.Now().Add(time.Hour))
		a.make(t, "expired", false, time.Now().Add(-time.Hour))
	}
	for name, c := range map[string]struct {
		master, device TLS
		why            string // of the failure, "" for none
	}{
		"both right":                             {right.tls("master", "device"), right.tls("device", ""), ""},
		"any name of the authority":              {right.tls("master", "-"), right.tls("device", ""), ""},
		"another name":                           {right.tls("master", "relay"), right.tls("device", ""), "not relay"},
		"the device's of another authority":      {right.tls("master", "-"), wrong.tls("device", ""), "unknown authority"},
		"the device's expired":                   {right.tls("master", "-"), right.tls("expired", ""), "expired"},
		"the master's is of another authority":   {mixed(wrong, right), right.tls("device", ""), "bad certificate|unknown certificate authority|reset|closed"},
		"the master's expired, the device's not": {right.tls("expired", "device"), right.tls("device", ""), "bad certificate|expired|reset|closed"},
	} {
		t.Run(name, func(t *testing.T) {
			if problems := c.device.load(folder.Any("")); len(problems) > 0 {
				t.Fatal(errors.Join(problems...))
			}
			address := newDevice(t).listen(t, c.device.server(), 10)
			config := config(t, address, values, func(config *Config) { config.TLS = c.master })
			err := try(t, config)
			if c.why == "" && err != nil {
				t.Errorf("got %v", err)
			}
			if c.why != "" && (!errors.Is(err, driver.ErrNotConnected) || !containsAny(err.Error(), c.why)) {
				t.Errorf("got %v, want ErrNotConnected because of %s", err, c.why)
			}
		})
	}
}

// mixed is a certificate of one authority, with trust in another.
func mixed(of, trusting *authority) TLS {
	t := of.tls("master", "device")
	t.CA = filepath.Join(trusting.dir, "ca.pem")
	return t
}

func containsAny(s, words string) bool {
	for word := range strings.SplitSeq(words, "|") {
		if strings.Contains(s, word) {
			return true
		}
	}
	return false
}

// try dials and reads once.
func try(t *testing.T, c *Config) error {
	t.Helper()
	l, err := Kind().Dial(t.Context(), c)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	_, err = openOn(t, l, c).Read(t.Context(), []string{"voltage"})
	return err
}
