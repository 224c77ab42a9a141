package dnp3_test

import (
	"testing"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
)

// FuzzStream sends any stream through all layers. The fuzzer cannot guess CRCs, so
// the stream comes once as it is and once as the user octets of sound frames.
func FuzzStream(f *testing.F) {
	f.Add(golden(f))
	f.Add([]byte{0xC0, 0xC0, 0x01, 0x3C, 0x01, 0x06})
	f.Add(append([]byte{0xC0}, encode(f, make([]byte, 0, 200), exchangeEvents()[:8])...))
	f.Fuzz(func(t *testing.T, stream []byte) {
		follow(t, newReceiver(), stream)
		var framed []byte
		for rest := stream; len(rest) > 0; {
			n := min(len(rest), link.MaxPayload)
			framed, _ = link.AppendFrame(framed, fromOutstation, rest[:n])
			rest = rest[n:]
		}
		receiver := newReceiver()
		follow(t, receiver, framed)
		if c := receiver.parser.Counters(); c.SkippedOctets != 0 {
			t.Fatalf("octets of sound frames skipped: %+v", c)
		}
	})
}

// follow reads everything in a stream.
func follow(t *testing.T, r *receiver, stream []byte) {
	t.Helper()
	for {
		frame, n, ok := r.parser.Next(stream, &r.room)
		if !ok {
			return
		}
		stream = stream[n:]
		octets, complete := r.joiner.Add(frame.Payload)
		if !complete {
			continue
		}
		fragment, err := app.Parse(octets)
		if err != nil {
			continue
		}
		for h, err := range fragment.Headers() {
			if err != nil {
				break
			}
			drain(h)
		}
	}
}

func drain(h app.Header) {
	for range h.Points() {
		continue
	}
	for range h.Objects() {
		continue
	}
}
