package bacnet_test

import (
	"context"
	"flag"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/driver"
	"voltbus/driver/bacnet"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/driver/drivertest"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "12") // tests wait for devices and time-outs, not for processors
	goleak.VerifyTestMain(m)
}

// subnet are the addresses of a test in a namespace: of this node, of another client, and of the devices.
var subnet = []string{"10.66.0.2/24", "10.66.0.3/24", "10.66.0.11/24", "10.66.0.12/24"}

// namespace runs the test in a network of its own.
func namespace(t *testing.T) bool {
	t.Helper()
	return peers.Namespace(t, subnet...)
}

// plant is the registry of the devices that bacnet_peer.py makes.
func plant() []pointlist.Entry {
	return []pointlist.Entry{
		{Name: "temp 1", Object: "analog-input:1", Unit: "degreesCelsius"},
		{Name: "temp 2", ObjectType: "analogInput", Instance: "2"},
		{Name: "setpoint", Object: "analog-value:1", Writable: "true", Priority: "10", Min: "5", Max: "40"},
		{Name: "fan", Object: "binary-value:1", Writable: "true", Priority: "16", States: "stopped|running"},
		{Name: "fan text", Object: "binary-value:1", Type: "text", States: "stopped|running"},
		{Name: "speed", Object: "multi-state-value:1", Writable: "true", Priority: "16", States: "off|low|high"},
		{Name: "speed text", Object: "multi-state-value:1", Type: "text", Writable: "true", Priority: "16", States: "off|low|high"},
		{Name: "note", Object: "characterstring-value:1", Writable: "true"},
		{Name: "units", Object: "analog-input:1", Property: "units"},
		{Name: "flags", Object: "analog-input:1", Property: "statusFlags"},
		{Name: "level 8", Object: "analog-value:1", Property: "priority-array", ArrayIndex: "8", Type: "text"},
		{Name: "denied", Object: "analog-input:901", Writable: "true"},
		{Name: "broken", Object: "analog-input:900"},
		{Name: "absent", Object: "analog-input:77"},
		{Name: "no property", Object: "analog-input:1", Property: "priority-array"},
	}
}

// config returns the configuration of a device.
func config(t *testing.T, instance int, entries []pointlist.Entry, change func(*bacnet.Config)) *bacnet.Config {
	t.Helper()
	c := bacnet.NewConfig()
	c.Local, c.Device, c.Timeout = "10.66.0.2/24", &instance, 2*time.Second
	c.Registry.Entries = entries
	if change != nil {
		change(c)
	}
	if problems := append(c.Load(nil), c.Validate()...); len(problems) > 0 {
		t.Fatalf("the configuration has problems: %v", problems)
	}
	return c
}

