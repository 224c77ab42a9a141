package campus_test

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/driver"
	"voltbus/driver/bacnet"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/lab/campus"
	"voltbus/point"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// start opens a campus whose time passes by steps.
func start(t *testing.T) (*campus.Campus, netip.AddrPort) {
	t.Helper()
	l, err := net.ListenPacket("udp4", "127.48.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	first := netip.MustParseAddrPort(l.LocalAddr().String())
	_ = l.Close()
	c, err := campus.Open(t.Context(), campus.Config{First: first, Broadcast: netip.MustParseAddr("127.255.255.255"), Begin: noon})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, first
}

// own is an address of the node in the network of the campus.
func own(first netip.AddrPort) string { return fmt.Sprintf("127.48.0.250/8:%d", first.Port()) }

func TestTheDriverFindsFiftyDevices(t *testing.T) {
	_, first := start(t)
	c := bacnet.NewConfig()
	c.Local, c.Timeout = own(first), time.Second
	found, err := bacnet.Kind().Search.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != campus.Devices || found[0].Name != "Building_1_Air_Handlers" || found[1].Name != "Building_1_Floor_1" {
		t.Errorf("found %d devices, the first %q", len(found), found[0].Name)
	}
}

// session opens a device with the driver.
func session(t *testing.T, first netip.AddrPort, device int, entries ...pointlist.Entry) driver.Session {
	t.Helper()
	c := bacnet.NewConfig()
	c.Local, c.Device = own(first), &device
	c.Registry.Entries = entries
	if problems := c.Validate(); len(problems) > 0 {
		t.Fatal(problems)
	}
	line, err := bacnet.Kind().Dial(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := line.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(); _ = line.Close() })
	return s
}

func value(t *testing.T, s driver.Session, name string) float64 {
	t.Helper()
	samples, err := s.Read(t.Context(), []string{name})
	if err != nil || len(samples) != 1 || !samples[0].Quality.IsGood() {
		t.Fatalf("read %s: %v, %v", name, samples, err)
	}
	v, _ := samples[0].Value.Number()
	return v
}

func TestADeviceHasAHundredPointsWithUnits(t *testing.T) {
	_, first := start(t)
	for device, want := range map[int]map[string]string{
		1000: {"AHU_1_Supply_Temperature": "degC", "Building_1_Power": "kW", "AHU_4_Mode": ""},
		5009: {"VAV_908_Zone_Temperature": "degC", "VAV_901_CO2": "ppm", "Floor_Air_Flow": "L/s"},
	} {
		found, err := session(t, first, device, pointlist.Entry{Name: "x", Object: "analog-input:1"}).(driver.Discoverer).Discover(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		units := map[string]string{}
		for i := range found {
			units[string(found[i].Sample.Point)] = found[i].Info.Unit
		}
		if len(units) != campus.ObjectsOfDevice {
			t.Errorf("device %d has %d points", device, len(units))
		}
		for name, unit := range want {
			if got, has := units[name]; !has || got != unit {
				t.Errorf("device %d: %s has the unit %q (%v), want %q", device, name, got, has, unit)
			}
		}
	}
}

func TestARoomFollowsASetpointThatIsCommandedAndRelinquished(t *testing.T) {
	c, first := start(t)
	s := session(t, first, 1001,
		pointlist.Entry{Name: "temperature", Object: "analog-input:4"},
		pointlist.Entry{Name: "cooling", Object: "analog-value:1", Writable: "true", Priority: "16"},
	)
	setpoint, ok := s.(driver.Prioritizer)
	if !ok {
		t.Fatal("the session commands without priorities")
	}
	afterHours := func() float64 { // three
		for range 36 {
			c.Step(5 * time.Minute)
		}
		return value(t, s, "temperature")
	}
	before := afterHours()
	if got, err := setpoint.Command(t.Context(), "cooling", driver.Command{Value: point.FloatOf(20), Level: 8}); err != nil || got != point.FloatOf(20) {
		t.Fatalf("the setpoint is %v, %v", got, err)
	}
	array, err := setpoint.Priorities(t.Context(), "cooling")
	if err != nil || array.Levels[7] != point.FloatOf(20) || array.Levels[15].Kind() != point.None {
		t.Errorf("the priority array is %v, %v", array, err)
	}
	cooled := afterHours()
	if before < 23 || cooled > 21.5 {
		t.Errorf("it is %.1f °C at a setpoint of 24 and %.1f at one of 20", before, cooled)
	}
	if got, err := setpoint.Command(t.Context(), "cooling", driver.Command{Back: driver.LevelsOf(8)}); err != nil || value(t, s, "cooling") != 24 {
		t.Errorf("after it was relinquished, the setpoint is %v, %v", got, err)
	}
}
