package sc_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"

	"voltbus/protocol/bacnet/apdu"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/npdu"
	"voltbus/protocol/bacnet/sc"
	"voltbus/protocol/bacnet/sc/sctest"
	"voltbus/protocol/bacnet/service"
	"voltbus/testing/peers"
)

// temperature asks a device of rusty-bacnet for its analog input 1 over a node, as a client does.
func temperature(t *testing.T, n *member, instance uint32) encoding.Value {
	t.Helper()
	iAm := func(a arrival) (service.Announcement, bool) {
		_, rest, err := npdu.Parse([]byte(a.npdu))
		if err != nil {
			t.Fatal(err)
		}
		h, payload, err := apdu.Parse(rest)
		if err != nil || h.Type != apdu.UnconfirmedRequest || h.Service != uint8(service.IAm) {
			return service.Announcement{}, false
		}
		announced, err := service.DecodeAnnouncement(payload)
		return announced, err == nil && announced.Device.Instance == instance
	}
	whoIs := append(npdu.Append(nil, npdu.Header{}), apdu.Append(nil, apdu.Header{Type: apdu.UnconfirmedRequest, Service: uint8(service.WhoIs)})...)
	if err := n.Send(sc.BroadcastVMAC(), whoIs); err != nil {
		t.Fatal(err)
	}
	var device sc.VMAC
	for found := false; !found; {
		a := await(t, "the device announces itself", n.got)
		_, found = iAm(a)
		device = a.from
	}
	request := service.ReadPropertyRequest{Object: encoding.ObjectID{Type: enum.AnalogInput, Instance: 1}, Property: enum.PropertyPresentValue}
	header := apdu.Append(nil, apdu.Header{Type: apdu.ConfirmedRequest, Service: uint8(service.ReadProperty), InvokeID: 5, MaxAPDU: apdu.MaxAPDUOf(1476)})
	if err := n.Send(device, request.Append(append(npdu.Append(nil, npdu.Header{Reply: true}), header...))); err != nil {
		t.Fatal(err)
	}
	for {
		_, rest, err := npdu.Parse([]byte(await(t, "the device answers", n.got).npdu))
		if err != nil {
			t.Fatal(err)
		}
		h, payload, err := apdu.Parse(rest)
		if err != nil || h.Type != apdu.ComplexAck || h.InvokeID != 5 {
			continue
		}
		ack, err := service.DecodeReadPropertyAck(payload)
		if err != nil {
			t.Fatal(err)
		}
		v, err := ack.Value.One()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestANodeReadsADeviceOfRustyBACnetThroughItsHub(t *testing.T) {
	a, dir := sctest.NewAuthority(t), t.TempDir()
	a.Files(t, dir, "hub", "device")
	hub := peers.BACnetSC(t, "hub", dir)
	_, port, err := net.SplitHostPort(hub.Addr)
	if err != nil {
		t.Fatal(err)
	}
	url := "wss://127.0.0.1:" + port
	peers.BACnetSC(t, "device", dir, url, "77")
	n := join(t, sc.Config{VMAC: one, Primary: url, Certificates: a.Certificates(t, "node", sctest.Soon())})
	n.at(t, url)
	if v := temperature(t, n, 77); v != encoding.Real(21.5) {
		t.Errorf("the temperature is %v", v)
	}
}

func TestADeviceAndAClientOfRustyBACnetMeetAtOurHub(t *testing.T) {
	a, dir := sctest.NewAuthority(t), t.TempDir()
	a.Files(t, dir, "device", "client")
	_, url, _ := sctest.Hub(t, a, "127.0.0.1:0")
	peers.BACnetSC(t, "device", dir, url, "78")
	n := join(t, sc.Config{VMAC: one, Primary: url, Certificates: a.Certificates(t, "node", sctest.Soon())})
	n.at(t, url)
	if v := temperature(t, n, 78); v != encoding.Real(21.5) {
		t.Errorf("our node reads %v", v)
	}
	if lines := peers.BACnetSC(t, "client", dir, url, "78").Lines(t); len(lines) != 1 || lines[0] != "value 21.5" {
		t.Errorf("the client of rusty-bacnet says %q", lines)
	}
}

func TestAClientFindsAndReadsADeviceOfRustyBACnetOverItsHub(t *testing.T) {
	a, dir := sctest.NewAuthority(t), t.TempDir()
	a.Files(t, dir, "hub", "device")
	_, port, err := net.SplitHostPort(peers.BACnetSC(t, "hub", dir).Addr)
	if err != nil {
		t.Fatal(err)
	}
	url := "wss://127.0.0.1:" + port
	peers.BACnetSC(t, "device", dir, url, "79")
	connected := make(chan string, 1)
	carrier := sc.NewCarrier(sc.Config{VMAC: one, UUID: sc.UUID{1}, Primary: url, Certificates: a.Certificates(t, "node", sctest.Soon()), Changed: func(hub string, err error) {
		if err == nil {
			connected <- hub
		}
	}})
	c, err := client.Open(t.Context(), client.Config{IP: ip.Config{Carrier: carrier}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	await(t, "the hub accepts the client", connected)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	found, _ := c.Discover(ctx, client.Scan{Wait: patience, Found: func(client.Device) { cancel() }})
	if len(found) != 1 || found[0].Instance != 79 {
		t.Fatalf("found %+v", found)
	}
	input := client.Property{Object: encoding.ObjectID{Type: enum.AnalogInput, Instance: 1}, Property: enum.PropertyPresentValue}
	results, err := c.At(found[0]).Read(t.Context(), []client.Property{input, {Object: input.Object, Property: enum.PropertyObjectName}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := results[0].Value.One()
	if err != nil || v != encoding.Real(21.5) {
		t.Errorf("the temperature is %v, %v", v, err)
	}
	if v, err := results[1].Value.One(); err != nil || v.Text() != "temperature" {
		t.Errorf("the name is %v, %v", v, err)
	}
	if err := c.At(client.Device{Address: ip.Address{Link: netip.MustParseAddrPort("10.0.0.1:47808")}, Retries: -1}).Tell(service.WhoIs, nil); !errors.Is(err, sc.ErrStation) {
		t.Errorf("an address of UDP: %v", err)
	}
}
