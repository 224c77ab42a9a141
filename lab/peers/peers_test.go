package peers_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/lab/peers"
	"voltbus/lab/rig/scan"
	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
	testpeers "voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEveryBrokerThatIsHereDeliversWholeScrapes(t *testing.T) {
	t.Setenv("VOLTBUS_PEER_PYTHON", testpeers.Python(t))
	for _, b := range peers.Brokers() {
		t.Run(b.Name, func(t *testing.T) {
			if err := b.Find(); err != nil {
				t.Skip(err)
			}
			seen := 0
			scrapes, err := b.Run(t.Context(), &peers.Scrapes{
				Devices: 20, Points: 18, Listeners: 3, Scans: 2, Dir: t.TempDir(), Watch: func(scan.Scrape) { seen++ },
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(scrapes) != 2 || seen != 2 {
				t.Fatalf("%d scrapes, %d seen", len(scrapes), seen)
			}
			for _, s := range scrapes {
				if s.Mean <= 0 || s.Slowest < s.Mean {
					t.Errorf("%+v", s)
				}
			}
		})
	}
}

func TestEveryFleetBrokerThatIsHereLetsItsDevicesIn(t *testing.T) {
	for _, p := range peers.Fleets() {
		t.Run(p.Name, func(t *testing.T) {
			if err := p.Find(); err != nil {
				t.Skip(err)
			}
			b, err := p.Open(t.Context(), t.TempDir(), map[string]string{"device0": "first", "device1": "second"})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			}()
			if err := syscall.Kill(b.Process(), 0); err != nil {
				t.Errorf("its process %d: %v", b.Process(), err)
			}
			for password, let := range map[string]bool{"second": true, "first": false} {
				if got := enter(t, b, p.Old, "device1", password); got != let {
					t.Errorf("password %q: let in is %t", password, got)
				}
			}
		})
	}
}

// enter connects over TLS and reports whether the broker lets a device in and answers a message with QoS 1.
func enter(t *testing.T, b *peers.FleetBroker, old bool, name, password string) bool {
	t.Helper()
	ca, err := os.ReadFile(b.CA)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}}).DialContext(t.Context(), "tcp", b.Secure)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	connect := packet.Connect{Version: packet.V5, ClientID: []byte(name), CleanStart: true, UserName: []byte(name), Password: []byte(password)}
	if old {
		connect.Version = packet.V311
	}
	connected, answered := false, false
	c := session.NewClient(connect, session.Events{
		Connected: func(ack *packet.Connack) { connected = ack.Code == packet.Success },
		Answered:  func(_ uint16, code packet.Code) { answered = !code.Failed() },
	})
	out, err := c.Start(time.Now(), nil)
	for in := make([]byte, 4096); err == nil && !answered; {
		if _, err = conn.Write(out); err != nil {
			break
		}
		got, fail := conn.Read(in)
		if err = fail; err != nil {
			break
		}
		if out, err = c.Receive(time.Now(), in[:got], nil); err == nil && connected && c.Unanswered() == 0 && !answered {
			out, _, err = c.Publish(time.Now(), packet.Publish{Topic: []byte("fleet/1/c0"), QoS: 1, Payload: []byte("1")}, out)
		}
	}
	if connected && err != nil {
		t.Errorf("%s is let in, and its message has no answer: %v", name, err)
	}
	return answered
}
