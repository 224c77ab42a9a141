package link_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"voltbus/protocol/dnp3/link"
)

const (
	reset   = "05 64 05 C0 01 00 00 04 E9 21"
	confirm = "05 64 08 C4 0A 00 01 00 FC 42 C0 D0 00 1B 49"
)

// parseAll returns the payloads of all frames and what remains undecided.
func parseAll(parser *link.Parser, stream []byte) (payloads [][]byte, rest []byte) {
	var room [link.MaxPayload]byte
	for {
		frame, n, ok := parser.Next(stream, &room)
		stream = stream[n:]
		if !ok {
			return payloads, stream
		}
		payloads = append(payloads, bytes.Clone(frame.Payload))
	}
}

func TestTheParserFindsItsWayBack(t *testing.T) {
	cases := []struct {
		name, stream string
		want         link.Counters
		rest         int
	}{
		{"two frames in a row", reset + confirm, link.Counters{Frames: 2}, 0},
		{"garbage before a frame", "FF 00 64 05 17" + reset, link.Counters{Frames: 1, SkippedOctets: 5}, 0},
		{"a lone 05 before a frame", "05" + reset, link.Counters{Frames: 1, SkippedOctets: 1}, 0},
		{
			"a header with a wrong CRC", "05 64 05 C0 01 00 00 04 E9 20" + confirm,
			link.Counters{Frames: 1, HeaderErrors: 1, SkippedOctets: 10},
			0,
		},
		{
			"a length below five", "05 64 04 C0 01 00 00 04 0E 94" + confirm,
			link.Counters{Frames: 1, LengthErrors: 1, SkippedOctets: 10},
			0,
		},
		{
			"a block with a wrong CRC", "05 64 08 C4 0A 00 01 00 FC 42 C0 D0 01 1B 49" + confirm,
			link.Counters{Frames: 1, BlockErrors: 1, SkippedOctets: 15},
			0,
		},
		{
			"a torn frame hides a good one", "05 64 08 C4 0A 00 01 00 FC 42" + confirm,
			link.Counters{Frames: 1, BlockErrors: 1, SkippedOctets: 10},
			0,
		},
		{"half a header waits", "05 64 05 C0 01", link.Counters{}, 5},
		{"a last 05 waits", "FF FF 05", link.Counters{SkippedOctets: 2}, 1},
		{"a frame without its last octet waits", "05 64 08 C4 0A 00 01 00 FC 42 C0 D0 00 1B", link.Counters{}, 14},
		{"nothing at all", "", link.Counters{}, 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			var parser link.Parser
			_, rest := parseAll(&parser, octets(t, tc.stream))
			if got := parser.Counters(); got != tc.want {
				t.Errorf("counters are %+v, want %+v", got, tc.want)
			}
			if len(rest) != tc.rest {
				t.Errorf("% X remain, want %d octets", rest, tc.rest)
			}
		})
	}
}

func TestAFrameCutAnywhereIsFoundWhenTheRestArrives(t *testing.T) {
	whole := octets(t, confirm)
	for cut := range whole {
		var parser link.Parser
		_, rest := parseAll(&parser, whole[:cut])
		payloads, _ := parseAll(&parser, append(bytes.Clone(rest), whole[cut:]...))
		if len(payloads) != 1 || parser.Counters().SkippedOctets != 0 {
			t.Errorf("cut at octet %d: %d frames, %+v", cut, len(payloads), parser.Counters())
		}
	}
}

func TestASingleFlippedBitNeverPasses(t *testing.T) {
	whole := octets(t, confirm)
	for bit := range len(whole) * 8 {
		torn := bytes.Clone(whole)
		torn[bit/8] ^= 1 << (bit % 8)
		var parser link.Parser
		if payloads, _ := parseAll(&parser, torn); len(payloads) != 0 {
			t.Errorf("bit %d flipped and the frame passed", bit)
		}
	}
}

func TestFramesBetweenGarbageAreAllFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payloads := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 1, link.MaxPayload), 0, 5).Draw(t, "payloads")
		var stream []byte
		for _, payload := range payloads {
			// Without a 05, garbage can neither look like a frame nor swallow one.
			noise := rapid.SliceOfN(rapid.ByteRange(0x06, 0xFF), 0, 40).Draw(t, "noise")
			stream, _ = link.AppendFrame(append(stream, noise...), link.Header{}, payload)
		}
		var parser link.Parser
		got, rest := parseAll(&parser, stream)
		if len(got) != len(payloads) || len(rest) != 0 {
			t.Fatalf("%d of %d frames found, %d octets remain", len(got), len(payloads), len(rest))
		}
		for i := range got {
			if !bytes.Equal(got[i], payloads[i]) {
				t.Fatalf("frame %d is % X, want % X", i, got[i], payloads[i])
			}
		}
	})
}
