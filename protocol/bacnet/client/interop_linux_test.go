package client_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"testing"
	"time"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
	"voltbus/testing/peers"
)

// patience is far above what a test needs.
const patience = time.Minute

var (
	setpoint = encoding.ObjectID{Type: enum.AnalogValue, Instance: 1}
	input1   = encoding.ObjectID{Type: enum.AnalogInput, Instance: 1}
)

func open(t *testing.T, config client.Config) *client.Client {
	t.Helper()
	if !config.IP.Listen.IsValid() {
		config.IP.Listen = netip.MustParseAddrPort("10.66.0.2:47808")
	}
	if !config.IP.BBMD.IsValid() {
		config.IP.Broadcast = netip.MustParseAddr("10.66.0.255")
	}
	c, err := client.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// find waits until devices with the instances announced themselves.
func find(t *testing.T, c *client.Client, s client.Scan, instances ...uint32) []client.Device {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var found []client.Device
	s.Wait = patience
	s.Found = func(d client.Device) {
		if found = append(found, d); len(found) == len(instances) {
			cancel()
		}
	}
	if _, err := c.Discover(ctx, s); !errors.Is(err, context.Canceled) {
		t.Fatalf("found %v, want devices %v (%v)", found, instances, err)
	}
	slices.SortFunc(found, func(a, b client.Device) int { return int(a.Instance) - int(b.Instance) })
	for i, d := range found {
		if d.Instance != instances[i] {
			t.Fatalf("found %v, want devices %v", found, instances)
		}
	}
	return found
}

func number(t *testing.T, c *client.Client, d client.Device, p client.Property) encoding.Value {
	t.Helper()
	value, err := c.At(d).ReadProperty(t.Context(), p)
	if err != nil {
		t.Fatalf("read %v %v: %v", p.Object, p.Property, err)
	}
	v, err := value.One()
	if err != nil {
		t.Fatalf("read %v %v: %v", p.Object, p.Property, err)
	}
	return v
}

func TestDevicesOfBacpypes3AreFoundReadAndWritten(t *testing.T) {
	if !peers.Namespace(t, "10.66.0.2/24", "10.66.0.11/24", "10.66.0.12/24") {
		return
	}
	peers.BACnet(t, "device", "10.66.0.11/24", "11", "480", "200", "10.66.0.12/24")
	c := open(t, client.Config{})
	devices := find(t, c, client.Scan{}, 11, 12)
	d := devices[0]
	if d.MaxAPDU != 480 || d.Segmentation != service.SegmentedBoth || d.Vendor != 999 {
		t.Errorf("announced as %+v", d)
	}

	present := client.Property{Object: setpoint, Property: enum.PropertyPresentValue}
	if v := number(t, c, d, present); v != encoding.Real(20) {
		t.Errorf("the setpoint is %v, want 20", v)
	}
	if v := number(t, c, d, client.Property{Object: setpoint, Property: enum.PropertyObjectName}); v.Text() != "setpoint °C" {
		t.Errorf("the name is %q", v)
	}
	objects, err := c.At(d).ReadArray(t.Context(), client.Property{Object: d.ID(), Property: enum.PropertyObjectList})
	if err != nil || len(objects) < 202 { // in segments of 480 octets
		t.Errorf("%d objects (%v), want 202 or more", len(objects), err)
	}
	readMany(t, c, d, 200)

	if err := c.At(d).Write(t.Context(), present, encoding.Real(25), 8); err != nil {
		t.Fatal(err)
	}
	value, err := c.At(d).ReadProperty(t.Context(), client.Property{Object: setpoint, Property: enum.PropertyPriorityArray})
	if err != nil {
		t.Fatal(err)
	}
	if v, priority := constructed.ReadPriorityArray(encoding.NewDecoder(value)).Active(); v != encoding.Real(25) || priority != 8 {
		t.Errorf("%v counts at priority %d, want 25 at 8", v, priority)
	}
	if err := c.At(d).Write(t.Context(), present, encoding.Null(), 8); err != nil {
		t.Fatal(err)
	}
	if v := number(t, c, d, present); v != encoding.Real(20) {
		t.Errorf("after relinquish the setpoint is %v, want 20", v)
	}
	unknown := client.Property{Object: encoding.ObjectID{Type: enum.AnalogInput, Instance: 9999}, Property: enum.PropertyPresentValue}
	if _, err := c.At(d).ReadProperty(t.Context(), unknown); !errors.Is(err, service.Error{Class: enum.ClassObject, Code: enum.CodeUnknownObject}) {
		t.Errorf("an unknown object gives %v", err)
	}
}

// readMany reads name, value and units of analog inputs at once, and one object that is not there.
func readMany(t *testing.T, c *client.Client, d client.Device, inputs int) {
	t.Helper()
	var properties []client.Property
	for n := 2; n <= inputs; n++ {
		for _, p := range []enum.Property{enum.PropertyPresentValue, enum.PropertyObjectName, enum.PropertyUnits} {
			properties = append(properties, client.Property{Object: encoding.ObjectID{Instance: uint32(n)}, Property: p})
		}
	}
	properties = append(properties, client.Property{Object: encoding.ObjectID{Instance: 9999}, Property: enum.PropertyPresentValue})
	results, err := c.At(d).Read(t.Context(), properties)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results[:len(results)-1] {
		n := i/3 + 2
		want := []encoding.Value{encoding.Real(float32(n) + 0.5), encoding.Text("input " + strconv.Itoa(n)), encoding.Enumerated(enum.UnitDegreesCelsius)}[i%3]
		if v, err := r.Value.One(); err != nil || r.Err != nil || v != want {
			t.Errorf("%v %v is %v (%v, %v), want %v", properties[i].Object, properties[i].Property, v, err, r.Err, want)
		}
	}
	if r := results[len(results)-1]; !errors.As(r.Err, &service.Error{}) {
		t.Errorf("an unknown object among others gives %v", r.Err)
	}
}

func TestADeviceOfBacpypes3WithTheSmallestAPDUIsRead(t *testing.T) {
	if !peers.Namespace(t, "10.66.0.2/24", "10.66.0.11/24") {
		return
	}
	peers.BACnet(t, "device", "10.66.0.11/24", "11", "50", "30")
	c := open(t, client.Config{})
	d := find(t, c, client.Scan{Devices: service.Devices(1, 100), Step: 50, Pause: time.Millisecond}, 11)[0]
	if d.MaxAPDU != 50 {
		t.Errorf("announced as %+v", d)
	}
	objects, err := c.At(d).ReadArray(t.Context(), client.Property{Object: d.ID(), Property: enum.PropertyObjectList})
	if err != nil || len(objects) < 32 {
		t.Errorf("%d objects (%v), want 32 or more", len(objects), err)
	}
	readMany(t, c, d, 30)
	// A request that is longer than an APDU goes in segments.
	long := "a name that is longer than fifty octets, so that the request must be cut into segments"
	name := client.Property{Object: setpoint, Property: enum.PropertyDescription}
	if err := c.At(d).Write(t.Context(), name, encoding.Text(long), 0); err != nil {
		t.Fatalf("a segmented request: %v", err)
	}
	if v := number(t, c, d, name); v.Text() != long {
		t.Errorf("the description is %q", v)
	}
}

func TestChangesOfADeviceOfBacpypes3AreNotified(t *testing.T) {
	if !peers.Namespace(t, "10.66.0.2/24", "10.66.0.11/24") {
		return
	}
	peers.BACnet(t, "device", "10.66.0.11/24", "11", "1476", "2")
	c := open(t, client.Config{})
	d := find(t, c, client.Scan{}, 11)[0]
	for name, confirmed := range map[string]bool{"confirmed": true, "unconfirmed": false} {
		changes := make(chan service.Notification, 1000)
		renewals := make(chan error, 1000)
		s, err := c.At(d).Subscribe(t.Context(), client.Watch{
			Object: input1, Confirmed: confirmed, Lifetime: 2 * time.Second,
			Notify:  func(n service.Notification) { changes <- n },
			Renewed: func(err error) { renewals <- err },
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		last := float64(0)
		for range 4 {
			n := await(t, changes)
			v, err := n.Values[0].Value.One()
			if f, _ := v.Float(); err != nil || n.Values[0].Property != enum.PropertyPresentValue || f < last { // a renewal has it told again
				t.Errorf("%s: notified of %v after %v (%v)", name, n.Values, last, err)
			} else {
				last = f
			}
		}
		for range 2 {
			if err := await(t, renewals); err != nil {
				t.Errorf("%s: renewal: %v", name, err)
			}
		}
		if err := s.Cancel(t.Context()); err != nil {
			t.Errorf("%s: cancel: %v", name, err)
		}
	}
}

func await[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatal("nothing arrived")
		panic("unreachable")
	}
}

func TestAForeignDeviceFindsDevicesThroughABBMDOfBacpypes3(t *testing.T) {
	if !peers.Namespace(t, "10.66.2.2/24", "10.66.1.21/24", "10.66.1.22/24") {
		return
	}
	peers.BACnet(t, "bbmd", "10.66.1.21/24", "21", "1476", "2", "10.66.1.22/24")
	c := open(t, client.Config{IP: ip.Config{
		Listen: netip.MustParseAddrPort("10.66.2.2:47808"), BBMD: netip.MustParseAddrPort("10.66.1.21:47808"), TTL: 30 * time.Second,
	}})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := c.Port().AwaitRegistration(ctx); err != nil {
		t.Fatal(err)
	}
	for _, d := range find(t, c, client.Scan{}, 21, 22) {
		if v := number(t, c, d, client.Property{Object: setpoint, Property: enum.PropertyPresentValue}); v != encoding.Real(20) {
			t.Errorf("the setpoint of %v is %v, want 20", d.Address, v)
		}
	}
}
