package link_test

import (
	"testing"

	"voltbus/protocol/dnp3/link"
)

func BenchmarkAppendFrameOf250Octets(b *testing.B) {
	payload := make([]byte, link.MaxPayload)
	buf := make([]byte, 0, link.MaxFrame)
	header := link.Header{Control: link.UnconfirmedUserData.With(0), Destination: 1, Source: 10}
	b.SetBytes(link.MaxFrame)
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = link.AppendFrame(buf[:0], header, payload)
	}
}

func BenchmarkParseFrameOf250Octets(b *testing.B) {
	wire, _ := link.AppendFrame(nil, link.Header{Control: link.UnconfirmedUserData.With(0)}, make([]byte, link.MaxPayload))
	var parser link.Parser
	var room [link.MaxPayload]byte
	b.SetBytes(link.MaxFrame)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, ok := parser.Next(wire, &room); !ok {
			b.Fatal("no frame")
		}
	}
}
