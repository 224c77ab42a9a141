package server_test

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/server"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	loopback = netip.MustParseAddrPort("127.0.0.1:0")
	setpoint = encoding.ObjectID{Type: enum.AnalogValue, Instance: 1}
	present  = client.Property{Object: setpoint, Property: enum.PropertyPresentValue}
)

// newDevice opens device 77 with the setpoint and analog inputs from 1 to inputs.
func newDevice(t testing.TB, c client.Config, inputs int) *server.Device {
	t.Helper()
	d, err := server.Open(t.Context(), server.Config{Instance: 77, Name: "voltbus", Vendor: 999, Client: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	add := func(c server.PointConfig) {
		if err := d.Add(server.NewPoint(c)); err != nil {
			t.Fatal(err)
		}
	}
	add(server.PointConfig{
		ID: setpoint, Name: "setpoint", Description: "room setpoint", Units: enum.UnitDegreesCelsius, Value: encoding.Real(20),
		Increment: 0.5, Commandable: true,
	})
	for n := 1; n <= inputs; n++ {
		add(server.PointConfig{
			ID: encoding.ObjectID{Instance: uint32(n)}, Name: fmt.Sprintf("input %d", n),
			Units: enum.UnitPercent, Value: encoding.Real(float32(n)),
		})
	}
	return d
}

// pair opens a device and a client on loopback; peer is the device as the client sees it.
func pair(t testing.TB, maxAPDU, inputs int) (*client.Client, client.Device) {
	t.Helper()
	d := newDevice(t, client.Config{IP: ip.Config{Listen: loopback}, Transaction: transaction.Config{MaxAPDU: maxAPDU}}, inputs)
	c, err := client.Open(t.Context(), client.Config{IP: ip.Config{Listen: loopback}, Transaction: transaction.Config{MaxAPDU: maxAPDU}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, client.Device{Address: ip.Address{Link: d.Client().Port().Address()}, Instance: 77, MaxAPDU: maxAPDU}
}

func one(t *testing.T, c *client.Client, d client.Device, p client.Property) encoding.Value {
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

func TestCommandsAreTakenByPriorityAndRelinquished(t *testing.T) { // clause 19.2
	c, d := pair(t, 1476, 0)
	write := func(v encoding.Value, priority uint8) {
		t.Helper()
		if err := c.At(d).Write(t.Context(), present, v, priority); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		value    encoding.Value
		priority uint8
		want     float32
	}{
		{encoding.Real(25), 8, 25},
		{encoding.Real(30), 0, 25},
		{encoding.Real(15), 1, 15},
		{encoding.Null(), 1, 25},
		{encoding.Null(), 8, 30},
		{encoding.Null(), 16, 20},
	} {
		write(step.value, step.priority)
		if v := one(t, c, d, present); v != encoding.Real(step.want) {
			t.Errorf("after %v at priority %d the value is %v, want %v", step.value, step.priority, v, step.want)
		}
	}
	write(encoding.Real(25), 8)
	array := client.Property{Object: setpoint, Property: enum.PropertyPriorityArray, Index: constructed.At(8)}
	if v := one(t, c, d, array); v != encoding.Real(25) {
		t.Errorf("priority 8 is %v, want 25", v)
	}
}

func TestRefusedRequestsAreNamed(t *testing.T) {
	c, d := pair(t, 1476, 1)
	input := encoding.ObjectID{Instance: 1}
	fails := func(name string, err error, class enum.ErrorClass, code enum.ErrorCode) {
		t.Helper()
		if want := (service.Error{Class: class, Code: code}); !errors.Is(err, want) {
			t.Errorf("%s gives %v, want %v", name, err, want)
		}
	}
	read := func(p client.Property) error {
		_, err := c.At(d).ReadProperty(t.Context(), p)
		return err
	}
	fails("an unknown object", read(client.Property{Object: encoding.ObjectID{Instance: 9}}), enum.ClassObject, enum.CodeUnknownObject)
	fails("an unknown property", read(client.Property{Object: input, Property: enum.PropertyLocation}), enum.ClassProperty, enum.CodeUnknownProperty)
	fails("an index of no array", read(client.Property{Object: input, Property: enum.PropertyPresentValue, Index: constructed.At(1)}), enum.ClassProperty, enum.CodePropertyIsNotAnArray)
	fails("an index beyond the end", read(client.Property{Object: setpoint, Property: enum.PropertyPriorityArray, Index: constructed.At(17)}), enum.ClassProperty, enum.CodeInvalidArrayIndex)
	fails("a write to an input", c.At(d).Write(t.Context(), client.Property{Object: input, Property: enum.PropertyPresentValue}, encoding.Real(1), 8), enum.ClassProperty, enum.CodeWriteAccessDenied)
	fails("a write of another type", c.At(d).Write(t.Context(), present, encoding.Text("warm"), 8), enum.ClassProperty, enum.CodeInvalidDataType)
	fails("the second of two writes", c.At(d).WriteMultiple(t.Context(), service.WriteMultipleRequest{{Object: setpoint, Properties: []service.PropertyWrite{
		{Property: enum.PropertyPresentValue, Value: encoding.Encode(encoding.Real(21))}, {Property: enum.PropertyObjectName, Value: encoding.Encode(encoding.Text("x"))},
	}}}), enum.ClassProperty, enum.CodeWriteAccessDenied)
	if v := one(t, c, d, present); v != encoding.Real(21) {
		t.Errorf("the first of two writes gave %v, want 21", v)
	}
	if _, err := c.At(d).Do(t.Context(), service.ReinitializeDevice, nil); !errors.Is(err, transaction.RejectError{Reason: enum.RejectUnrecognizedService}) {
		t.Errorf("a service that the device does not have gives %v", err)
	}
}

func TestLongAnswersComeInSegmentsOfAnyAPDU(t *testing.T) {
	for _, size := range []int{50, 480, 1476} {
		c, d := pair(t, size, 400)
		objects, err := c.At(d).ReadArray(t.Context(), client.Property{Object: d.ID(), Property: enum.PropertyObjectList})
		if err != nil || len(objects) != 402 {
			t.Errorf("APDU %d: %d objects (%v), want 402", size, len(objects), err)
		}
		var all []client.Property
		for n := 1; n <= 400; n++ {
			all = append(all, client.Property{Object: encoding.ObjectID{Instance: uint32(n)}, Property: enum.PropertyPresentValue})
		}
		results, err := c.At(d).Read(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range results {
			if v, err := r.Value.One(); err != nil || r.Err != nil || v != encoding.Real(float32(i+1)) {
				t.Fatalf("APDU %d: input %d is %v (%v, %v)", size, i+1, v, err, r.Err)
			}
		}
	}
}

func TestSubscribersAreToldOfChangesByTheIncrement(t *testing.T) { // clause 13.1.4
	c, d := pair(t, 1476, 0)
	for _, confirmed := range []bool{true, false} {
		told := make(chan service.Notification, 100)
		s, err := c.At(d).Subscribe(t.Context(), client.Watch{
			Object: setpoint, Confirmed: confirmed, Lifetime: time.Minute, Notify: func(n service.Notification) { told <- n },
		})
		if err != nil {
			t.Fatal(err)
		}
		expect := func(want float32) {
			t.Helper()
			n := <-told
			if v, err := n.Values[0].Value.One(); err != nil || v != encoding.Real(want) || n.Device != d.ID() {
				t.Errorf("told %v (%v), want %v", v, err, want)
			}
		}
		expect(20)
		for _, v := range []float32{21, 21.25, 21.5} { // the second is less than 0.5 away
			if err := c.At(d).Write(t.Context(), present, encoding.Real(v), 8); err != nil {
				t.Fatal(err)
			}
		}
		expect(21)
		expect(21.5)
		if err := s.Cancel(t.Context()); err != nil {
			t.Error(err)
		}
		if err := c.At(d).Write(t.Context(), present, encoding.Null(), 8); err != nil {
			t.Fatal(err)
		}
		if len(told) > 0 {
			t.Errorf("told %v after the subscription was cancelled", <-told)
		}
	}
}

func TestObjectsMustBeUnique(t *testing.T) {
	d := newDevice(t, client.Config{IP: ip.Config{Listen: loopback}}, 0)
	for name, c := range map[string]server.PointConfig{
		"the identifier": {ID: setpoint, Name: "another"}, "the name": {ID: encoding.ObjectID{Instance: 1}, Name: "setpoint"},
	} {
		if err := d.Add(server.NewPoint(c)); !errors.Is(err, server.ErrDuplicate) {
			t.Errorf("%s twice gives %v", name, err)
		}
	}
}

func BenchmarkReadProperty(b *testing.B) {
	c, d := pair(b, 1476, 0)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.At(d).ReadProperty(b.Context(), present); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead100Properties(b *testing.B) {
	c, d := pair(b, 1476, 100)
	var all []client.Property
	for n := 1; n <= 100; n++ {
		all = append(all, client.Property{Object: encoding.ObjectID{Instance: uint32(n)}, Property: enum.PropertyPresentValue})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.At(d).Read(b.Context(), all); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(100*float64(b.N)/b.Elapsed().Seconds(), "properties/s")
}

// BenchmarkRead100PropertiesSixteenAtOnce reads five properties of each of 20 objects in one request, with 16 requests under way.
func BenchmarkRead100PropertiesSixteenAtOnce(b *testing.B) {
	d := newDevice(b, client.Config{IP: ip.Config{Listen: loopback}}, 20)
	c, err := client.Open(b.Context(), client.Config{IP: ip.Config{Listen: loopback}, Pace: client.Pace{InFlight: 16}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	remote := c.At(client.Device{Address: ip.Address{Link: d.Client().Port().Address()}})
	var all []client.Property
	for n := range 100 {
		all = append(all, client.Property{
			Object:   encoding.ObjectID{Instance: uint32(n/5 + 1)},
			Property: []enum.Property{enum.PropertyPresentValue, enum.PropertyStatusFlags, enum.PropertyUnits, enum.PropertyEventState, enum.PropertyOutOfService}[n%5],
		})
	}
	b.ReportAllocs()
	b.SetParallelism(8) // of two processors
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := remote.Read(b.Context(), all); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
