package server_test

import (
	"errors"
	"testing"
	"time"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
)

// watchProperty subscribes to a property of the setpoint; next returns the first value of the next notification as text.
func watchProperty(t *testing.T, d client.Remote, ref constructed.PropertyReference, increment encoding.Value) (next func() string) {
	t.Helper()
	told := make(chan service.Notification, 100)
	s, err := d.Subscribe(t.Context(), client.Watch{
		Object: setpoint, Property: &ref, Increment: increment, Lifetime: time.Minute, Notify: func(n service.Notification) { told <- n },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	return func() string {
		n := <-told
		if n.Values[0].Property != ref.Property || n.Values[0].Index != ref.Index || len(n.Values) != 2 || n.Values[1].Property != enum.PropertyStatusFlags {
			t.Errorf("told of %+v", n.Values)
		}
		v, err := n.Values[0].Value.One()
		if err != nil {
			t.Error(err)
		}
		return v.String()
	}
}

func TestASubscriberOfAPropertyIsToldOfItsChangesByItsOwnIncrement(t *testing.T) { // clause 13.15
	c, peer := pair(t, 1476, 0)
	d := c.At(peer)
	present2 := watchProperty(t, d, constructed.PropertyReference{Property: enum.PropertyPresentValue}, encoding.Real(2))
	plain := watchProperty(t, d, constructed.PropertyReference{Property: enum.PropertyPresentValue}, encoding.Null())
	slot := watchProperty(t, d, constructed.PropertyReference{Property: enum.PropertyPriorityArray, Index: constructed.At(8)}, encoding.Null())
	expect := func(what string, next func() string, want string) {
		t.Helper()
		if got := next(); got != want {
			t.Errorf("%s: told %s, want %s", what, got, want)
		}
	}
	expect("own increment", present2, "20")
	expect("that of the object", plain, "20")
	expect("an element of the array", slot, "null")
	for _, v := range []float32{21, 21.25, 22.5} {
		if err := d.Write(t.Context(), present, encoding.Real(v), 8); err != nil {
			t.Fatal(err)
		}
	}
	expect("own increment", present2, "22.5")
	expect("that of the object", plain, "21")
	expect("that of the object", plain, "22.5")
	for _, want := range []string{"21", "21.25", "22.5"} {
		expect("an element of the array", slot, want)
	}
}

func TestAPropertyThatIsNotThereCannotBeSubscribedTo(t *testing.T) {
	c, d := pair(t, 1476, 1)
	input := encoding.ObjectID{Type: enum.AnalogInput, Instance: 1}
	ref := constructed.PropertyReference{Property: enum.PropertyPriorityArray}
	_, err := c.At(d).Subscribe(t.Context(), client.Watch{Object: input, Property: &ref, Notify: func(service.Notification) {}})
	if e, is := errors.AsType[service.Error](err); !is || e.Code != enum.CodeUnknownProperty {
		t.Errorf("an input without commands: %v", err)
	}
	request := service.SubscribeRequest{Process: 1, Object: input, Confirmed: true, Lifetime: 60}
	if _, err := c.At(d).Do(t.Context(), service.SubscribeCOVProperty, request.Append(nil)); err == nil {
		t.Error("a request without a property was accepted")
	}
}
