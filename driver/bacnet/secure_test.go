package bacnet_test

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/driver"
	"voltbus/driver/bacnet"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/driver/drivertest"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/sc"
	"voltbus/protocol/bacnet/sc/sctest"
	"voltbus/protocol/bacnet/server"
	"voltbus/protocol/bacnet/service"
	"voltbus/testing/peers"
)

// folder is where a configuration is.
type folder string

// ReadFile implements driver.Files.
func (f folder) ReadFile(name string, _ int64) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(f), name))
}

// securePoints are those of the device of bacnet_sc_peer.py.
var securePoints = []pointlist.Entry{
	{Name: "temperature", Object: "analog-input:1", Unit: "degreesCelsius"},
	{Name: "setpoint", Object: "analog-value:1", Writable: "true", Priority: "10", Min: "5", Max: "40"},
	{Name: "locked", Object: "analog-value:2", Writable: "true"},
	{Name: "speed", Object: "multi-state-value:1", Writable: "true", Priority: "16", States: "off|low|high"},
	{Name: "absent", Object: "analog-input:77"},
}

// secureTimeout is that of requests through a hub. It is longer than a node needs to notice that its hub is away.
const secureTimeout = 2 * time.Second

// secured returns the configuration of a device behind a hub, with the certificate node.pem of a folder.
func secured(t *testing.T, dir, hub string, instance int, change func(*bacnet.Config)) *bacnet.Config {
	t.Helper()
	c := bacnet.NewConfig()
	c.SC = bacnet.SC{Hub: hub, Certificate: "node.pem", Key: "node.key", CA: "ca.pem"}
	c.Device, c.Timeout, c.Retries = &instance, secureTimeout, 0
	c.Registry.Entries = securePoints
	if change != nil {
		change(c)
	}
	if problems := append(c.Load(folder(dir)), c.Validate()...); len(problems) > 0 {
		t.Fatalf("the configuration has problems: %v", problems)
	}
	return c
}

// own returns a folder with a certificate for a way to the hub, within another one: nodes with the same certificate have the same
// address, and a hub takes one of them.
func own(t *testing.T, a *sctest.Authority, dir, way string) string {
	t.Helper()
	dir = filepath.Join(dir, "way "+way)
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	a.Files(t, dir, "node")
	return dir
}

// hubOf starts a hub of rusty-bacnet with a device.
func hubOf(t *testing.T, dir, instance string) (address string) {
	t.Helper()
	_, port, err := net.SplitHostPort(peers.BACnetSC(t, "hub", dir).Addr)
	if err != nil {
		t.Fatal(err)
	}
	address = "127.0.0.1:" + port
	peers.BACnetSC(t, "device", dir, "wss://"+address, instance)
	return address
}

func TestTheDriverKeepsTheContractOverBACnetSCWithADeviceAndAHubOfRustyBACnet(t *testing.T) {
	t.Parallel()
	a, dir := sctest.NewAuthority(t), t.TempDir()
	a.Files(t, dir, "hub", "device", "node")
	hub := hubOf(t, dir, "81")
	operator, target := secureOperator(t, a, "wss://"+hub+"/", 81), float32(20)
	drivertest.Run(t, drivertest.Harness{
		Kind: bacnet.Kind(),
		Config: func(t *testing.T, address string) driver.Config {
			return secured(t, own(t, a, dir, address), "wss://"+cmp.Or(address, hub)+"/", 81, nil)
		},
		Peer: hub,
		Want: map[string]point.Value{"temperature": point.FloatOf(21.5)},
		Bad:  map[string]point.Quality{"absent": point.BadConfig},
		Absent: func(t *testing.T) driver.Config {
			return secured(t, dir, "wss://127.0.0.1:1/", 81, nil)
		},
		Timeout: secureTimeout, Together: true,
		Writable: "setpoint", Value: point.FloatOf(25.5), ReadOnly: "temperature", TooMuch: point.FloatOf(1e300), Denied: "locked",
		Prioritized: "speed", Priority: point.IntOf(3),
		Reporting: func(t *testing.T, address string) driver.Config {
			return secured(t, own(t, a, dir, address), "wss://"+cmp.Or(address, hub)+"/", 81, func(c *bacnet.Config) { c.Registry.Entries = securePoints[1:2] })
		},
		Report: func(t *testing.T) (string, point.Value) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			target++
			if err := operator.Write(ctx, setpoint, encoding.Real(target), 16); err != nil {
				t.Fatalf("command the device: %v", err)
			}
			return "setpoint", point.FloatOf(float64(target))
		},
	})
}