// other is a client that commands the devices beside the driver.
func other(t *testing.T, device string) client.Remote {
	t.Helper()
	c, err := client.Open(t.Context(), client.Config{IP: ip.Config{Listen: netip.MustParseAddrPort("10.66.0.3:47808")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.At(client.Device{Address: ip.Address{Link: netip.MustParseAddrPort(device + ":47808")}})
}

var setpoint = client.Property{Object: encoding.ObjectID{Type: enum.AnalogValue, Instance: 1}, Property: enum.PropertyPresentValue}

func TestTheDriverKeepsTheContractWithDevicesOfBacpypes(t *testing.T) {
	t.Parallel()
	if !peers.Namespace(t, subnet...) {
		return
	}
	peers.BACnet(t, "plant", "10.66.0.11/24", "11", "480", "20", "10.66.0.12/24")
	operator := other(t, "10.66.0.12")
	target := float32(20)
	drivertest.Run(t, drivertest.Harness{
		Kind:   bacnet.Kind(),
		Config: func(t *testing.T, _ string) driver.Config { return config(t, 11, plant(), nil) },
		Want: map[string]point.Value{
			"temp 1": point.FloatOf(1.5), "temp 2": point.FloatOf(2.5), "setpoint": point.FloatOf(20), "fan": point.BoolOf(false),
			"fan text": point.TextOf("stopped"), "speed": point.IntOf(1), "speed text": point.TextOf("off"), "note": point.TextOf("grün"),
			"units": point.IntOf(62), "flags": point.TextOf("0000"), "denied": point.FloatOf(7), "level 8": point.TextOf("null"),
		},
		Bad:     map[string]point.Quality{"absent": point.BadConfig, "no property": point.BadConfig, "broken": point.BadSensor},
		Timeout: 2 * time.Second,
		Absent: func(t *testing.T) driver.Config {
			return config(t, 11, plant(), func(c *bacnet.Config) { c.Local = "10.77.0.2/24" })
		},
		Reporting: func(t *testing.T, _ string) driver.Config {
			return config(t, 12, plant()[:4], func(c *bacnet.Config) { c.COVLifetime = time.Minute })
		},
		Report: func(t *testing.T) (string, point.Value) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			target++
			if err := operator.Write(ctx, setpoint, encoding.Real(target), 8); err != nil {
				t.Fatalf("command the device: %v", err)
			}
			return "setpoint", point.FloatOf(float64(target))
		},
		Writable: "setpoint", Value: point.FloatOf(25.5), ReadOnly: "temp 1", TooMuch: point.FloatOf(1e300), Denied: "denied",
		Prioritized: "speed", Priority: point.IntOf(3), Unprioritized: "note",
	})
}

func TestASearchFindsEveryDeviceAndDiscoveryItsPoints(t *testing.T) {
	t.Parallel()
	if !namespace(t) {
		return
	}
	peers.BACnet(t, "plant", "10.66.0.11/24", "11", "480", "20", "10.66.0.12/24")
	kind := bacnet.Kind()
	c := config(t, 0, nil, func(c *bacnet.Config) { c.Registry.Entries = plant()[:1] })
	found, err := kind.Search.Run(t.Context(), c)
	if err != nil || len(found) != 2 || found[0].Name != "device_11" || found[0].Config["device"] != uint32(11) || found[1].Detail != "device 12 at 10.66.0.12 BACpypes N/A" {
		t.Fatalf("found %+v, %v", found, err)
	}
	recognises(t, c, found)
	for name, change := range map[string]func(*bacnet.Config){
		"by its instance": func(*bacnet.Config) {},
		"by its address":  func(c *bacnet.Config) { c.Device, c.Address = nil, "10.66.0.11" },
	} {
		s := open(t, config(t, 11, plant()[:1], change))
		points, err := s.(driver.Discoverer).Discover(t.Context())
		if err != nil || len(points) != 26 {
			t.Fatalf("%s: %d points, %v", name, len(points), err)
		}
		speed := points[22]
		if speed.Entry["name"] != "Fan_Speed" || speed.Entry["states"] != "off|low|high" || speed.Entry["priority"] != "16" || speed.Sample.Value != point.IntOf(1) || !speed.Info.Writable {
			t.Errorf("%s: the state is %+v", name, speed)
		}
		if first := points[0]; first.Info.Unit != "degC" || first.Sample.Value != point.FloatOf(1.5) || first.Entry["object"] != "analog-input:1" {
			t.Errorf("%s: the first input is %+v", name, first)
		}
	}
}

// recognises tells which configured devices are those with the instances 11 and 12.
func recognises(t *testing.T, searched *bacnet.Config, found []driver.Neighbour) {
	t.Helper()
	s := bacnet.Kind().Search
	if f := found[1].Facts; f["instance"] != "12" || f["address"] != "10.66.0.12" || f["vendor"] != "BACpypes" || f["objects"] == "" {
		t.Errorf("the columns are %v", f)
	}
	for name, tt := range map[string]struct {
		change  func(*bacnet.Config)
		covered bool
		is      int // the index of the device that it is
	}{
		"by its instance":                    {func(*bacnet.Config) {}, true, 0},
		"by its address":                     {func(c *bacnet.Config) { c.Device, c.Address = nil, "10.66.0.12" }, true, 1},
		"by its address with the port":       {func(c *bacnet.Config) { c.Device, c.Address = nil, "10.66.0.12:47808" }, true, 1},
		"by another address":                 {func(c *bacnet.Config) { c.Device, c.Address = nil, "10.66.0.13" }, true, -1},
		"from another network card":          {func(c *bacnet.Config) { c.Local = "10.77.0.2/24" }, false, 0},
		"from any network card of this node": {func(c *bacnet.Config) { c.Local = "" }, true, 0},
	} {
		c := config(t, 11, plant()[:1], tt.change)
		if s.Covers(searched, c) != tt.covered {
			t.Errorf("%s: whether the search asks its network is not %v", name, tt.covered)
		}
		if at := slices.IndexFunc(found, func(n driver.Neighbour) bool { return s.Is(c, &n) }); at != tt.is {
			t.Errorf("%s: it is the device at %d, want %d", name, at, tt.is)
		}
	}
}

func TestADeviceOfAnotherSubnetIsFoundThroughItsBBMD(t *testing.T) {
	t.Parallel()
	if !peers.Namespace(t, "10.66.1.21/24", "10.66.1.22/24", "10.66.2.2/24", "10.66.2.3/24") {
		return
	}
	peers.BACnet(t, "bbmd", "10.66.1.21/24", "21", "1476", "2", "10.66.1.22/24")
	foreign := func(local, bbmd string) driver.Session {
		return open(t, config(t, 22, []pointlist.Entry{{Name: "t", Object: "analog-input:2"}}, func(c *bacnet.Config) { c.Local, c.BBMD = local, bbmd }))
	}
	s := foreign("10.66.2.2/24", "10.66.1.21")
	if samples, err := s.Read(t.Context(), []string{"t"}); err != nil || samples[0].Value != point.FloatOf(2.5) {
		t.Errorf("through the BBMD: %v, %v", samples, err)
	}
	lost := foreign("10.66.2.3/24", "10.66.1.22") // which is none
	if _, err := lost.Read(t.Context(), []string{"t"}); fault.KindOf(err) != fault.Timeout || !strings.Contains(err.Error(), "the BBMD does not take this node as a foreign device") {
		t.Errorf("through a station that is no BBMD: %v", err)
	}
}
