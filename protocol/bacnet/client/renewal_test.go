package client_test

import (
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/server"
	"voltbus/protocol/bacnet/service"
)

// wire is one end of a line between two stations, within a bubble of time.
type wire struct {
	address netip.AddrPort
	other   *wire
	lost    func() bool // whether a message is lost now; nil: none is
	sent    func()      // told of each message; nil
	arrived chan []byte
	ended   chan struct{}
	running sync.WaitGroup
}

func newWire() (a, b *wire) {
	a = &wire{address: netip.MustParseAddrPort("10.0.0.1:47808"), arrived: make(chan []byte, 4096), ended: make(chan struct{})}
	b = &wire{address: netip.MustParseAddrPort("10.0.0.2:47808"), arrived: make(chan []byte, 4096), ended: make(chan struct{}), other: a}
	a.other = b
	return a, b
}

func (w *wire) Open(receive func(from netip.AddrPort, npdu []byte, broadcast bool)) error {
	w.running.Go(func() {
		for {
			select {
			case m := <-w.arrived:
				receive(w.other.address, m, false)
			case <-w.ended:
				return
			}
		}
	})
	return nil
}

func (w *wire) Send(_ netip.AddrPort, npdu []byte) error {
	if w.sent != nil {
		w.sent()
	}
	if w.lost == nil || !w.lost() {
		w.other.arrived <- append([]byte(nil), npdu...)
	}
	return nil
}

func (w *wire) Address() netip.AddrPort { return w.address }

func (w *wire) Broadcast([]byte) error { return ip.ErrNoBroadcast }

func (w *wire) Close() error {
	close(w.ended)
	w.running.Wait()
	return nil
}

// renewals subscribes often and returns how many messages the client sent in each second from then on.
func renewals(t *testing.T, subscriptions int, lasting time.Duration, lost func(time.Duration) bool) []int {
	t.Helper()
	ours, theirs := newWire()
	d, err := server.Open(t.Context(), server.Config{
		Instance: 1, Name: "device", MaxSubscriptions: subscriptions, Client: client.Config{IP: ip.Config{Carrier: theirs}},
	})
	if err != nil {
		t.Fatal(err)
	}
	input := encoding.ObjectID{Instance: 1}
	if err := d.Add(server.NewPoint(server.PointConfig{ID: input, Name: "input", Value: encoding.Real(1)})); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	seconds := make([]int, lasting/time.Second)
	began := time.Now()
	ours.sent = func() {
		mu.Lock()
		defer mu.Unlock()
		if at := int(time.Since(began) / time.Second); at < len(seconds) {
			seconds[at]++
		}
	}
	ours.lost = func() bool { return lost != nil && lost(time.Since(began)) }
	c, err := client.Open(t.Context(), client.Config{IP: ip.Config{Carrier: ours}, Pace: client.Pace{InFlight: 50}})
	if err != nil {
		t.Fatal(err)
	}
	remote := c.At(client.Device{Address: ip.Address{Link: theirs.address}, Instance: 1})
	for range subscriptions {
		if _, err := remote.Watch(client.Watch{Object: input, Lifetime: 5 * time.Minute, Notify: func(service.Notification) {}}); err != nil {
			t.Fatal(err)
		}
	}
	<-time.After(lasting) // of the bubble
	if got := d.Counts().Subscriptions; got != subscriptions {
		t.Errorf("the device has %d subscriptions", got)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	return seconds
}

// busiest returns the most of a second and the mean of some seconds.
func busiest(seconds []int) (most int, mean float64) {
	for _, n := range seconds {
		most = max(most, n)
		mean += float64(n) / float64(len(seconds))
	}
	return most, mean
}

func TestRenewalsAreSpreadEvenly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const subscriptions = 20_000
		seconds := renewals(t, subscriptions, 10*time.Minute, nil)
		most, mean := busiest(seconds[60:]) // those that found no place in the queue at first were repeated
		if want := subscriptions / 150.0; mean < 0.95*want || float64(most) > 1.1*want {
			t.Errorf("%.1f renewals a second, %d in the busiest; want %.1f in each", mean, most, want)
		}
	})
}

func TestRenewalsAreSpreadEvenlyAfterTheDeviceWasSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const subscriptions = 2000
		silent := func(at time.Duration) bool { return at > 4*time.Minute && at < 10*time.Minute }
		seconds := renewals(t, subscriptions, 25*time.Minute, silent)
		most, mean := busiest(seconds[15*60:])
		if want := subscriptions / 150.0; mean < 0.9*want || float64(most) > 1.5*want {
			t.Errorf("%.1f renewals a second, %d in the busiest; want %.1f in each", mean, most, want)
		}
	})
}
