package network

import (
	"context"
	"encoding/hex"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
)

type setting struct {
	at      time.Duration
	to      ip.Address
	service service.Unconfirmed
	payload string
}

// settings runs clocks for a while, and returns what was sent.
func settings(t *testing.T, c *Clocks, during time.Duration) (sent []setting) {
	t.Helper()
	begin := time.Now()
	done := make(chan struct{})
	ctx, stop := timeout(t, during)
	defer stop()
	go func() {
		defer close(done)
		c.run(ctx, func(a ip.Address, s service.Unconfirmed, p []byte) {
			sent = append(sent, setting{time.Since(begin), a, s, hex.EncodeToString(p)})
		})
	}()
	<-done
	return sent
}

func TestClocksAreSetOneAfterTheOtherAndEachAsOftenAsWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock begins at 2000-01-01 00:00 UTC, a Saturday
		c := newClocks()
		for port := range uint16(50) {
			defer c.Keep(station(port), Sync{Every: time.Hour})()
		}
		defer c.Keep(station(1), Sync{Every: 90 * time.Minute})() // somebody else is content with less
		sent := settings(t, c, 2*time.Hour+time.Minute)
		if len(sent) != 150 {
			t.Fatalf("%d settings, want 3 for each of 50 devices", len(sent))
		}
		count := map[ip.Address]int{}
		for i, s := range sent {
			count[s.to]++
			if i > 0 && s.at-sent[i-1].at < syncPause {
				t.Errorf("setting %d follows %v after the one before", i, s.at-sent[i-1].at)
			}
		}
		for a, n := range count {
			if n != 3 {
				t.Errorf("%v was set %d times", a, n)
			}
		}
	})
}

func TestAClockIsSetInUTCOrInLocalTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClocks()
		defer c.Keep(station(1), Sync{Every: time.Hour})()
		sent := settings(t, c, time.Minute)
		// Clause 16.8: date A4, then time B4: Saturday 1 January 2000, 00:00:00.00
		if len(sent) != 1 || sent[0].service != service.UTCTimeSynchronization || sent[0].payload != "a464010106b400000000" {
			t.Errorf("in UTC %+v is sent", sent)
		}
		local := newClocks()
		defer local.Keep(station(1), Sync{Local: true, Zone: time.FixedZone("", -3600), Every: time.Hour})()
		sent = settings(t, local, time.Minute)
		// Clause 16.7, an hour behind and a minute later: Friday 31 December 1999, 23:01
		if len(sent) != 1 || sent[0].service != service.TimeSynchronization || sent[0].payload != "a4630c1f05b417010000" {
			t.Errorf("in local time %+v is sent", sent)
		}
	})
}

func TestAClockIsLeftAloneWhenNobodyWantsItSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClocks()
		c.Keep(station(1), Sync{Every: time.Hour})()
		if sent := settings(t, c, 3*time.Hour); len(sent) != 0 {
			t.Errorf("%+v is sent", sent)
		}
	})
}

func station(port uint16) ip.Address {
	return ip.Address{Link: netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), 1000+port)}
}

func timeout(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), d)
}
