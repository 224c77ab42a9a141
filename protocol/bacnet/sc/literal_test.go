package sc_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"

	"voltbus/protocol/bacnet/sc"
)

func octets(t testing.TB, text string) []byte {
	t.Helper()
	p, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var (
	one = sc.VMAC{0x02, 0, 0, 0, 0, 0x01}
	two = sc.VMAC{0x02, 0, 0, 0, 0, 0x02}

	everybody = sc.BroadcastVMAC()
)

func TestMessagesAreWrittenAndReadAsTheStandardHasThem(t *testing.T) {
	for _, tt := range []struct {
		name, octets string
		message      sc.Message
	}{
		{"AB.2.4 BVLC-Result, ACK of Connect-Request", "00 00 00 07 06 00", sc.Message{Function: sc.Result, ID: 7, Payload: sc.Outcome{Function: sc.ConnectRequest}.Append(nil)}},
		{
			"AB.2.4 BVLC-Result, NAK: the VMAC is in use", "00 00 00 07 06 01 00 0007 0097 6E6F",
			sc.Message{Function: sc.Result, ID: 7, Payload: sc.Outcome{Function: sc.ConnectRequest, Refused: true, Class: 7, Code: 151, Details: "no"}.Append(nil)},
		},
		{
			"AB.2.5 Encapsulated-NPDU from a node to another, as the hub gets it", "01 04 01 02 020000000002 01 04 AA",
			sc.Message{Function: sc.EncapsulatedNPDU, ID: 0x0102, Destination: &two, Payload: []byte{1, 4, 0xAA}},
		},
		{
			"AB.2.5 the same as the other node gets it", "01 08 01 02 020000000001 01 04 AA",
			sc.Message{Function: sc.EncapsulatedNPDU, ID: 0x0102, Origin: &one, Payload: []byte{1, 4, 0xAA}},
		},
		{
			"AB.2.5 to all, with a secure path and an option of a vendor for the receiver", "01 0F 00 00 020000000001 FFFFFFFFFFFF 3F 0003 000801 41 01 00",
			sc.Message{
				Function: sc.EncapsulatedNPDU, Origin: &one, Destination: &everybody, DestOptions: []sc.Option{{Type: 31, Data: []byte{0, 8, 1}}},
				DataOptions: []sc.Option{{Type: 1, Must: true}}, Payload: []byte{1, 0},
			},
		},
		{
			"AB.2.3 two options in one list", "01 01 00 00 C1 1F 01 00",
			sc.Message{Function: sc.EncapsulatedNPDU, DataOptions: []sc.Option{{Type: 1, Must: true}, {Type: 31}}, Payload: []byte{1, 0}},
		},
		{"AB.2.8 Advertisement: at the failover hub", "04 08 00 01 020000000001 02 00 06A4 05D9", sc.Message{
			Function: sc.Advertisement, ID: 1, Origin: &one, Payload: sc.Status{Hub: 2, MaxBVLC: 1700, MaxNPDU: 1497}.Append(nil),
		}},
		{
			"AB.2.10 Connect-Request", "06 00 00 00 020000000001 000102030405060708090A0B0C0D0E0F 06A4 05D9",
			sc.Message{Function: sc.ConnectRequest, Payload: sc.Connect{
				VMAC: one, UUID: sc.UUID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, MaxBVLC: 1700, MaxNPDU: 1497,
			}.Append(nil)},
		},
		{"AB.2.12 Disconnect-Request", "08 00 00 02", sc.Message{Function: sc.DisconnectRequest, ID: 2, Payload: []byte{}}},
		{"AB.2.14 Heartbeat-Request", "0A 00 00 03", sc.Message{Function: sc.HeartbeatRequest, ID: 3, Payload: []byte{}}},
	} {
		want := octets(t, tt.octets)
		if got := tt.message.Append(nil); !bytes.Equal(got, want) {
			t.Errorf("%s: is written as % X, want % X", tt.name, got, want)
		}
		if got, err := sc.Parse(want); err != nil || !reflect.DeepEqual(got, tt.message) {
			t.Errorf("%s: is read as %+v, %v, want %+v", tt.name, got, err, tt.message)
		}
		for n := range want {
			if got, err := sc.Parse(want[:n]); err == nil && reflect.DeepEqual(got, tt.message) {
				t.Errorf("%s: %d of %d octets are read as the whole", tt.name, n, len(want))
			}
		}
	}
}

func TestMalformedMessagesAreRefused(t *testing.T) {
	for text, want := range map[string]error{
		"01 00 00":                       sc.ErrShort,
		"01 10 00 00":                    sc.ErrFlags,
		"01 08 00 00 0200000000":         sc.ErrShort,
		"01 08 00 00 FFFFFFFFFFFF 01 00": sc.ErrVMAC,
		"01 04 00 00 000000000000 01 00": sc.ErrVMAC,
		"01 01 00 00":                    sc.ErrShort,
		"01 01 00 00 81":                 sc.ErrShort,
		"01 01 00 00 21 00":              sc.ErrShort,
		"01 01 00 00 21 0002 00":         sc.ErrShort,
		"01 02 00 00 " + strings.Repeat("81 ", 40) + "01": sc.ErrOptions,
	} {
		if _, err := sc.Parse(octets(t, text)); !errors.Is(err, want) {
			t.Errorf("%s gives %v, want %v", text, err, want)
		}
	}
	for _, p := range []string{"", "06", "06 02", "06 01 00 0007 00"} {
		if _, err := sc.ParseOutcome(octets(t, p)); !errors.Is(err, sc.ErrPayload) {
			t.Errorf("the result %q gives %v", p, err)
		}
	}
	if _, err := sc.ParseConnect(make([]byte, 25)); !errors.Is(err, sc.ErrPayload) {
		t.Errorf("a short connect gives %v", err)
	}
	if _, err := sc.ParseConnect(make([]byte, 26)); !errors.Is(err, sc.ErrVMAC) {
		t.Errorf("a connect without a VMAC gives %v", err)
	}
	for n := range 26 {
		if _, err := sc.ParseConnect(octets(t, "020000000001 000102030405060708090A0B0C0D0E0F 06A4 05D9")[:n]); !errors.Is(err, sc.ErrPayload) {
			t.Errorf("%d octets of a connect give %v", n, err)
		}
	}
	if _, err := sc.ParseStatus(octets(t, "03 00 06A4 05D9")); !errors.Is(err, sc.ErrPayload) {
		t.Errorf("a hub that does not exist gives %v", err)
	}
}

// What was read is written again as it was, whatever arrives.
func FuzzParse(f *testing.F) {
	f.Add(octets(f, "01 0F 00 00 020000000001 FFFFFFFFFFFF 3F 0003 000801 41 01 00"))
	f.Add(octets(f, "06 00 00 00 020000000001 000102030405060708090A0B0C0D0E0F 06A4 05D9"))
	f.Add(octets(f, "00 00 00 07 06 01 00 0007 0097 6E6F"))
	f.Fuzz(func(t *testing.T, p []byte) {
		_, _ = sc.ParseOutcome(p)
		_, _ = sc.ParseConnect(p)
		_, _ = sc.ParseStatus(p)
		m, err := sc.Parse(p)
		if err != nil {
			return
		}
		if again := m.Append(nil); !bytes.Equal(again, p) {
			t.Errorf("% X is written as % X", p, again)
		}
	})
}
