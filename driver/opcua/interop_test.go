package opcua_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/driver"
	"voltbus/driver/drivertest"
	"voltbus/driver/opcua"
	"voltbus/driver/opcua/pointlist"
	"voltbus/point"
	"voltbus/protocol/opcua/client"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const timeout = time.Second

// files reads files by their whole names.
type files struct{}

func (files) ReadFile(name string, _ int64) ([]byte, error) { return os.ReadFile(name) }

// ready loads a configuration.
func ready(t *testing.T, c *opcua.Config) *opcua.Config {
	t.Helper()
	if problems := append(c.Load(files{}), c.Validate()...); len(problems) > 0 {
		t.Fatal(problems)
	}
	return c
}

// plant is the configuration of the peer's plant.
func plant(t *testing.T, address string, change func(*opcua.Config)) driver.Config {
	t.Helper()
	c := opcua.NewConfig()
	c.Endpoint, c.Timeout, c.Security, c.Sampling = "opc.tcp://"+address+"/plant", timeout, "none", 50*time.Millisecond
	for _, name := range []string{"Temperature", "Pressure", "Count", "Running", "Label", "Setpoint", "Small", "Locked", "Mode", "Missing"} {
		c.Registry.Entries = append(c.Registry.Entries, pointlist.Entry{Name: name, Node: "nsu=urn:plant;s=" + name})
	}
	list := c.Registry.Entries
	list[5].Writable, list[6].Writable, list[6].Type, list[7].Writable = "true", "true", "int", "true"
	list[8].Type, list[8].States, list[8].Writable = "text", "Off|Auto|Hand", "true"
	c.Registry.Entries = append(list, pointlist.Entry{Name: "level", Node: "nsu=urn:plant;s=Levels", Element: "1", Unit: "°C"})
	if change != nil {
		change(c)
	}
	return ready(t, c)
}

// paper is a certificate with its key in files.
type paper struct{ cert, key, fingerprint string }

func certificate(t *testing.T, valid time.Duration) paper {
	t.Helper()
	cert, key, err := client.NewCertificate("localhost", valid)
	if err != nil {
		t.Fatal(err)
	}
	p := paper{cert: filepath.Join(t.TempDir(), "cert.pem"), key: filepath.Join(t.TempDir(), "key.pem")}
	for name, data := range map[string][]byte{p.cert: cert, p.key: key} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	block, _ := pem.Decode(cert)
	p.fingerprint = client.Fingerprint(block.Bytes)
	return p
}

func TestTheDriverKeepsItsContractWithAsyncua(t *testing.T) {
	t.Parallel()
	peer := peers.OPCUA(t)
	conform(t, peer, nil)
	for name, run := range map[string]func(*testing.T, *peers.Process){
		"another type":   refusesAnotherType,
		"slow server":    survivesASlowServer,
		"status codes":   tellsStatusCodes,
		"survey":         makesARegistry,
		"reads by index": readsByIndex,
	} {
		t.Run(name, func(t *testing.T) { run(t, peer) })
	}
}

func TestTheDriverKeepsItsContractWithNodeOPCUA(t *testing.T) {
	t.Parallel()
	own := certificate(t, time.Hour)
	peer := peers.NodeOPCUA(t, "--certificates", t.TempDir(), "--user")
	offered := offers(t, peer.Addr)
	secured := func(policy, mode string) func(c *opcua.Config) {
		return func(c *opcua.Config) {
			c.Security, c.Mode, c.Fingerprint, c.Certificate, c.Key = policy, mode, offered, own.cert, own.key
			c.User, c.PasswordFile = "operator", password(t, "secret\n")
		}
	}
	conform(t, peer, secured("Aes256_Sha256_RsaPss", "encrypt"))
	everySecurity(t, peer, secured)
	t.Run("survey", func(t *testing.T) { surveys(t, plant(t, peer.Addr, secured("Basic256Sha256", "encrypt"))) })
}

