package bacnet_test

import (
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/driver"
	"voltbus/driver/bacnet"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/bacnet/apdu"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/server"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

// These tests need a device that misbehaves, which the devices of other projects do not: it is a device of package
// server on loopback, or one that answers by hand.

// loopback returns a configuration of a device on loopback, with a socket of its own.
func loopback(t *testing.T, device ip.Address, entries []pointlist.Entry, change func(*bacnet.Config)) *bacnet.Config {
	t.Helper()
	c := bacnet.NewConfig()
	c.Local, c.Address, c.Timeout, c.Retries = "127.0.0.1/32:0", device.Link.String(), 300*time.Millisecond, 0
	c.Registry.Entries = entries
	if change != nil {
		change(c)
	}
	if problems := append(c.Load(nil), c.Validate()...); len(problems) > 0 {
		t.Fatalf("the configuration has problems: %v", problems)
	}
	return c
}

// open opens a session.
func open(t *testing.T, c *bacnet.Config) driver.Session {
	t.Helper()
	line, err := bacnet.Kind().Dial(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = line.Close() })
	s, err := line.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// misfit is a device that answers by hand.
type misfit struct {
	t      *testing.T
	client *client.Client

	mu     sync.Mutex
	answer func(i transaction.Indication[ip.Address]) (transaction.Response, bool)
	asked  []service.Confirmed
}

func newMisfit(t *testing.T, answer func(transaction.Indication[ip.Address]) (transaction.Response, bool)) *misfit {
	t.Helper()
	m := &misfit{t: t, answer: answer}
	ready := make(chan struct{})
	c, err := client.Open(t.Context(), client.Config{
		IP: ip.Config{Listen: netip.MustParseAddrPort("127.0.0.1:0")},
		Serve: func(i transaction.Indication[ip.Address]) {
			<-ready
			m.serve(i)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	m.client = c
	close(ready)
	t.Cleanup(func() { _ = c.Close() })
	return m
}

func (m *misfit) serve(i transaction.Indication[ip.Address]) {
	m.mu.Lock()
	m.asked = append(m.asked, i.Service)
	r, answers := m.answer(i)
	m.mu.Unlock()
	if answers {
		m.client.Respond(i, r)
	}
}

func (m *misfit) address() ip.Address { return ip.Address{Link: m.client.Port().Address()} }

// count returns how often a service was asked for.
func (m *misfit) count(s service.Confirmed) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, asked := range m.asked {
		if asked == s {
			n++
		}
	}
	return n
}

// readOne answers ReadProperty of a device that has analog inputs with the value 7.
func readOne(i transaction.Indication[ip.Address]) (transaction.Response, bool) {
	r, err := service.DecodeReadPropertyRequest(i.Payload)
	if err != nil {
		return transaction.Response{Type: apdu.Reject, Reason: uint8(enum.RejectInvalidTag)}, true
	}
	v := encoding.Real(7)
	switch r.Property {
	case enum.PropertyObjectIdentifier:
		v = encoding.ObjectIDValue(encoding.ObjectID{Type: enum.Device, Instance: 5})
	case enum.PropertyMaxAPDULengthAccepted:
		v = encoding.Unsigned(480)
	case enum.PropertySegmentationSupported:
		v = encoding.Enumerated(service.NoSegmentation)
	case enum.PropertyStatusFlags:
		v = encoding.BitStringValue(encoding.Bits(false, false, false, false))
	default:
	}
	return transaction.Response{Type: apdu.ComplexAck, Payload: service.ReadPropertyAck{ReadPropertyRequest: r, Value: encoding.Encode(v)}.Append(nil)}, true
}

func refuse(class enum.ErrorClass, code enum.ErrorCode) (transaction.Response, bool) {
	return transaction.Response{Type: apdu.Error, Payload: service.Error{Class: class, Code: code}.Append(nil)}, true
}

var inputs = []pointlist.Entry{{Name: "a", Object: "analog-input:1"}, {Name: "b", Object: "analog-input:2"}, {Name: "c", Object: "analog-input:3"}}

func TestADeviceWithBrokenReadPropertyMultipleIsReadOneByOneAndThatIsRemembered(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]func(transaction.Indication[ip.Address]) (transaction.Response, bool){
		"it rejects the service": func(transaction.Indication[ip.Address]) (transaction.Response, bool) {
			return transaction.Response{Type: apdu.Reject, Reason: uint8(enum.RejectUnrecognizedService)}, true
		},
		"it does not answer it": func(transaction.Indication[ip.Address]) (transaction.Response, bool) {
			return transaction.Response{}, false
		},
		"it answers with something else": func(transaction.Indication[ip.Address]) (transaction.Response, bool) {
			return transaction.Response{Type: apdu.ComplexAck, Payload: service.ReadMultipleAck{}.Append([]byte{})}, true
		},
		"it answers with an error of the service": func(transaction.Indication[ip.Address]) (transaction.Response, bool) {
			return refuse(enum.ClassServices, enum.CodeServiceRequestDenied)
		},
		"it aborts whatever is asked for": func(transaction.Indication[ip.Address]) (transaction.Response, bool) {
			return transaction.Response{Type: apdu.Abort, Reason: uint8(enum.AbortBufferOverflow)}, true
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMisfit(t, func(i transaction.Indication[ip.Address]) (transaction.Response, bool) {
				if i.Service == service.ReadPropertyMultiple {
					return broken(i)
				}
				return readOne(i)
			})
			s := open(t, loopback(t, m.address(), inputs, nil))
			for range 2 {
				samples, err := s.Read(t.Context(), []string{"a", "b", "c"})
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range samples {
					if x.Value != point.FloatOf(7) || x.Quality != point.Good {
						t.Errorf("%s is %v, %v", x.Point, x.Value, x.Quality)
					}
				}
			}
			before := m.count(service.ReadPropertyMultiple)
			if _, err := s.Read(t.Context(), []string{"a", "b", "c"}); err != nil {
				t.Fatal(err)
			}
			if after := m.count(service.ReadPropertyMultiple); after != before || before == 0 {
				t.Errorf("it was asked by ReadPropertyMultiple %d times, then %d times", before, after)
			}
		})
	}
}

func TestARefusedWriteSaysWhyInPlainWords(t *testing.T) {
	t.Parallel()
	code, class := enum.CodeWriteAccessDenied, enum.ClassProperty
	m := newMisfit(t, func(i transaction.Indication[ip.Address]) (transaction.Response, bool) {
		if i.Service == service.WriteProperty {
			return refuse(class, code)
		}
		return readOne(i)
	})
	s := open(t, loopback(t, m.address(), []pointlist.Entry{{Name: "sp", Object: "analog-value:1", Writable: "true", Priority: "16"}}, nil))
	for _, tt := range []struct {
		class enum.ErrorClass
		code  enum.ErrorCode
		kind  fault.Kind
		words string
	}{
		{enum.ClassProperty, enum.CodeWriteAccessDenied, fault.Rejected, "write-access-denied (property): the device lets nobody write it"},
		{enum.ClassProperty, enum.CodeValueOutOfRange, fault.Rejected, "value-out-of-range (property): the value is outside what the device takes"},
		{enum.ClassProperty, enum.CodeInvalidDataType, fault.Rejected, "invalid-data-type (property): the device wants another type of value"},
		{enum.ClassObject, enum.CodeUnknownObject, fault.Rejected, "unknown-object (object): the device has no such object"},
		{enum.ClassProperty, enum.CodeUnknownProperty, fault.Rejected, "unknown-property (property): the object has no such property"},
		{enum.ClassResources, enum.CodeNoSpaceToWriteProperty, fault.Rejected, "no-space-to-write-property (resources): the device has no memory left"},
		{enum.ClassServices, enum.CodeServiceRequestDenied, fault.Rejected, "service-request-denied (services): the device refuses the service"},
		{enum.ClassDevice, enum.CodeDeviceBusy, fault.Unavailable, "device-busy (device): the device is busy; try again later"},
		{enum.ClassDevice, enum.CodeOperationalProblem, fault.Unavailable, "operational-problem (device): the device cannot do it now"},
		{enum.ClassProperty, enum.ErrorCode(999), fault.Rejected, "999 (property); the manual of the device says more"},
	} {
		m.mu.Lock()
		class, code = tt.class, tt.code
		m.mu.Unlock()
		_, err := s.(driver.Prioritizer).Command(t.Context(), "sp", driver.Command{Value: point.FloatOf(21), Level: 8})
		if fault.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.words) || !strings.Contains(err.Error(), "write 21 at priority 8") {
			t.Errorf("%v gives %v of kind %v, want %q of kind %v", tt.code, err, fault.KindOf(err), tt.words, tt.kind)
		}
	}
	writes := m.count(service.WriteProperty)
	if _, err := s.(driver.Prioritizer).Command(t.Context(), "sp", driver.Command{Value: point.FloatOf(21), Level: 8}); err == nil || m.count(service.WriteProperty) != writes+1 {
		t.Errorf("a write was sent %d times", m.count(service.WriteProperty)-writes)
	}
}

