package network

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/npdu"
	"voltbus/protocol/bacnet/service"
)

func TestStationsAreReadAndWritten(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.11": "10.0.0.11", "10.0.0.11:47808": "10.0.0.11", "10.0.0.11:47809": "10.0.0.11:47809", "2001:12": "2001:12", "2001:0x0A0b": "2001:0x0a0b",
		"2001:*": "2001:*", "10.0.0.1/2001:12": "10.0.0.1/2001:12", "51:17": "51:17", "": "",
	} {
		s, err := ParseStation(text)
		if err != nil || s.String() != want {
			t.Errorf("%q is %q, %v, want %q", text, s, err, want)
		}
	}
	for text, want := range map[string]string{
		"ahu.example": "is no address", "10.0.0.1/x:12": "is no network", "10.0.0.1/0:12": "is no network", "2001:zz": "is no MAC", "10.0.0.1/5:*": "names a router and no device", "300:400": "is no MAC",
	} {
		if s, err := ParseStation(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %v, %v, want %q", text, s, err, want)
		}
	}
}

func TestTheBroadcastAddressIsThatOfTheSubnet(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.5/24": "10.0.0.5:47808 10.0.0.255 47808", "10.0.130.5/22:47809": "10.0.130.5:47809 10.0.131.255 47809", "": "0.0.0.0:47808 255.255.255.255 47808",
		"10.0.0.5/24:0": "10.0.0.5:0 10.0.0.255 47808", "127.0.0.1/32:0": "127.0.0.1:0 invalid IP 47808", "0.0.0.0:47809": "0.0.0.0:47809 255.255.255.255 47809",
	} {
		l, err := ParseLocal(text)
		got := l.Listen.String() + " " + l.Broadcast.String() + " " + netip.AddrPortFrom(netip.IPv4Unspecified(), l.Port).String()[len("0.0.0.0:"):]
		if err != nil || got != want {
			t.Errorf("%q is %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"10.0.0.5", "10.0.0.5/33", "10.0.0.5/24:x", "::1/64", "eth0"} {
		if l, err := ParseLocal(text); err == nil {
			t.Errorf("%q is %v", text, l)
		}
	}
}

// questions are the ranges that were asked for.
type questions struct {
	asked []service.Range
	err   error
	hear  func(service.Range)
}

func (q *questions) Await(context.Context) error { return nil }

func (q *questions) WhoIs(_ uint16, r service.Range) error {
	q.asked = append(q.asked, r)
	if q.hear != nil {
		q.hear(r)
	}
	return q.err
}

func seenAt(instance uint32, address string) client.Device {
	return client.Device{Instance: instance, Address: ip.Address{Link: netip.MustParseAddrPort(address + ":47808")}}
}

// searching runs a directory while do looks for devices.
func searching(t *testing.T, q *questions, do func(ctx context.Context, d *Directory)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d := newDirectory()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			d.run(ctx, q)
		}()
		do(ctx, d)
		cancel()
		<-ended
	})
}

func TestThousandDevicesAreAskedForTogetherAndPaced(t *testing.T) {
	q := &questions{}
	searching(t, q, func(ctx context.Context, d *Directory) {
		q.hear = func(r service.Range) {
			go func() {
				for n := r.Low; n <= r.High; n++ {
					d.announced(seenAt(n, "10.0.0.1"))
				}
			}()
		}
		done := make(chan int)
		for n := range uint32(1000) {
			go func() {
				found, err := d.Find(ctx, 5000+n, Station{}, time.Minute)
				if err != nil || len(found) != 1 || found[0].Instance != 5000+n {
					t.Errorf("device %d: %v, %v", 5000+n, found, err)
				}
				done <- len(found)
			}()
		}
		for range 1000 {
			<-done
		}
	})
	if len(q.asked) > 2*1000/together+2 {
		t.Errorf("%d questions for 1,000 devices", len(q.asked))
	}
	for _, r := range q.asked {
		if r.High-r.Low >= together {
			t.Errorf("a question for %d devices at once", r.High-r.Low+1)
		}
	}
}

func TestADeviceThatIsLookedForWhileAnotherIsAskedForIsAskedForNext(t *testing.T) {
	q := &questions{}
	searching(t, q, func(ctx context.Context, d *Directory) {
		found := make(chan []client.Device, 2)
		find := func(instance uint32) {
			devices, err := d.Find(ctx, instance, Station{}, time.Second)
			if err != nil {
				t.Error(err)
			}
			found <- devices
		}
		q.hear = func(r service.Range) {
			if len(q.asked) == 1 { // before the Who-Is has left
				go find(11)
				synctest.Wait()
			}
			go func() {
				for n := r.Low; n <= r.High; n++ {
					d.announced(seenAt(n, "10.0.0.1"))
				}
			}()
		}
		go find(18)
		for range 2 {
			if devices := <-found; len(devices) != 1 {
				t.Errorf("found %v, want one device; asked for %v", devices, q.asked)
			}
		}
	})
}

func TestTwoDevicesWithOneInstanceAreBothFoundUnlessTheStationTellsThemApart(t *testing.T) {
	q := &questions{}
	searching(t, q, func(ctx context.Context, d *Directory) {
		q.hear = func(service.Range) {
			go func() {
				d.announced(seenAt(7, "10.0.0.1"))
				behind := seenAt(7, "10.0.0.9")
				behind.Address.Remote = npdu.Address{Net: 2001, MAC: "\x05"}
				d.announced(behind)
				d.announced(seenAt(8, "10.0.0.3"))
			}()
		}
		if found, err := d.Find(ctx, 7, Station{}, time.Second); err != nil || len(found) != 2 {
			t.Errorf("found %v, %v, want both", found, err)
		}
		at, _ := ParseStation("2001:5")
		if found, err := d.Find(ctx, 7, at, time.Second); err != nil || len(found) != 1 || found[0].Address.Remote.Net != 2001 {
			t.Errorf("behind the router found %v, %v", found, err)
		}
		if others := d.Others(7, seenAt(7, "10.0.0.1").Address); len(others) != 1 {
			t.Errorf("the others are %v", others)
		}
	})
}

func TestASearchEndsWhenNobodyAnswersOrNobodyCanBeAsked(t *testing.T) {
	searching(t, &questions{}, func(ctx context.Context, d *Directory) {
		if found, err := d.Find(ctx, 7, Station{}, time.Second); err != nil || len(found) != 0 {
			t.Errorf("found %v, %v", found, err)
		}
		short, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		if _, err := d.Find(short, 8, Station{}, time.Second); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want that the time is up", err)
		}
	})
	searching(t, &questions{err: ip.ErrNoBroadcast}, func(ctx context.Context, d *Directory) {
		if _, err := d.Find(ctx, 7, Station{}, time.Second); !errors.Is(err, ip.ErrNoBroadcast) {
			t.Errorf("got %v, want why nobody can be asked", err)
		}
	})
}
