package server_test

import (
	"net/netip"
	"slices"
	"testing"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/ip"
	"voltbus/testing/peers"
)

func TestAClientOfBacpypes3ReadsCommandsAndWatchesOurDevice(t *testing.T) {
	if !peers.Namespace(t, "10.66.0.2/24", "10.66.0.3/24") {
		return
	}
	newDevice(t, client.Config{IP: ip.Config{
		Listen: netip.MustParseAddrPort("10.66.0.2:47808"), Broadcast: netip.MustParseAddr("10.66.0.255"),
	}}, 400)
	peer := peers.BACnet(t, "client", "10.66.0.3/24", "10.66.0.2")
	want := []string{
		"found 77 1476", "name setpoint", "value 20.0", "objects 402", "many 20.0 degrees-celsius room setpoint",
		"commanded 25.0", "relinquished 20.0",
	}
	if got := peer.Lines(t); !slices.Equal(got, want) {
		t.Errorf("the client printed %q, want %q", got, want)
	}
}