// secureOperator is a client that commands a device behind a hub beside the driver.
func secureOperator(t *testing.T, a *sctest.Authority, hub string, instance uint32) client.Remote {
	t.Helper()
	carrier := sc.NewCarrier(sc.Config{UUID: sc.UUID{1}, Primary: hub, Certificates: a.Certificates(t, "operator", sctest.Soon())})
	c, err := client.Open(t.Context(), client.Config{IP: ip.Config{Carrier: carrier}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := carrier.Await(ctx); err != nil {
		t.Fatal(err)
	}
	found, err := c.Discover(ctx, client.Scan{Devices: service.Devices(instance, instance), Wait: time.Second})
	if err != nil || len(found) != 1 {
		t.Fatalf("the operator finds %v, %v", found, err)
	}
	return c.At(found[0])
}

// device opens a device of package server on a hub.
func secureDevice(t *testing.T, a *sctest.Authority, hub string, instance uint32) (*server.Device, *server.Point) {
	t.Helper()
	certificates := a.Certificates(t, "device", sctest.Soon())
	vmac, uuid := certificates.Identity("")
	carrier := sc.NewCarrier(sc.Config{VMAC: vmac, UUID: uuid, Primary: hub, Certificates: certificates, Reconnect: 10 * time.Millisecond, MaxReconnect: 100 * time.Millisecond})
	d, err := server.Open(t.Context(), server.Config{Instance: instance, Name: "device", Client: client.Config{IP: ip.Config{Carrier: carrier}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	p := server.NewPoint(server.PointConfig{ID: encoding.ObjectID{Type: enum.AnalogInput, Instance: 1}, Name: "temperature", Value: encoding.Real(7)})
	if err := d.Add(p); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := carrier.Await(ctx); err != nil {
		t.Fatal(err)
	}
	return d, p
}

func TestTheDriverKeepsTheContractOverOurHub(t *testing.T) {
	a, dir := sctest.NewAuthority(t), t.TempDir()
	a.Files(t, dir, "node")
	_, url, _ := sctest.Hub(t, a, "127.0.0.1:0")
	_, p := secureDevice(t, a, url, 82)
	value := float32(7)
	config := func(t *testing.T, _ string) driver.Config {
		t.Helper()
		return secured(t, dir, url, 82, func(c *bacnet.Config) { c.Registry.Entries = securePoints[:1] })
	}
	drivertest.Run(t, drivertest.Harness{
		Kind: bacnet.Kind(), Config: config, Timeout: secureTimeout, Reporting: config,
		Report: func(*testing.T) (string, point.Value) {
			value++
			p.Set(encoding.Real(value), constructed.StatusFlags{})
			return "temperature", point.FloatOf(float64(value))
		},
	})
}

// readSoon reads the temperature until that succeeds.
func readSoon(t *testing.T, s driver.Session, want float64) {
	t.Helper()
	var err error
	var samples []point.Sample
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if samples, err = s.Read(t.Context(), []string{"temperature"}); err == nil && samples[0].Value == point.FloatOf(want) {
			return
		}
	}
	t.Fatalf("never: %v, %v", samples, err)
}

func TestASearchOverAHubFindsDevicesOfBothStacksAndTwins(t *testing.T) {
	t.Parallel()
	a, dir := sctest.NewAuthority(t), t.TempDir()
	a.Files(t, dir, "device", "node")
	_, url, _ := sctest.Hub(t, a, "127.0.0.1:0")
	peers.BACnetSC(t, "device", dir, url, "83")
	secureDevice(t, a, url, 83)
	secureDevice(t, a, url, 84)
	c := secured(t, dir, url, 0, func(c *bacnet.Config) { c.Timeout = 500 * time.Millisecond })
	found, err := bacnet.Kind().Search.Run(t.Context(), c)
	if err != nil || len(found) != 3 {
		t.Fatalf("found %+v, %v", found, err)
	}
	twin, _ := found[0].Config["address"].(string)
	if _, err := sc.ParseVMAC(twin); err != nil || found[0].Config["device"] != uint32(83) || found[1].Config["device"] != uint32(83) || found[2].Config["address"] != nil {
		t.Errorf("found %+v", found)
	}
	// one instance at two addresses is told, and the address tells which one is meant
	if _, err := open(t, secured(t, dir, url, 83, nil)).Read(t.Context(), []string{"temperature"}); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), twin) {
		t.Errorf("one of two: %v", err)
	}
	meant := open(t, secured(t, dir, url, 83, func(c *bacnet.Config) { c.Address = twin }))
	if samples, err := meant.Read(t.Context(), []string{"temperature"}); err != nil || samples[0].Quality != point.Good {
		t.Errorf("the one that is meant: %v, %v", samples, err)
	}
}

func TestADeviceIsReadThroughTheFailoverHubAndThePrimaryAgain(t *testing.T) {
	t.Parallel()
	a, dir := sctest.NewAuthority(t), t.TempDir()
	a.Files(t, dir, "node")
	_, primary, stop := sctest.Hub(t, a, "127.0.0.1:0")
	_, failover, _ := sctest.Hub(t, a, "127.0.0.1:0")
	secureDevice(t, a, failover, 85)
	s := open(t, secured(t, dir, primary, 85, func(c *bacnet.Config) { c.SC.Failover, c.Timeout = failover, 100*time.Millisecond }))
	if _, err := s.Read(t.Context(), []string{"temperature"}); fault.KindOf(err) != fault.Timeout { // the device is at the other hub
		t.Errorf("through the primary hub: %v", err)
	}
	stop()
	readSoon(t, s, 7)
	_, _, stop = sctest.Hub(t, a, strings.TrimSuffix(strings.TrimPrefix(primary, "wss://"), "/"))
	defer stop()
	secureDevice(t, a, primary, 85)
	readSoon(t, s, 7)
}

func TestADeviceIsReadAgainWhenItsOnlyHubIsBack(t *testing.T) {
	t.Parallel()
	a, dir := sctest.NewAuthority(t), t.TempDir()
	a.Files(t, dir, "node")
	_, url, stop := sctest.Hub(t, a, "127.0.0.1:0")
	secureDevice(t, a, url, 86)
	s := open(t, secured(t, dir, url, 86, func(c *bacnet.Config) { c.Timeout = 100 * time.Millisecond }))
	readSoon(t, s, 7)
	stop()
	var err error
	for deadline := time.Now().Add(time.Minute); !errors.Is(err, driver.ErrNotConnected); {
		if _, err = s.Read(t.Context(), []string{"temperature"}); time.Now().After(deadline) {
			t.Fatalf("without a hub: %v", err)
		}
	}
	if fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), "no BACnet/SC hub takes messages of this node: ") {
		t.Errorf("without a hub: %v", err)
	}
	sctest.Hub(t, a, strings.TrimSuffix(strings.TrimPrefix(url, "wss://"), "/"))
	readSoon(t, s, 7)
}