// password is a file with a password.
func password(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// everySecurity reads, writes, gets a report and notices a damaged answer with each security.
func everySecurity(t *testing.T, peer *peers.Process, secured func(policy, mode string) func(*opcua.Config)) {
	t.Helper()
	for _, policy := range []string{"Aes256_Sha256_RsaPss", "Aes128_Sha256_RsaOaep", "Basic256Sha256"} {
		for _, mode := range []string{"encrypt", "sign"} {
			t.Run(policy+" "+mode, func(t *testing.T) {
				proxy := drivertest.NewProxy(t, peer.Addr)
				defer proxy.Close()
				cfg := plant(t, peer.Addr, secured(policy, mode))
				c, is := cfg.(*opcua.Config)
				if !is {
					t.Fatal("another configuration")
				}
				c.Endpoint = "opc.tcp://" + proxy.Addr() + "/plant"
				_, s := opened(t, cfg)
				news := subscribed(t, s, "Small")
				w, is := s.(driver.Writer)
				if !is {
					t.Fatal("no writer")
				}
				for _, value := range []point.Value{point.IntOf(-7), point.IntOf(8)} {
					if got, err := w.Write(t.Context(), "Small", value); err != nil || got != value {
						t.Fatalf("wrote %v, reads %v, %v", value, got, err)
					}
					reported(t, s, news, value)
				}
				proxy.Corrupt(func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
				if _, err := s.Read(t.Context(), []string{"Label"}); !errors.Is(err, driver.ErrNotConnected) || !strings.Contains(err.Error(), "not secured as agreed") {
					t.Errorf("an answer whose last byte was changed gives %v", err)
				}
			})
		}
	}
}

// subscribed subscribes to a point; the channel says that there is news.
func subscribed(t *testing.T, s driver.Session, name string) <-chan struct{} {
	t.Helper()
	sub, is := s.(driver.Subscriber)
	if !is {
		t.Fatal("no subscriber")
	}
	news := make(chan struct{}, 1)
	if err := sub.Subscribe(t.Context(), []string{name}, func() {
		select {
		case news <- struct{}{}:
		default:
		}
	}); err != nil {
		t.Fatal(err)
	}
	return news
}

// reported waits until a value is reported.
func reported(t *testing.T, s driver.Session, news <-chan struct{}, want point.Value) {
	t.Helper()
	awaited(t, s, news, func(sample point.Sample) bool { return sample.Value == want })
}

// awaited takes reports until one is as it shall be.
func awaited(t *testing.T, s driver.Session, news <-chan struct{}, fits func(point.Sample) bool) {
	t.Helper()
	sub, is := s.(driver.Subscriber)
	for came := false; is && !came; {
		<-news
		if err := sub.Take(t.Context(), func(sample point.Sample) { came = came || fits(sample) }); err != nil {
			t.Fatal(err)
		}
	}
}

// offers returns the fingerprint that a server shows.
func offers(t *testing.T, address string) string {
	t.Helper()
	c := opcua.NewConfig()
	c.Endpoint = "opc.tcp://" + address + "/plant"
	list, err := opcua.Kind().Search.Run(t.Context(), c)
	if err != nil || len(list) == 0 {
		t.Fatalf("got %v, %v", list, err)
	}
	fingerprint, _ := list[0].Config["fingerprint"].(string)
	return fingerprint
}

func conform(t *testing.T, peer *peers.Process, change func(*opcua.Config)) {
	t.Helper()
	reported := 0
	config := func(t *testing.T, address string) driver.Config { return plant(t, address, change) }
	drivertest.Run(t, drivertest.Harness{
		Kind:   opcua.Kind(),
		Config: config,
		Want: map[string]point.Value{
			"Pressure": point.FloatOf(1.25), "Count": point.IntOf(7), "Running": point.BoolOf(true), "Label": point.TextOf("north"), "level": point.FloatOf(20), "Mode": point.TextOf("Auto"),
		},
		Bad:  map[string]point.Quality{"Missing": point.BadConfig},
		Peer: peer.Addr,
		Absent: func(t *testing.T) driver.Config {
			return config(t, net.JoinHostPort("127.0.0.1", peers.FreePort(t)))
		},
		Timeout:   timeout,
		Reporting: config,
		Report: func(*testing.T) (string, point.Value) {
			reported++
			peer.Say(t, fmt.Sprintf("set Temperature %d", reported))
			return "Temperature", point.FloatOf(float64(reported))
		},
		Beside: true, Writable: "Small", Value: point.IntOf(42), ReadOnly: "Temperature", TooMuch: point.IntOf(40000), Denied: "Locked",
	})
}
