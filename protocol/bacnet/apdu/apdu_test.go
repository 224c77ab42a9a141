package apdu_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"voltbus/protocol/bacnet/apdu"
)

func octets(t testing.TB, text string) []byte {
	t.Helper()
	p, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var headers = []struct {
	name   string
	wire   string
	header apdu.Header
}{
	{"20.1.2 a confirmed request", "02 75 01 0C", apdu.Header{SegmentedAccepted: true, MaxSegments: 7, MaxAPDU: 5, InvokeID: 1, Service: 12}},
	{
		"20.1.2 a segment of a confirmed request", "0E 74 01 03 10 10",
		apdu.Header{Segmented: true, More: true, SegmentedAccepted: true, MaxSegments: 7, MaxAPDU: 4, InvokeID: 1, Sequence: 3, Window: 16, Service: 16},
	},
	{"20.1.3 an unconfirmed request", "10 08", apdu.Header{Type: apdu.UnconfirmedRequest, Service: 8}},
	{"20.1.4 a simple ack", "20 59 0F", apdu.Header{Type: apdu.SimpleAck, InvokeID: 0x59, Service: 15}},
	{"20.1.5 a complex ack", "30 01 0C", apdu.Header{Type: apdu.ComplexAck, InvokeID: 1, Service: 12}},
	{"20.1.5 the last segment of a complex ack", "38 01 02 04 0E", apdu.Header{Type: apdu.ComplexAck, Segmented: true, InvokeID: 1, Sequence: 2, Window: 4, Service: 14}},
	{"20.1.6 a negative segment ack of a server", "43 01 02 04", apdu.Header{Type: apdu.SegmentAck, Negative: true, Server: true, InvokeID: 1, Sequence: 2, Window: 4}},
	{"20.1.7 an error", "50 01 0C", apdu.Header{Type: apdu.Error, InvokeID: 1, Service: 12}},
	{"20.1.8 a reject", "60 01 09", apdu.Header{Type: apdu.Reject, InvokeID: 1, Service: 9}},
	{"20.1.9 an abort of a server", "71 01 04", apdu.Header{Type: apdu.Abort, Server: true, InvokeID: 1, Service: 4}},
}

func TestHeaders(t *testing.T) {
	for _, tt := range headers {
		t.Run(tt.name, func(t *testing.T) {
			wire := octets(t, tt.wire)
			got, rest, err := apdu.Parse(append(slices.Clone(wire), 0xAA))
			if err != nil || got != tt.header || !bytes.Equal(rest, []byte{0xAA}) {
				t.Errorf("read %+v with the rest % X (%v), want %+v", got, rest, err, tt.header)
			}
			if got := apdu.Append(nil, tt.header); !bytes.Equal(got, wire) {
				t.Errorf("wrote % X, want % X", got, wire)
			}
			if got := tt.header.Size(); got != len(wire) {
				t.Errorf("the size is %d, want %d", got, len(wire))
			}
			for n := range wire {
				if _, _, err := apdu.Parse(wire[:n]); !errors.Is(err, apdu.ErrTruncated) {
					t.Errorf("%d of %d octets give the error %v", n, len(wire), err)
				}
			}
		})
	}
	if _, _, err := apdu.Parse(octets(t, "80 01 02 03")); !errors.Is(err, apdu.ErrType) {
		t.Errorf("a type that nobody knows gives the error %v", err)
	}
}

func TestCodesOfLengths(t *testing.T) { // clauses 20.1.2.4 and 20.1.2.5
	for octets, want := range map[int]int{0: 50, 50: 50, 127: 50, 128: 128, 480: 480, 1023: 480, 1476: 1476, 5000: 1476} {
		if got := apdu.MaxAPDUOf(octets).Octets(); got != want {
			t.Errorf("an APDU of %d octets is coded as %d, want %d", octets, got, want)
		}
	}
	if got := apdu.MaxAPDU(9).Octets(); got != 50 {
		t.Errorf("a reserved code means %d octets, want 50", got)
	}
	for n, want := range map[int]int{2: 2, 3: 2, 4: 4, 16: 16, 63: 32, 64: 64, 65: 0, 1000: 0} {
		if got := apdu.MaxSegmentsOf(n).Count(); got != want {
			t.Errorf("%d segments are coded as %d, want %d", n, got, want)
		}
	}
}

// FuzzParse reads any APDU: what is accepted must survive writing and reading.
func FuzzParse(f *testing.F) {
	for _, tt := range headers {
		f.Add(octets(f, tt.wire))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, rest, err := apdu.Parse(data)
		if err != nil {
			return
		}
		again, tail, err := apdu.Parse(append(apdu.Append(nil, h), rest...))
		if err != nil || again != h || !bytes.Equal(tail, rest) {
			t.Errorf("%+v was written and read as %+v: %v", h, again, err)
		}
	})
}
