package campus_test

import (
	"fmt"
	"net/netip"
	"testing"

	"voltbus/lab/campus"
	"voltbus/testing/peers"
)

func TestAClientOfBacpypes3FindsFiftyDevicesAndCommandsARoom(t *testing.T) {
	addresses := []string{"10.66.0.3/24"}
	for i := range campus.Devices {
		addresses = append(addresses, fmt.Sprintf("10.66.0.%d/24", 11+i))
	}
	if !peers.Namespace(t, addresses...) {
		return
	}
	c, err := campus.Open(t.Context(), campus.Config{
		First: netip.MustParseAddrPort("10.66.0.11:47808"), Broadcast: netip.MustParseAddr("10.66.0.255"), Begin: noon,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	peer := peers.BACnetClient(t, "10.66.0.3/24")
	peer.Do(t, "whois 0 5999")
	if got := peer.Await(t, "done whois "); got != "50" {
		t.Errorf("the client found %s devices", got)
	}
	const floor = "10.66.0.12" // of building 1
	for _, step := range []struct{ command, word, want string }{
		{"list " + floor + " device,1001", "list ", "101"},
		{"read " + floor + " analog-value,1 object-name", "read ", "VAV 101 Cooling Setpoint"},
		{"read " + floor + " analog-value,1 units", "read ", "degrees-celsius"},
		{"write " + floor + " analog-value,1 real 20 8", "written", ""},
		{"read " + floor + " analog-value,1 present-value", "read ", "20.0"},
		{"write " + floor + " analog-value,1 null 0 8", "written", ""},
		{"read " + floor + " analog-value,1 present-value", "read ", "24.0"},
	} {
		peer.Do(t, "%s", step.command)
		if got := peer.Await(t, step.word); got != step.want {
			t.Errorf("%s: %q, want %q", step.command, got, step.want)
		}
	}
}
