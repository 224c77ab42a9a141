package link_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/protocol/dnp3/link"
)

func octets(tb testing.TB, text string) []byte {
	tb.Helper()
	p, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// Frames as they stand on the wire, octet by octet.
var frames = []struct {
	name  string
	wire  string
	frame link.Frame
}{
	{
		"a master resets the link of outstation 1",
		"05 64 05 C0 01 00 00 04 E9 21",
		link.Frame{Header: link.Header{Control: link.ResetLinkStates.With(link.DIR), Destination: 1, Source: 1024}},
	},
	{
		"the outstation acknowledges",
		"05 64 05 00 00 04 01 00 19 A6",
		link.Frame{Header: link.Header{Control: link.Ack.With(0), Destination: 1024, Source: 1}},
	},
	{
		"a master asks for the link status as a keep-alive",
		"05 64 05 C9 0A 00 01 00 FE DA",
		link.Frame{Header: link.Header{Control: link.RequestLinkStatus.With(link.DIR), Destination: 10, Source: 1}},
	},
	{
		"the outstation reports its link status with full buffers",
		"05 64 05 1B 01 00 0A 00 FF 47",
		link.Frame{Header: link.Header{Control: link.LinkStatus.With(link.DFC), Destination: 1, Source: 10}},
	},
	{
		"a confirm travels as unconfirmed user data",
		"05 64 08 C4 0A 00 01 00 FC 42 C0 D0 00 1B 49",
		link.Frame{
			Header:  link.Header{Control: link.UnconfirmedUserData.With(link.DIR), Destination: 10, Source: 1},
			Payload: []byte{0xC0, 0xD0, 0x00},
		},
	},
	{
		"seventeen user octets take two blocks, to everybody and with FCB",
		"05 64 16 F3 FE FF 01 00 3E 8C 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F EC 10 10 94 4D",
		link.Frame{
			Header: link.Header{
				Control:     link.ConfirmedUserData.With(link.DIR | link.FCB | link.FCV),
				Destination: link.BroadcastConfirm, Source: 1,
			},
			Payload: []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
		},
	},
}

func TestEncodingGivesTheLiteralOctets(t *testing.T) {
	for _, tc := range frames {
		t.Run(tc.name, func(t *testing.T) {
			got, err := link.AppendFrame([]byte{0xAA}, tc.frame.Header, tc.frame.Payload)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(octets(t, "AA"+tc.wire), got); diff != "" {
				t.Errorf("frame differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodingGivesTheFrame(t *testing.T) {
	for _, tc := range frames {
		t.Run(tc.name, func(t *testing.T) {
			var parser link.Parser
			var room [link.MaxPayload]byte
			got, n, ok := parser.Next(octets(t, tc.wire), &room)
			if !ok || n != len(octets(t, tc.wire)) {
				t.Fatalf("n = %d, ok = %t", n, ok)
			}
			if got.Header != tc.frame.Header || !bytes.Equal(got.Payload, tc.frame.Payload) {
				t.Errorf("got %+v, want %+v", got, tc.frame)
			}
			if err := got.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFrameSizesFollowTheBlocks(t *testing.T) {
	for payload, want := range map[int]int{0: 10, 1: 13, 16: 28, 17: 31, 32: 46, 43: 59, 249: 291, 250: 292} {
		if got := link.FrameSize(payload); got != want {
			t.Errorf("%d user octets: %d octets, want %d", payload, got, want)
		}
	}
	if link.MaxFrame != 292 {
		t.Errorf("MaxFrame is %d, want 292", link.MaxFrame)
	}
}

func TestAPayloadOf251OctetsIsRefused(t *testing.T) {
	got, err := link.AppendFrame([]byte{1}, link.Header{}, make([]byte, 251))
	if err == nil || !strings.Contains(err.Error(), "251 user octets, at most 250") {
		t.Errorf("error is %v", err)
	}
	if len(got) != 1 {
		t.Errorf("the buffer grew to %d octets", len(got))
	}
}

func TestEveryFrameSurvivesTheRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := link.Header{
			Control:     link.Control(rapid.Byte().Draw(t, "control")),
			Destination: link.Address(rapid.Uint16().Draw(t, "destination")),
			Source:      link.Address(rapid.Uint16().Draw(t, "source")),
		}
		payload := rapid.SliceOfN(rapid.Byte(), 0, link.MaxPayload).Draw(t, "payload")
		wire, err := link.AppendFrame(nil, want, payload)
		if err != nil {
			t.Fatal(err)
		}
		var parser link.Parser
		var room [link.MaxPayload]byte
		got, n, ok := parser.Next(wire, &room)
		if !ok || n != len(wire) || n != link.FrameSize(len(payload)) {
			t.Fatalf("n = %d of %d, ok = %t", n, len(wire), ok)
		}
		if got.Header != want || !bytes.Equal(got.Payload, payload) {
			t.Fatalf("got %+v, want %+v with % X", got, want, payload)
		}
	})
}

func TestCheckNamesWhatTheStandardForbids(t *testing.T) {
	data := []byte{0xC0}
	cases := []struct {
		name    string
		control link.Control
		source  link.Address
		payload []byte
		want    string
	}{
		{"an unassigned primary code", 0x4E, 1, nil, "unknown function 0x4E at octet 3"},
		{"an unassigned secondary code", 0x05, 1, nil, "unknown function 0x05 at octet 3"},
		{"confirmed data without FCV", link.ConfirmedUserData.With(0), 1, data, "FCV is false in CONFIRMED_USER_DATA"},
		{"a reset with FCV", link.ResetLinkStates.With(link.FCV), 1, nil, "FCV is true in RESET_LINK_STATES"},
		{"user data without data", link.UnconfirmedUserData.With(0), 1, nil, "0 user octets in UNCONFIRMED_USER_DATA"},
		{"an acknowledgement with data", link.Ack.With(0), 1, data, "1 user octets in ACK"},
		{"a broadcast address as source", link.Ack.With(0), 0xFFFF, nil, "source broadcast (optional confirm) at octet 6"},
		{"a full buffer is no FCV", link.Ack.With(link.DFC), 1, nil, ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			frame := link.Frame{Header: link.Header{Control: tc.control, Source: tc.source}, Payload: tc.payload}
			err := frame.Check()
			if tc.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error is %v, want %q", err, tc.want)
			}
		})
	}
}

func TestAddressesKnowTheirKind(t *testing.T) {
	cases := []struct {
		address               link.Address
		broadcast, individual bool
		text                  string
	}{
		{0, false, true, "0"},
		{65519, false, true, "65519"},
		{65520, false, false, "65520"},
		{link.SelfAddress, false, false, "self"},
		{link.BroadcastNoConfirm, true, false, "broadcast (no confirm)"},
		{link.BroadcastConfirm, true, false, "broadcast (confirm)"},
		{link.BroadcastOptional, true, false, "broadcast (optional confirm)"},
	}
	for _, tc := range cases {
		if tc.address.Broadcast() != tc.broadcast || tc.address.Individual() != tc.individual || tc.address.String() != tc.text {
			t.Errorf("%d: broadcast %t, individual %t, %q", uint16(tc.address),
				tc.address.Broadcast(), tc.address.Individual(), tc.address)
		}
	}
}
