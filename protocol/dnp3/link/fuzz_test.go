package link_test

import (
	"bytes"
	"testing"

	"voltbus/protocol/dnp3/link"
)

// FuzzLinkParser feeds any stream, whole and in two parts: the parser must not
// panic, must find the same frames, must keep less than one frame undecided, and
// every frame found must encode to octets of the stream.
func FuzzLinkParser(f *testing.F) {
	for _, tc := range frames {
		f.Add(octets(f, "05 64 FF"+tc.wire+tc.wire), uint16(7))
	}
	f.Fuzz(func(t *testing.T, stream []byte, cut uint16) {
		var whole, parts link.Parser
		want, rest := parseAll(&whole, stream)
		if len(rest) >= link.MaxFrame {
			t.Fatalf("%d octets remain undecided", len(rest))
		}
		at := min(int(cut), len(stream))
		got, rest := parseAll(&parts, stream[:at])
		more, _ := parseAll(&parts, append(bytes.Clone(rest), stream[at:]...))
		if len(got)+len(more) != len(want) || whole.Counters() != parts.Counters() {
			t.Fatalf("whole: %+v, in parts: %+v", whole.Counters(), parts.Counters())
		}
		reencode(t, stream)
	})
}

func reencode(t *testing.T, stream []byte) {
	t.Helper()
	var parser link.Parser
	var room [link.MaxPayload]byte
	for {
		frame, n, ok := parser.Next(stream, &room)
		if !ok {
			return
		}
		wire, err := link.AppendFrame(nil, frame.Header, frame.Payload)
		if err != nil || !bytes.HasSuffix(stream[:n], wire) {
			t.Fatalf("frame %+v encodes to % X (%v)", frame, wire, err)
		}
		stream = stream[n:]
	}
}
