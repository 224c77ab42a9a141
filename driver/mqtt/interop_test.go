package mqtt_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"
	"go.uber.org/goleak"

	"voltbus/driver"
	"voltbus/driver/drivertest"
	"voltbus/driver/mqtt"
	"voltbus/point"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const timeout = time.Second

// files reads files by their whole names.
type files struct{}

func (files) ReadFile(name string, _ int64) ([]byte, error) { return os.ReadFile(name) }

// config is a device with a sensor and a valve behind a broker.
func config(t *testing.T, address, ca string) driver.Config {
	t.Helper()
	c := mqtt.NewConfig()
	c.Address, c.Timeout = address, timeout
	if ca != "" {
		c.TLS, c.CA, c.ServerName = true, ca, "localhost"
	}
	c.Values = []mqtt.Point{
		{Name: "temperature", Topic: "plant/sensor", Format: "json", From: "t.air", Unit: "degC"},
		{Name: "humidity", Topic: "plant/sensor", Format: "json", Unit: "%", Scale: 0.1},
		{Name: "mode", Topic: "plant/mode", Type: "text"},
		{Name: "pump", Topic: "plant/pump", Type: "bool", On: []string{"run"}, Off: []string{"stop"}},
		{Name: "setpoint", Topic: "plant/setpoint", Unit: "degC", Set: "plant/setpoint", Retain: true},
		{Name: "silent", Topic: "plant/silent"},
	}
	if problems := append(c.Load(files{}), c.Validate()...); len(problems) > 0 {
		t.Fatal(problems)
	}
	return c
}

// publisher is a client of another project.
func publisher(t *testing.T, address string) func(topic, payload string) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	c := paho.NewClient(paho.ClientConfig{Conn: packets.NewThreadSafeConn(conn)})
	if _, err := c.Connect(t.Context(), &paho.Connect{ClientID: "plant", CleanStart: true, KeepAlive: 60}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(&paho.Disconnect{}) })
	return func(topic, payload string) {
		t.Helper()
		if _, err := c.Publish(context.WithoutCancel(t.Context()), &paho.Publish{Topic: topic, Payload: []byte(payload), QoS: 1, Retain: true}); err != nil {
			t.Fatal(err)
		}
	}
}

// certificate makes a certificate for localhost that is its own authority.
func certificate(t *testing.T) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret})
}

func TestTheDriverKeepsItsContractWithMosquitto(t *testing.T) {
	cert, key := certificate(t)
	broker := peers.StartMosquitto(t, cert, key)
	for name, way := range map[string]struct{ address, ca string }{"plain": {broker.Addr, ""}, "TLS": {broker.Secure, broker.CA}} {
		t.Run(name, func(t *testing.T) { conform(t, broker.Addr, way.address, way.ca) })
	}
}

func conform(t *testing.T, plain, address, ca string) {
	t.Helper()
	publish := publisher(t, plain)
	for topic, payload := range map[string]string{
		"plant/sensor": `{"t":{"air":21.5},"humidity":405}`, "plant/mode": "eco", "plant/pump": "run", "plant/setpoint": "20",
	} {
		publish(topic, payload)
	}
	reported := 0
	drivertest.Run(t, drivertest.Harness{
		Kind:   mqtt.Kind(),
		Config: func(t *testing.T, address string) driver.Config { return config(t, address, ca) },
		Want: map[string]point.Value{
			"temperature": point.FloatOf(21.5), "humidity": point.FloatOf(40.5), "mode": point.TextOf("eco"), "pump": point.BoolOf(true),
		},
		Bad:  map[string]point.Quality{"silent": point.BadTimeout},
		Peer: address,
		Absent: func(t *testing.T) driver.Config {
			return config(t, net.JoinHostPort("127.0.0.1", peers.FreePort(t)), ca)
		},
		Timeout: timeout,
		Reporting: func(t *testing.T, address string) driver.Config {
			return config(t, address, ca)
		},
		Report: func(*testing.T) (string, point.Value) {
			reported++
			publish("plant/sensor", fmt.Sprintf(`{"t":{"air":%d},"humidity":405}`, reported))
			return "temperature", point.FloatOf(float64(reported))
		},
		Writable: "setpoint", Value: point.FloatOf(23.5), ReadOnly: "temperature", TooMuch: point.TextOf("warm"),
	})
}

func TestEachProblemOfAConfigurationIsSaid(t *testing.T) {
	c := mqtt.NewConfig()
	c.Timeout = 0
	c.CA = filepath.Join(t.TempDir(), "none.pem")
	c.Values = []mqtt.Point{{Name: "a", Topic: "x/+"}, {Name: "a", Topic: "y"}, {Name: "b", Topic: "y"}, {Name: "c", Topic: "z", Format: "xml"}, {Name: "d", Topic: "q", Set: "q/#"}}
	var text strings.Builder
	for _, p := range append(c.Load(files{}), c.Validate()...) {
		text.WriteString(p.Error() + "\n")
	}
	for _, want := range []string{
		"address: is missing", "timeout:", "tls: is off", "ca:", `points[0].topic: "x/+" is not a topic`, `points[1].name: "a" is there already`, `points[2].topic: "y" has a payload`,
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not said in\n%s", want, text.String())
		}
	}
}

func TestASilentTopicTurnsStale(t *testing.T) {
	broker := peers.StartMosquitto(t, nil, nil)
	publisher(t, broker.Addr)("plant/mode", "eco")
	c, is := config(t, broker.Addr, "").(*mqtt.Config)
	if !is {
		t.Fatal("another configuration")
	}
	c.StaleAfter = time.Nanosecond
	line, err := mqtt.Kind().Dial(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	s, err := line.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := s.Read(t.Context(), []string{"mode"})
	if err != nil || samples[0].Quality != point.BadStale || samples[0].Value.Kind() != point.None {
		t.Errorf("got %v, %v", samples, err)
	}
}