func TestAWriteWithoutAnAnswerIsSentOnceAndItsOutcomeIsNotKnown(t *testing.T) {
	t.Parallel()
	m := newMisfit(t, func(i transaction.Indication[ip.Address]) (transaction.Response, bool) {
		if i.Service == service.WriteProperty {
			return transaction.Response{}, false
		}
		return readOne(i)
	})
	s := open(t, loopback(t, m.address(), []pointlist.Entry{{Name: "sp", Object: "analog-value:1", Writable: "true"}}, func(c *bacnet.Config) { c.Retries = 3 }))
	if _, err := s.(driver.Writer).Write(t.Context(), "sp", point.FloatOf(21)); fault.KindOf(err) != fault.Timeout {
		t.Errorf("got %v, want a time-out", err)
	}
	if n := m.count(service.WriteProperty); n != 1 {
		t.Errorf("it was sent %d times", n)
	}
}

func TestAnAbortOrRejectOfAReadIsAnAnswerForItsPointAlone(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]transaction.Response{
		"abort":  {Type: apdu.Abort, Reason: uint8(enum.AbortOutOfResources)},
		"reject": {Type: apdu.Reject, Reason: uint8(enum.RejectTooManyArguments)},
	} {
		m := newMisfit(t, func(i transaction.Indication[ip.Address]) (transaction.Response, bool) {
			q, err := service.DecodeReadPropertyRequest(i.Payload)
			if i.Service != service.ReadProperty || err == nil && q.Object.Type == enum.AnalogInput && q.Object.Instance == 2 {
				return r, true
			}
			return readOne(i)
		})
		s := open(t, loopback(t, m.address(), inputs, nil))
		samples, err := s.Read(t.Context(), []string{"a", "b", "c"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, want := range []point.Quality{point.Good, point.BadDevice, point.Good} {
			if samples[i].Quality != want {
				t.Errorf("%s: %s is %v, want %v", name, samples[i].Point, samples[i].Quality, want)
			}
		}
	}
}

func TestAnotherDeviceAtTheAddressIsToldFromTheOneThatIsMeant(t *testing.T) {
	t.Parallel()
	m := newMisfit(t, readOne)
	instance := 6
	s := open(t, loopback(t, m.address(), inputs, func(c *bacnet.Config) { c.Device = &instance }))
	_, err := s.Read(t.Context(), []string{"a"})
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "it is device 5") {
		t.Errorf("got %v, want a conflict that names device 5", err)
	}
}

