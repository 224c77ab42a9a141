package broker_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/broker/setting"
	"voltbus/protocol/mqtt/packet"
)

// bounded lets devices of the default kind do so much.
func bounded(k setting.Kind) func(*setting.Section) {
	k.Name, k.Publish, k.Subscribe = setting.DefaultKind, []string{"devices/{device}/#"}, []string{"devices/{device}/#"}
	return func(s *setting.Section) { s.Kinds = []setting.Kind{k} }
}

// A device that sends more than its kind may is read more slowly; others are not. Time is virtual.
func TestAttackADeviceThatSendsTooMuchIsReadMoreSlowly(t *testing.T) {
	for name, c := range map[string]struct {
		kind             setting.Kind
		messages, octets int
		least            time.Duration
	}{
		// The first four seconds' worth are a burst.
		"messages": {setting.Kind{Rate: 10}, 100, 10, 5 * time.Second},
		"bytes":    {setting.Kind{Rate: 1000, Bytes: 1000}, 13, 1000, 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, bounded(c.kind))
				loud, quiet := s.client("loud", packet.Connect{ClientID: []byte("loud"), CleanStart: true}), s.client("quiet", packet.Connect{ClientID: []byte("quiet"), CleanStart: true})
				began := time.Now()
				var took atomic.Int64
				s.serving.Go(func() {
					for range c.messages {
						loud.publish("devices/loud/x", c.octets, false)
					}
					took.Store(int64(time.Since(began)))
				})
				synctest.Wait()
				if took.Load() > 0 {
					t.Error("the device sends everything at once")
				}
				quiet.publish("devices/quiet/x", c.octets, false)
				if waited := time.Since(began); waited > 0 {
					t.Errorf("another device waits %v for its answer", waited)
				}
				<-time.After(10 * c.least) // virtual
				synctest.Wait()
				if got := time.Duration(took.Load()); got < c.least || got > 3*c.least {
					t.Errorf("%d messages took %v, want %v or somewhat more", c.messages, got, c.least)
				}
			})
		})
	}
}

func TestAttackADeviceHasAsManyClientsAsItsKindMay(t *testing.T) {
	s := newSite(t, bounded(setting.Kind{Sessions: 2}))
	one := func(id string) packet.Connect { return packet.Connect{ClientID: []byte(id), CleanStart: true} }
	first := s.client("pump", one("a"))
	s.client("pump", one("b"))
	if code := s.refused("pump", one("c")); code != packet.QuotaExceeded {
		t.Errorf("a third client is answered %v", code)
	}
	s.client("pump", one("b")) // which takes over the session that is there
	s.client("other", one("c"))
	_ = first.conn.Close()
	s.eventually("the place of the client that left is free", func() bool { return s.refused("pump", one("d")) == packet.Success })
}

// A clock that is set back by a day keeps no device from sending and no client out: what they may was not used up by it.
func TestDevicesConnectAndSendOnWhenTheClockIsSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var jump atomic.Int64
		s := newSiteAt(t, func() time.Time { return time.Now().Round(0).Add(time.Duration(jump.Load())) }, bounded(setting.Kind{Rate: 100}))
		d := s.client("pump", packet.Connect{ClientID: []byte("a"), CleanStart: true, KeepAlive: 60})
		for i, to := range []time.Duration{0, -24 * time.Hour, 24 * time.Hour, -24 * time.Hour} {
			jump.Store(int64(to))
			began := time.Now()
			for range 3 {
				d.publish("devices/pump/x", 10, false)
			}
			s.client(fmt.Sprint("new", i), packet.Connect{ClientID: []byte("b"), CleanStart: true})
			if waited := time.Since(began); waited > 0 {
				t.Errorf("with the clock at %v it waits %v", to, waited)
			}
		}
	})
}
