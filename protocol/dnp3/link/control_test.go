package link_test

import (
	"testing"

	"voltbus/protocol/dnp3/link"
)

func TestTheControlOctetKeepsRolesAndFlagsApart(t *testing.T) {
	cases := []struct {
		control                    link.Control
		function                   string
		fromMaster, fcb, fcv, full bool
	}{
		{0xC0, "RESET_LINK_STATES", true, false, false, false},
		{0xF2, "TEST_LINK_STATES", true, true, true, false},
		{0x53, "CONFIRMED_USER_DATA", false, false, true, false},
		{0x44, "UNCONFIRMED_USER_DATA", false, false, false, false},
		{0xC9, "REQUEST_LINK_STATUS", true, false, false, false},
		{0x80, "ACK", true, false, false, false},
		{0x11, "NACK", false, false, false, true},
		{0x0B, "LINK_STATUS", false, false, false, false},
		{0x0F, "NOT_SUPPORTED", false, false, false, false},
		{0x4E, "function 0x4E", false, false, false, false},
	}
	for _, tc := range cases {
		c := tc.control
		if c.Function().String() != tc.function || c.FromMaster() != tc.fromMaster || c.FCB() != tc.fcb ||
			c.FCV() != tc.fcv || c.DFC() != tc.full {
			t.Errorf("%02X: %v, from master %t, FCB %t, FCV %t, DFC %t",
				uint8(c), c.Function(), c.FromMaster(), c.FCB(), c.FCV(), c.DFC())
		}
	}
}

func TestFlagsNeverTouchTheFunction(t *testing.T) {
	if got := link.ResetLinkStates.With(0xFF); got != 0xF0 {
		t.Errorf("got %02X, want F0", uint8(got))
	}
}
