package dnp3_test

import (
	"testing"

	"voltbus/protocol/dnp3/transport"
)

func BenchmarkEncodeFragmentOf100Events(b *testing.B) {
	events, buf := exchangeEvents(), make([]byte, 0, 2048)
	b.SetBytes(fragmentSize)
	b.ReportAllocs()
	for b.Loop() {
		buf = encode(b, buf, events)
	}
}

func BenchmarkDecodeFragmentOf100Events(b *testing.B) {
	events := exchangeEvents()
	fragment := encode(b, make([]byte, 0, 2048), events)
	b.SetBytes(fragmentSize)
	b.ReportAllocs()
	for b.Loop() {
		compare(b, fragment, events)
	}
}

func BenchmarkFramesOutOfAFragment(b *testing.B) {
	fragment := encode(b, make([]byte, 0, 2048), exchangeEvents())
	out := make([]byte, 0, 2048)
	b.SetBytes(wireSize)
	b.ReportAllocs()
	for b.Loop() {
		out, _, _ = transport.AppendFragment(out[:0], fromOutstation, 0, fragment)
	}
}

func BenchmarkFragmentOutOfFrames(b *testing.B) {
	wire := golden(b)
	receiver := newReceiver()
	b.SetBytes(wireSize)
	b.ReportAllocs()
	for b.Loop() {
		receiver.receive(wire)
	}
}

// BenchmarkExchange is the codec's share of one confirmed message: encode, frame,
// find frames, join, decode and compare 100 events.
func BenchmarkExchange(b *testing.B) {
	events, buf, out := exchangeEvents(), make([]byte, 0, 2048), make([]byte, 0, 2048)
	receiver := newReceiver()
	b.ReportAllocs()
	for b.Loop() {
		out, _, _ = transport.AppendFragment(out[:0], fromOutstation, 0, encode(b, buf, events))
		compare(b, receiver.receive(out), events)
	}
}