func TestUnknownTypesOfAVendorAreShownRaw(t *testing.T) {
	t.Parallel()
	raw := encoding.Any{0x0E, 0x21, 0x05, 0x0F} // constructed: [0]{ unsigned 5 }
	m := newMisfit(t, func(i transaction.Indication[ip.Address]) (transaction.Response, bool) {
		q, err := service.DecodeReadPropertyRequest(i.Payload)
		if err == nil && q.Object.Type == 300 && q.Property == enum.PropertyPresentValue {
			return transaction.Response{Type: apdu.ComplexAck, Payload: service.ReadPropertyAck{ReadPropertyRequest: q, Value: raw}.Append(nil)}, true
		}
		return readOne(i)
	})
	s := open(t, loopback(t, m.address(), []pointlist.Entry{{Name: "x", Object: "300:1"}, {Name: "y", Object: "300:1", Property: "5000"}}, func(c *bacnet.Config) {
		c.MaxPerRequest, c.StatusFlags = 1, false
	}))
	samples, err := s.Read(t.Context(), []string{"x", "y"})
	if err != nil || samples[0].Value != point.TextOf("0E21050F") || samples[1].Value != point.FloatOf(7) {
		t.Errorf("got %v, %v", samples, err)
	}
}

// device is a device of package server on loopback with an analog value.
func device(t *testing.T, listen string, instance uint32) (*server.Device, *server.Point) {
	t.Helper()
	d, err := server.Open(t.Context(), server.Config{
		Instance: instance, Name: "own", Vendor: 999,
		Client: client.Config{IP: ip.Config{Listen: netip.MustParseAddrPort(listen), Broadcast: netip.MustParseAddr("127.255.255.255"), BroadcastPort: 47808}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	p := server.NewPoint(server.PointConfig{ID: encoding.ObjectID{Type: enum.AnalogValue, Instance: 1}, Name: "sp", Value: encoding.Real(20), Increment: 0.5})
	if err := d.Add(p); err != nil {
		t.Fatal(err)
	}
	return d, p
}

// searching returns a configuration that finds a device by its instance, in a namespace.
func searching(t *testing.T, instance int) *bacnet.Config {
	t.Helper()
	return config(t, instance, []pointlist.Entry{{Name: "sp", Object: "analog-value:1"}}, func(c *bacnet.Config) { c.Timeout, c.Retries = time.Second, 0 })
}

// station is an own device in a namespace.
func station(t *testing.T, address string, instance uint32, value float32) *server.Device {
	t.Helper()
	d, err := server.Open(t.Context(), server.Config{
		Instance: instance, Name: "own", Vendor: 999,
		Client: client.Config{IP: ip.Config{Listen: netip.MustParseAddrPort(address + ":47808"), Broadcast: netip.MustParseAddr("10.66.0.255")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := server.NewPoint(server.PointConfig{ID: encoding.ObjectID{Type: enum.AnalogValue, Instance: 1}, Name: "sp", Value: encoding.Real(value)})
	if err := d.Add(p); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTwoDevicesWithOneInstanceAreToldByTheirAddresses(t *testing.T) {
	t.Parallel()
	if !namespace(t) {
		return
	}
	for i, address := range []string{"10.66.0.11", "10.66.0.12"} {
		d := station(t, address, 40, float32(i))
		t.Cleanup(func() { _ = d.Close() })
	}
	s := open(t, searching(t, 40))
	_, err := s.Read(t.Context(), []string{"sp"})
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "10.66.0.11") || !strings.Contains(err.Error(), "10.66.0.12") {
		t.Errorf("got %v, want a conflict with both addresses", err)
	}
	c := searching(t, 40)
	c.Address = "10.66.0.12"
	one := open(t, c)
	if samples, err := one.Read(t.Context(), []string{"sp"}); err != nil || samples[0].Value != point.FloatOf(1) {
		t.Errorf("with its address it is %v, %v", samples, err)
	}
}

func TestADeviceThatMovesIsFoundAtItsNewAddress(t *testing.T) {
	t.Parallel()
	if !namespace(t) {
		return
	}
	d := station(t, "10.66.0.11", 41, 1)
	s := open(t, searching(t, 41))
	if samples, err := s.Read(t.Context(), []string{"sp"}); err != nil || samples[0].Value != point.FloatOf(1) {
		t.Fatalf("at first: %v, %v", samples, err)
	}
	_ = d.Close()
	if _, err := s.Read(t.Context(), []string{"sp"}); fault.KindOf(err) != fault.Timeout {
		t.Errorf("while it is away: %v, want a time-out", err)
	}
	moved := station(t, "10.66.0.12", 41, 2)
	defer func() { _ = moved.Close() }()
	if samples, err := s.Read(t.Context(), []string{"sp"}); err != nil || samples[0].Value != point.FloatOf(2) {
		t.Errorf("at its new address: %v, %v", samples, err)
	}
}

func TestADeviceThatIsNowhereIsATimeOutThatSaysWhatToCheck(t *testing.T) {
	t.Parallel()
	if !namespace(t) {
		return
	}
	s := open(t, searching(t, 42))
	if _, err := s.Read(t.Context(), []string{"sp"}); fault.KindOf(err) != fault.Timeout || !strings.Contains(err.Error(), "no device has announced this instance") {
		t.Errorf("got %v", err)
	}
}

func TestChangesThatADeviceStopsReportingAreNoticedByThePoll(t *testing.T) {
	t.Parallel()
	d, p := device(t, "127.0.0.1:0", 43)
	s := open(t, loopback(t, ip.Address{Link: d.Client().Port().Address()}, []pointlist.Entry{{Name: "sp", Object: "analog-value:1"}}, nil))
	news := make(chan struct{}, 1)
	tell := func() {
		select {
		case news <- struct{}{}:
		default:
		}
	}
	listener := s.(driver.Subscriber)
	if err := listener.Subscribe(t.Context(), []string{"sp"}, tell); err != nil {
		t.Fatal(err)
	}
	hear := func(want float64) {
		t.Helper()
		for {
			var got []point.Value
			if err := listener.Take(t.Context(), func(x point.Sample) { got = append(got, x.Value) }); err != nil {
				t.Fatal(err)
			}
			for _, v := range got {
				if v == point.FloatOf(want) {
					return
				}
			}
			select {
			case <-news:
			case <-t.Context().Done():
				t.Fatalf("%v was never reported", want)
			}
		}
	}
	hear(20)
	p.Set(encoding.Real(30), p.Flags())
	hear(30)
	d.Forget() // as after a restart: nobody is subscribed any more
	p.Set(encoding.Real(40), p.Flags())
	for range 2 {
		if samples, err := s.Read(t.Context(), []string{"sp"}); err != nil || samples[0].Value != point.FloatOf(40) {
			t.Fatalf("the poll gives %v, %v", samples, err)
		}
	}
	if err := s.(driver.Diagnoser).Diagnose(); err != nil && !strings.Contains(err.Error(), "has stopped reporting changes of 1 point, which reads found: sp (analog-value:1)") {
		t.Errorf("the diagnosis is %v", err)
	}
	hear(40) // it was subscribed to anew
	p.Set(encoding.Real(50), p.Flags())
	hear(50)
}

func TestADeviceThatDoesNotReportChangesSaysThatItNeedsAnInterval(t *testing.T) {
	t.Parallel()
	m := newMisfit(t, func(i transaction.Indication[ip.Address]) (transaction.Response, bool) {
		if i.Service == service.SubscribeCOV {
			return refuse(enum.ClassObject, enum.CodeOptionalFunctionalityNotSupported)
		}
		return readOne(i)
	})
	s := open(t, loopback(t, m.address(), inputs, nil))
	news := make(chan struct{}, 16)
	if err := s.(driver.Subscriber).Subscribe(t.Context(), []string{"a", "b"}, func() { news <- struct{}{} }); err != nil {
		t.Fatal(err)
	}
	for {
		<-news
		if err := s.(driver.Subscriber).Take(t.Context(), func(point.Sample) {}); err != nil {
			t.Fatal(err)
		}
		if known, why := s.(driver.Lacking).Lacks(); known {
			if why == nil || !strings.Contains(why.Error(), "does not report changes of 2 points") || !strings.Contains(why.Error(), "give the device an interval") {
				t.Errorf("it lacks %v", why)
			}
			return
		}
	}
}
