package bacnet_test

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"voltbus/driver"
	"voltbus/driver/bacnet"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/bacnet/apdu"
	"voltbus/protocol/bacnet/bvlc"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/npdu"
	"voltbus/protocol/bacnet/service"
	"voltbus/testing/peers"
)

// until asks until the condition holds. What it waits for, such as a router that starts, tells nobody.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !condition() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("never: %s", what)
		}
	}
}

// reads reports whether a point of a session has a value.
func reads(t *testing.T, s driver.Session, name string, want point.Value) bool {
	t.Helper()
	samples, err := s.Read(t.Context(), []string{name})
	return err == nil && samples[0].Value == want
}

func TestDevicesBehindARouterAreReadCommandedAndReportedAndTheRouterMayGoAndComeBack(t *testing.T) {
	t.Parallel()
	if !namespace(t) {
		return
	}
	router := func() *peers.Process { return peers.BACnet(t, "router", "10.66.0.11/24", "60", "480", "20") }
	first := router()
	for name, change := range map[string]func(*bacnet.Config){
		"by its instance":                         func(*bacnet.Config) {},
		"by its network and MAC":                  func(c *bacnet.Config) { c.Address = "2001:1" },
		"by its network, MAC and router":          func(c *bacnet.Config) { c.Address = "10.66.0.11/2001:1" },
		"by its network, MAC, router, one by one": func(c *bacnet.Config) { c.Address, c.MaxPerRequest = "10.66.0.11/2001:1", 1 },
	} {
		s := open(t, config(t, 60, plant()[:4], change))
		samples, err := s.Read(t.Context(), []string{"temp 1", "temp 2"})
		if err != nil || samples[0].Value != point.FloatOf(1.5) || samples[1].Value != point.FloatOf(2.5) {
			t.Errorf("%s: %v, %v", name, samples, err)
		}
	}
	s := open(t, config(t, 61, plant()[:4], func(c *bacnet.Config) { c.COVLifetime, c.Timeout, c.Retries = 10*time.Second, time.Second, 0 }))
	command := driver.Command{Value: point.FloatOf(25), Level: 8}
	if v, err := s.(driver.Prioritizer).Command(t.Context(), "setpoint", command); err != nil || v != point.FloatOf(25) {
		t.Errorf("commanded: %v, %v", v, err)
	}
	heard := make(chan struct{}, 1)
	if err := s.(driver.Subscriber).Subscribe(t.Context(), []string{"setpoint"}, func() {
		select {
		case heard <- struct{}{}:
		default:
		}
	}); err != nil {
		t.Fatal(err)
	}
	var reported point.Value
	until(t, "the setpoint is reported", func() bool {
		_ = s.(driver.Subscriber).Take(t.Context(), func(x point.Sample) { reported = x.Value })
		return reported == point.FloatOf(25)
	})

	first.Stop()
	if _, err := s.Read(t.Context(), []string{"setpoint"}); fault.KindOf(err) != fault.Timeout {
		t.Errorf("while the router is away: %v, want a time-out", err)
	}
	router()
	until(t, "the device is read again, with its setpoint after a restart", func() bool { return reads(t, s, "setpoint", point.FloatOf(20)) })
	until(t, "its changes are reported again", func() bool {
		_ = s.(driver.Subscriber).Take(t.Context(), func(x point.Sample) { reported = x.Value })
		return reported == point.FloatOf(20)
	})
}

func TestAWrongNetworkNumberIsATimeOut(t *testing.T) {
	t.Parallel()
	if !namespace(t) {
		return
	}
	peers.BACnet(t, "router", "10.66.0.11/24", "60", "480", "20")
	s := open(t, config(t, 60, plant()[:1], func(c *bacnet.Config) {
		c.Address, c.Timeout, c.Retries = "10.66.0.11/2999:1", 500*time.Millisecond, 0
	}))
	if _, err := s.Read(t.Context(), []string{"temp 1"}); fault.KindOf(err) != fault.Timeout {
		t.Errorf("got %v, want a time-out", err)
	}
}

func TestABBMDThatWasAwayTakesTheNodeAgain(t *testing.T) {
	t.Parallel()
	if !peers.Namespace(t, "10.66.1.21/24", "10.66.1.22/24", "10.66.2.2/24") {
		return
	}
	bbmd := func() *peers.Process {
		return peers.BACnet(t, "bbmd", "10.66.1.21/24", "21", "480", "2", "10.66.1.22/24")
	}
	first := bbmd()
	s := open(t, config(t, 22, []pointlist.Entry{{Name: "t", Object: "analog-input:2"}}, func(c *bacnet.Config) {
		c.Local, c.BBMD, c.BBMDTTL, c.Timeout, c.Retries = "10.66.2.2/24", "10.66.1.21", 10*time.Second, time.Second, 0
	}))
	until(t, "the device is found through the BBMD", func() bool { return reads(t, s, "t", point.FloatOf(2.5)) })
	first.Stop() // the device behind it, too: it must be looked for again
	if _, err := s.Read(t.Context(), []string{"t"}); fault.KindOf(err) != fault.Timeout {
		t.Errorf("while it is away: %v, want a time-out", err)
	}
	bbmd() // which has forgotten whom it knew
	until(t, "the device is found again", func() bool { return reads(t, s, "t", point.FloatOf(2.5)) })
}

func TestAStormOfAnnouncementsDelaysNobodyAndIsNotRemembered(t *testing.T) {
	t.Parallel()
	if !namespace(t) {
		return
	}
	peers.BACnet(t, "plant", "10.66.0.11/24", "11", "480", "20")
	s := open(t, config(t, 11, plant()[:2], nil))
	if !reads(t, s, "temp 2", point.FloatOf(2.5)) {
		t.Fatal("the device is not read")
	}
	storm, err := net.DialUDP("udp4", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("10.66.0.3:47808")), net.UDPAddrFromAddrPort(netip.MustParseAddrPort("10.66.0.2:47808")))
	if err != nil {
		t.Fatal(err)
	}
	defer storm.Close()
	for i := range uint32(20_000) {
		iAm := service.Announcement{Device: encoding.ObjectID{Type: enum.Device, Instance: i}, MaxAPDU: 1476, Vendor: 999}
		message := iAm.Append(apdu.Append(nil, apdu.Header{Type: apdu.UnconfirmedRequest, Service: uint8(service.IAm)}))
		datagram := bvlc.AppendNPDU(nil, bvlc.OriginalBroadcast, append(npdu.Append(nil, npdu.Header{}), message...))
		if _, err := storm.Write(datagram); err != nil {
			t.Fatal(err)
		}
		if i%2000 == 0 && !reads(t, s, "temp 2", point.FloatOf(2.5)) {
			t.Errorf("after %d announcements the device is not read", i)
		}
	}
	if err := s.(driver.Diagnoser).Diagnose(); fault.KindOf(err) != fault.Conflict {
		t.Errorf("the announcement of another device 11 is told by %v, want a conflict", err)
	}
}