func TestAReadSaysWhyACertificateIsNotAccepted(t *testing.T) {
	t.Parallel()
	a, stranger, dir, other := sctest.NewAuthority(t), sctest.NewAuthority(t), t.TempDir(), t.TempDir()
	a.Files(t, dir, "node")
	stranger.Files(t, other, "node")
	_, url, _ := sctest.Hub(t, a, "127.0.0.1:0")
	_, late, _ := sctest.HubWith(t, a.Certificates(t, "hub", time.Now().Add(-time.Hour)), "127.0.0.1:0")
	for name, c := range map[string]struct{ dir, hub, want string }{
		"unknown authority": {other, url, `the certificate of the hub was issued by "CN=site", which is none of the authorities of this node`},
		"expired hub":       {dir, late, "the certificate of the hub expired on "},
	} {
		t.Run(name, func(t *testing.T) {
			config := secured(t, c.dir, c.hub, 5, func(c *bacnet.Config) { c.Timeout = 50 * time.Millisecond })
			_, err := open(t, config).Read(t.Context(), []string{"temperature"})
			if fault.KindOf(err) != fault.Unreachable || !errors.Is(err, driver.ErrNotConnected) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if _, err := bacnet.Kind().Search.Run(t.Context(), config); fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), c.want) {
				t.Errorf("a search says %v, want %s", err, c.want)
			}
		})
	}
}

