package bacnet_test

import (
	"fmt"
	"testing"
	"time"

	"voltbus/driver"
	"voltbus/driver/bacnet"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/server"
)

// The device answers while the session still subscribes to other objects.
func TestADeviceWithManyPointsIsSubscribedTo(t *testing.T) {
	t.Parallel()
	d, _ := device(t, "127.0.0.1:0", 46)
	var entries []pointlist.Entry
	var names []string
	for i := range uint32(500) {
		id := encoding.ObjectID{Type: enum.AnalogInput, Instance: i + 1}
		name := fmt.Sprint("input ", i+1)
		if err := d.Add(server.NewPoint(server.PointConfig{ID: id, Name: name, Value: encoding.Real(1)})); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, pointlist.Entry{Name: name, Object: id.String()})
		names = append(names, name)
	}
	s := open(t, loopback(t, ip.Address{Link: d.Client().Port().Address()}, entries, func(c *bacnet.Config) { c.Timeout = 10 * time.Second }))
	for range 10 {
		done := make(chan error, 1)
		go func() { done <- s.(driver.Subscriber).Subscribe(t.Context(), names, func() {}) }()
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("it never ends: the session and its socket wait for each other")
		}
	}
}
