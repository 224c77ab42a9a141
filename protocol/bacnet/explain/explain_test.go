package explain_test

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"voltbus/protocol/bacnet/explain"
)

func bytes(t testing.TB, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The frames are those of ASHRAE 135 annex F, in datagrams of annex J.
func TestFramesAreExplained(t *testing.T) {
	for _, tt := range []struct{ name, frame, want string }{
		{
			"Who-Is of a range, broadcast", "81 0B 0010 01 20 FFFF 00 FF 10 08 0903 190A",
			"BVLC Original-Broadcast-NPDU, 16 bytes|  NPDU to 65535:*, hop count 255|    Unconfirmed-Request Who-Is|      devices 3 to 10",
		},
		{
			"ReadProperty (F.3.5)", "81 0A 0011 01 04 00 00 01 0C 0C 00000005 19 55",
			"BVLC Original-Unicast-NPDU, 17 bytes|  NPDU, an answer is expected|    Confirmed-Request ReadProperty, invoke id 1|      analog-input:5 present-value",
		},
		{
			"its answer", "81 0A 0017 01 00 30 01 0C 0C 00000005 19 55 3E 44 4290999A 3F",
			"BVLC Original-Unicast-NPDU, 23 bytes|  NPDU|    Complex-ACK ReadProperty, invoke id 1|      analog-input:5 present-value = real 72.3",
		},
		{
			"WriteProperty with a priority (F.3.7)", "01 04 00 04 59 0F 0C 00800001 19 55 3E 44 43340000 3F 49 08",
			"NPDU, an answer is expected|  Confirmed-Request WriteProperty, invoke id 89|    analog-value:1 present-value = real 180, priority 8",
		},
		{"Error", "01 00 50 01 0C 91 02 91 20", "NPDU|  Error of ReadProperty, invoke id 1|    unknown-property (property)"},
		{"Abort", "01 00 71 01 04", "NPDU|  Abort, invoke id 1: segmentation-not-supported"},
		{"a service that is shown by its tags", "01 04 00 04 07 14 09 01 1A 0041", "NPDU, an answer is expected|  Confirmed-Request ReinitializeDevice, invoke id 7|    [0] 01|    [1] 0041"},
		{"registration as a foreign device", "81 05 0006 003C", "BVLC Register-Foreign-Device for 60 s"},
		{"a frame that is cut", "81 0A 0011 01 04", "no datagram of BACnet/IP: the length in the header is not that of the datagram: 17 instead of 6"},
		{"nothing", "", "no NPDU: "},
	} {
		got := strings.Join(explain.Frame(bytes(t, tt.frame)), "|")
		if got != tt.want && (tt.name != "nothing" || !strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, strings.ReplaceAll(got, "|", "\n"), strings.ReplaceAll(tt.want, "|", "\n"))
		}
	}
}

func TestEveryCutOfAFrameIsExplained(t *testing.T) {
	whole := bytes(t, "01 00 30 01 0E 0C 00000005 1E 29 55 4E 44 4290999A 4F 29 75 5E 91 02 91 20 5F 1F")
	for n := range whole {
		if lines := explain.Frame(slices.Clone(whole[:n])); len(lines) == 0 {
			t.Errorf("%d bytes are not explained", n)
		}
	}
}

func FuzzFrame(f *testing.F) {
	f.Add(bytes(f, "81 0A 0017 01 00 30 01 0C 0C 00000005 19 55 3E 44 4290999A 3F"))
	f.Add(bytes(f, "01 00 30 01 0E 0C 00000005 1E 29 55 4E 44 4290999A 4F 29 75 5E 91 02 91 20 5F 1F"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(explain.Frame(data)) == 0 {
			t.Error("nothing was said")
		}
	})
}