func TestWhatIsWrongWithASecureNetworkIsSaid(t *testing.T) {
	t.Parallel()
	a, dir := sctest.NewAuthority(t), t.TempDir()
	a.Files(t, dir, "node", "other")
	for name, c := range map[string]struct {
		change func(*bacnet.Config)
		want   string
	}{
		"address of a hub": {func(c *bacnet.Config) { c.SC.Hub = "10.0.0.2:4443" }, `sc.hub: "10.0.0.2:4443" is no address of a BACnet/SC hub; write such as wss://10.0.0.2:4443/`},
		"failover hub":     {func(c *bacnet.Config) { c.SC.Failover = "https://h/" }, `sc.failover: "https://h/" is no address of a BACnet/SC hub`},
		"no key":           {func(c *bacnet.Config) { c.SC.Key = "" }, "sc.key: is missing; write the PEM file"},
		"no certificate":   {func(c *bacnet.Config) { c.SC.Certificate = "" }, "sc.certificate: is missing"},
		"no authority":     {func(c *bacnet.Config) { c.SC.CA = "" }, "sc.ca: is missing"},
		"no such file":     {func(c *bacnet.Config) { c.SC.CA = "none.pem" }, "sc.ca: cannot be read"},
		"another key":      {func(c *bacnet.Config) { c.SC.Key = "other.key" }, "sc: certificate and key cannot be used together"},
		"no authority in its file": {
			func(c *bacnet.Config) { c.SC.CA = "node.key" }, "sc: the file of the authority holds no certificate",
		},
		"two networks": {func(c *bacnet.Config) { c.Local = "10.0.0.5/24" }, "local: is of BACnet/IP, and sc of BACnet/SC"},
		"BBMD":         {func(c *bacnet.Config) { c.BBMD = "10.0.0.5" }, "bbmd: is of BACnet/IP, and sc of BACnet/SC"},
		"address of BACnet/IP": {
			func(c *bacnet.Config) { c.Address = "10.0.0.11" }, `address: "10.0.0.11" is of another kind of network`,
		},
		"address of BACnet/SC": {
			func(c *bacnet.Config) { c.Address, c.SC = "02:00:00:00:00:05", bacnet.SC{} }, `address: "02:00:00:00:00:05" is of another kind of network`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			config, instance := bacnet.NewConfig(), 5
			config.SC = bacnet.SC{Hub: "wss://10.0.0.2:4443/", Certificate: "node.pem", Key: "node.key", CA: "ca.pem"}
			config.Device, config.Registry.Entries = &instance, securePoints
			c.change(config)
			problems := errors.Join(append(config.Load(folder(dir)), config.Validate()...)...)
			if problems == nil || !strings.Contains(problems.Error(), c.want) {
				t.Errorf("got %v, want %s", problems, c.want)
			}
		})
	}
}
