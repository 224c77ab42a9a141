package server_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/server"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

// group returns the properties that stand for a group.
func group(t *testing.T, c *client.Client, d client.Device, object encoding.ObjectID, p enum.Property) (names []enum.Property) {
	t.Helper()
	r := service.ReadMultipleRequest{{Object: object, Properties: []constructed.PropertyReference{{Property: p}}}}
	answer, err := c.At(d).Do(t.Context(), service.ReadPropertyMultiple, r.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	ack, err := service.DecodeReadMultipleAck(answer)
	if err != nil || len(ack) != 1 {
		t.Fatal(ack, err)
	}
	for _, result := range ack[0].Properties {
		if result.Error != nil {
			t.Errorf("%v: %v", result.Property, result.Error)
		}
		names = append(names, result.Property)
	}
	return names
}

func TestGroupsOfPropertiesAreAllRequiredAndOptionalOnes(t *testing.T) { // clause 15.7.3.1.2
	c, d := pair(t, 1476, 0)
	for _, object := range []encoding.ObjectID{setpoint, d.ID()} {
		all := group(t, c, d, object, enum.PropertyAll)
		required, optional := group(t, c, d, object, enum.PropertyRequired), group(t, c, d, object, enum.PropertyOptional)
		if len(required)+len(optional) != len(all) {
			t.Errorf("%v: %d required and %d optional properties are not all %d", object, len(required), len(optional), len(all))
		}
		for _, p := range all {
			if slices.Contains(required, p) == slices.Contains(optional, p) {
				t.Errorf("%v: %v is in both or in none", object, p)
			}
		}
	}
	if got := group(t, c, d, setpoint, enum.PropertyRequired); !slices.Contains(got, enum.PropertyUnits) || slices.Contains(got, enum.PropertyDescription) {
		t.Errorf("required of an analog value are %v", got)
	}
}

func TestAMalformedPartOfARequestForManyRejectsIt(t *testing.T) {
	c, d := pair(t, 1476, 0)
	r := service.ReadMultipleRequest{{Object: setpoint, Properties: []constructed.PropertyReference{{Property: enum.PropertyPresentValue}}}}
	whole := r.Append(nil)
	for cut := 1; cut < len(whole); cut++ {
		if _, err := c.At(d).Do(t.Context(), service.ReadPropertyMultiple, whole[:cut]); !errors.Is(err, transaction.RejectError{Reason: enum.RejectInvalidTag}) {
			t.Errorf("cut after %d bytes: %v", cut, err)
		}
	}
}

func TestAShortRequestForAnEndlessAnswerIsAborted(t *testing.T) {
	c, d := pair(t, 1476, 400)
	r := service.ReadMultipleRequest{{Object: d.ID()}}
	for range 250 { // of 1.6 kB each
		r[0].Properties = append(r[0].Properties, constructed.PropertyReference{Property: enum.PropertyObjectList})
	}
	_, err := c.At(d).Do(t.Context(), service.ReadPropertyMultiple, r.Append(nil))
	if !errors.Is(err, transaction.AbortError{Reason: enum.AbortBufferOverflow}) {
		t.Errorf("got %v", err)
	}
}

func TestOnlyTheDeviceThatHasAnObjectSaysSo(t *testing.T) {
	held := make(chan service.ObjectAnnouncement, 10)
	d := newDevice(t, client.Config{IP: ip.Config{Listen: loopback}}, 1)
	first := server.NewPoint(server.PointConfig{ID: encoding.ObjectID{Type: enum.AnalogInput}, Name: "input 0", Value: encoding.Real(0)})
	if err := d.Add(first); err != nil { // analog-input:0 is the zero value of an identifier
		t.Fatal(err)
	}
	c, err := client.Open(t.Context(), client.Config{IP: ip.Config{Listen: loopback}, Unconfirmed: func(_ ip.Message, s service.Unconfirmed, p []byte) {
		if a, err := service.DecodeObjectAnnouncement(p); s == service.IHave && err == nil {
			held <- a
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	remote := c.At(client.Device{Address: ip.Address{Link: d.Client().Port().Address()}})
	for _, q := range []service.ObjectQuery{{Name: "nobody"}, {Object: setpoint, Devices: service.Devices(1, 2)}, {Name: "setpoint"}} {
		if err := remote.Tell(service.WhoHas, q.Append(nil)); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-held; got.Object != setpoint || got.Name != "setpoint" || got.Device != d.ID() {
		t.Errorf("the first answer is %+v, want only that for the setpoint", got)
	}
}

func TestACommandMayWaitWhileOthersAreAnswered(t *testing.T) {
	decide := make(chan error)
	d := newDevice(t, client.Config{IP: ip.Config{Listen: loopback}}, 1)
	commands := make(chan server.Command, 1)
	id := encoding.ObjectID{Type: enum.BinaryOutput, Instance: 1}
	err := d.Add(server.NewPoint(server.PointConfig{
		ID: id, Name: "fan", Value: encoding.Enumerated(uint8(0)), Inactive: "off", Active: "on", Commandable: true,
		Command: func(ctx context.Context, c server.Command) error {
			commands <- c
			select {
			case err := <-decide:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	}))
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.Open(t.Context(), client.Config{IP: ip.Config{Listen: loopback}, Pace: client.Pace{InFlight: 4}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	remote := c.At(client.Device{Address: ip.Address{Link: d.Client().Port().Address()}})
	fan := client.Property{Object: id, Property: enum.PropertyPresentValue}
	written := make(chan error, 1)
	go func() { written <- remote.Write(t.Context(), fan, encoding.Enumerated(uint8(1)), 8) }()
	if got := <-commands; got.Priority != 8 || got.Value != encoding.Enumerated(uint8(1)) || got.From.Link != c.Port().Address() {
		t.Errorf("the command is %+v", got)
	}
	if v := one(t, c, remote.Device, fan); v != encoding.Enumerated(uint8(0)) {
		t.Errorf("while it is decided the fan is %v", v)
	}
	busy := service.Error{Class: enum.ClassDevice, Code: enum.CodeDeviceBusy}
	decide <- busy
	if err := <-written; !errors.Is(err, busy) {
		t.Errorf("the writer is told %v", err)
	}
	if err := remote.Write(t.Context(), fan, encoding.Enumerated(uint8(2)), 8); !errors.Is(err, service.Error{Class: enum.ClassProperty, Code: enum.CodeValueOutOfRange}) {
		t.Errorf("a third state gives %v", err)
	}
}

// TestASlowSubscriberIsToldTheNewestStateOnly has a subscriber that does not answer the first notification until the value changed a
// thousand times.
func TestASlowSubscriberIsToldTheNewestStateOnly(t *testing.T) {
	d := newDevice(t, client.Config{IP: ip.Config{Listen: loopback}}, 1)
	point := server.NewPoint(server.PointConfig{ID: encoding.ObjectID{Instance: 7}, Name: "fast", Value: encoding.Real(0)})
	if err := d.Add(point); err != nil {
		t.Fatal(err)
	}
	c, err := client.Open(t.Context(), client.Config{IP: ip.Config{Listen: loopback}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	remote := c.At(client.Device{Address: ip.Address{Link: d.Client().Port().Address()}})
	release := make(chan struct{})
	told := make(chan float64, 2000)
	watch := client.Watch{Object: point.ID(), Confirmed: true, Lifetime: time.Hour, Notify: func(n service.Notification) {
		v, _ := n.Values[0].Value.One()
		f, _ := v.Float()
		told <- f
		<-release
	}}
	if _, err := remote.Subscribe(t.Context(), watch); err != nil {
		t.Fatal(err)
	}
	if first := <-told; first != 0 {
		t.Errorf("greeted with %v", first)
	}
	for n := range 1000 {
		point.Set(encoding.Real(float32(n+1)), constructed.StatusFlags{})
	}
	close(release)
	if second := <-told; second != 1000 {
		t.Errorf("then told %v, want the newest", second)
	}
	if len(told) > 0 {
		t.Errorf("%d more notifications", len(told))
	}
}

// tail is a list of which each item is one byte.
type tail struct{ server.Object }

func (tail) ID() encoding.ObjectID { return encoding.ObjectID{Type: enum.TrendLog, Instance: 1} }
func (tail) Name() string          { return "log" }

func (tail) ReadRange(_ context.Context, r service.ReadRangeRequest, room int) (service.ReadRangeAck, error) {
	return service.ReadRangeAck{Object: r.Object, Property: r.Property, Count: uint32(room), Items: slices.Repeat(encoding.Any{0}, room)}, nil
}

func TestARangeIsAsLongAsTheClientTakes(t *testing.T) {
	d := newDevice(t, client.Config{IP: ip.Config{Listen: loopback}}, 1)
	if err := d.Add(tail{}); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{50, 480, 1476} {
		c, err := client.Open(t.Context(), client.Config{IP: ip.Config{Listen: loopback}, Transaction: transaction.Config{MaxAPDU: size}})
		if err != nil {
			t.Fatal(err)
		}
		remote := c.At(client.Device{Address: ip.Address{Link: d.Client().Port().Address()}})
		ack, err := remote.ReadRange(t.Context(), service.ReadRangeRequest{Object: tail{}.ID(), Property: enum.PropertyLogBuffer})
		if err != nil || ack.Count < 5000 {
			t.Errorf("APDU %d: %d items, %v", size, ack.Count, err)
		}
		_, err = remote.ReadRange(t.Context(), service.ReadRangeRequest{Object: setpoint, Property: enum.PropertyLogBuffer})
		if !errors.Is(err, service.Error{Class: enum.ClassProperty, Code: enum.CodePropertyIsNotAList}) {
			t.Errorf("a range of a point gives %v", err)
		}
		_ = c.Close()
	}
}

func TestADeviceThatIsClosedWaitsForNobody(t *testing.T) {
	d, err := server.Open(t.Context(), server.Config{Instance: 5, Name: "d", Client: client.Config{IP: ip.Config{Listen: loopback}}})
	if err != nil {
		t.Fatal(err)
	}
	begun := make(chan struct{})
	err = d.Add(server.NewPoint(server.PointConfig{
		ID: setpoint, Name: "p", Value: encoding.Real(0), Commandable: true,
		Command: func(ctx context.Context, _ server.Command) error { close(begun); <-ctx.Done(); return ctx.Err() },
	}))
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.Open(t.Context(), client.Config{IP: ip.Config{Listen: loopback}})
	if err != nil {
		t.Fatal(err)
	}
	remote := c.At(client.Device{Address: ip.Address{Link: d.Client().Port().Address()}})
	payload := service.WritePropertyRequest{ReadPropertyRequest: present, Value: encoding.Encode(encoding.Real(1)), Priority: 1}.Append(nil)
	if err := remote.Start(service.WriteProperty, payload, func([]byte, error) {}); err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := errors.Join(d.Close(), c.Close()); err != nil { // goleak sees what is left
		t.Error(err)
	}
}
