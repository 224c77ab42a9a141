package opcua_test

import (
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
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
	server, own := certificate(t, time.Hour), certificate(t, time.Hour)
	peer := peers.OPCUA(t, "--certificate", server.cert, "--key", server.key)
	for name, change := range map[string]func(*opcua.Config){
		"no security": nil,
		"encrypted": func(c *opcua.Config) {
			c.Security, c.Fingerprint, c.Certificate, c.Key = "best", server.fingerprint, own.cert, own.key
		},
	} {
		t.Run(name, func(t *testing.T) { conform(t, peer, change) })
	}
}

func TestTheDriverKeepsItsContractWithNodeOPCUA(t *testing.T) {
	own := certificate(t, time.Hour)
	peer := peers.NodeOPCUA(t, "--certificates", t.TempDir(), "--user")
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	offered := offers(t, peer.Addr)
	for _, policy := range []string{"Aes256_Sha256_RsaPss", "Aes128_Sha256_RsaOaep", "Basic256Sha256"} {
		t.Run(policy, func(t *testing.T) {
			conform(t, peer, func(c *opcua.Config) {
				c.Security, c.Fingerprint, c.Certificate, c.Key = policy, offered, own.cert, own.key
				c.User, c.PasswordFile = "operator", password
			})
		})
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
		Writable: "Small", Value: point.IntOf(42), ReadOnly: "Temperature", TooMuch: point.IntOf(40000), Denied: "Locked",
	})
}
