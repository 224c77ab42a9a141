package explain_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/protocol/dnp3/explain"
)

func octets(tb testing.TB, text string) []byte {
	tb.Helper()
	p, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func all(nodes []explain.Node) string {
	var b strings.Builder
	for _, n := range nodes {
		b.WriteString(n.String())
	}
	return b.String()
}

func TestFramesAreExplained(t *testing.T) {
	for name, c := range map[string]struct{ octets, want string }{
		"a read of all classes": {
			"056414C40A0001008FED C0C2013C02063C03063C04063C0106",
			"", // its data CRC is cut off: nothing is complete
		},
		"a null unsolicited response": {
			"05640A4401000A006E25C0F08280006B7D",
			`LINK 10 → 1, UNCONFIRMED_USER_DATA from outstation, 5 user octets, CRC right
  TRANSPORT FIR=1 FIN=1 seq=0
  APPLICATION UNSOLICITED_RESPONSE, FIR=1 FIN=1 CON=1 UNS=1 seq=0, 4 octets
    IIN 80 00 DEVICE_RESTART
`,
		},
		"an event with its time": {
			"05641C4401000A007636C5F18200002007280100020001000028E2934271323DB79C01BC35",
			`LINK 10 → 1, UNCONFIRMED_USER_DATA from outstation, 23 user octets, CRC right
  TRANSPORT FIR=1 FIN=1 seq=5
  APPLICATION UNSOLICITED_RESPONSE, FIR=1 FIN=1 CON=1 UNS=1 seq=1, 22 octets
    IIN 00 00
    g32v7 analog input, event, single-precision, with flags, with time, qualifier 0x28, 1 of them
      [2] 42 ONLINE at 2026-03-04T05:06:07.089Z
`,
		},
		"garbage and a wrong CRC before a frame": {
			"FFFF 05640A4401000A006E26 05640A4401000A006E25C0F08280006B7D",
			`SKIPPED 12 octets, header CRC wrong (1×)
LINK 10 → 1, UNCONFIRMED_USER_DATA from outstation, 5 user octets, CRC right
  TRANSPORT FIR=1 FIN=1 seq=0
  APPLICATION UNSOLICITED_RESPONSE, FIR=1 FIN=1 CON=1 UNS=1 seq=0, 4 octets
    IIN 80 00 DEVICE_RESTART
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var whole, bytewise explain.Decoder
			stream := octets(t, c.octets)
			if diff := cmp.Diff(c.want, all(whole.Add(stream))); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
			var got string
			for i := range stream {
				got += all(bytewise.Add(stream[i : i+1]))
			}
			if !strings.HasSuffix(got, last(c.want)) {
				t.Errorf("octet by octet gives\n%s", got)
			}
		})
	}
}

// last returns what stands behind what was skipped.
func last(text string) string {
	if at := strings.Index(text, "LINK"); at > 0 {
		return text[at:]
	}
	return text
}

func TestFragmentsAreExplained(t *testing.T) {
	for text, want := range map[string]string{
		"C3 05 0C 01 28 01 00 03 00 41 02 FA 00 00 00 00 00 00 00 00": "[3] PULSE_ON|CLOSE, count 2, on 250ms, off 0s, SUCCESS",
		"C0 02 50 01 00 07 07 00":                                     "[7] false",
		"C0 01 1E 05 00 02 04":                                        "g30v5 analog input, single-precision, with flags, qualifier 0x00, index 2–4",
		"C0 81 00 00 6E 03 00 05 05 61 22 1B":                         `[5] "a\"\x1b"`,
		"C0 81 00 00 34 02 07 01 2C 01":                               "[0] 300ms",
		"C0 81 00 00 14 01 00 00 00 C5 01 00 00 00":                   "[0] 1 ONLINE|COMM_LOST|DISCONTINUITY|BIT_7",
		"C0 81 00 00 1E 01 00 00 FF":                                  "! g30v1 qualifier 0x00: truncated",
		"C0":                                                          "APPLICATION truncated at octet 0",
	} {
		if got := explain.Fragment(octets(t, text)).String(); !strings.Contains(got, want) {
			t.Errorf("%s is\n%swant %s", text, got, want)
		}
	}
}

func TestAnExplanationIsBounded(t *testing.T) {
	fragment := append(octets(t, "C0 81 00 00 01 01 01 00 00 FF FF"), make([]byte, 8192)...)
	n := explain.Fragment(fragment)
	lines := 0
	for range n.Lines() {
		lines++
	}
	if lines > 600 || !strings.Contains(n.String(), "… more objects") {
		t.Errorf("65536 bits are explained in %d lines", lines)
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add(octets(f, "05640A4401000A006E25C0F08280006B7D"))
	f.Add(octets(f, "05641C4401000A007636C5F18200002007280100020001000028E2934271323DB79C01BC35"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		var d explain.Decoder
		_ = all(d.Add(stream))
		text := explain.Fragment(stream).String()
		if len(text) > 200_000+400*len(stream) {
			t.Errorf("%d octets are explained by %d characters", len(stream), len(text))
		}
		for _, r := range text {
			if r < ' ' && r != '\n' {
				t.Fatalf("a control character in %q", text)
			}
		}
	})
}

func Example() {
	var d explain.Decoder
	for _, n := range d.Add([]byte{0x05, 0x64, 0x08, 0xC4, 0x0A, 0x00, 0x01, 0x00, 0xFC, 0x42, 0xC0, 0xD3, 0x00, 0xB0, 0xF9}) {
		fmt.Print(n)
	}
	// Output:
	// LINK 1 → 10, UNCONFIRMED_USER_DATA from master, 3 user octets, CRC right
	//   TRANSPORT FIR=1 FIN=1 seq=0
	//   APPLICATION CONFIRM, FIR=1 FIN=1 CON=0 UNS=1 seq=3, 2 octets
}
