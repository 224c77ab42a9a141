package receiver_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"voltbus/point"
	"voltbus/uplink"
	"voltbus/uplink/receiver"
	"voltbus/wire"
)

// BenchmarkFirstBlocksOf20000Origins takes the first block of each of so many origins from one child, with the
// file that remembers them.
func BenchmarkFirstBlocksOf20000Origins(b *testing.B) {
	const origins = 20_000
	frames := make([][]byte, origins)
	for i := range frames {
		block := &point.Block{Origin: fmt.Sprintf("node-%d~abcdef", i), Sequence: 1, Points: []point.Path{"plant/temp"}}
		block.Append(0, &point.Sample{Value: point.IntOf(1)})
		data, err := new(wire.Encoder).AppendBlock(nil, block)
		if err != nil {
			b.Fatal(err)
		}
		frame := uplink.Frame{Epoch: 1, Block: data}
		frames[i] = frame.Append(nil)
	}
	for b.Loop() {
		r := parent(b, receiver.Config{File: filepath.Join(b.TempDir(), "origins.json"), Window: 1 << 30})
		send(b, r, "first", "plant/temp") // it runs
		answers := make(chan uplink.Answer, origins)
		for _, f := range frames[:origins-1] {
			r.Receive("plant", uplink.Normal, f, func(a uplink.Answer) { answers <- a })
		}
		for range origins - 1 {
			if a := <-answers; a.Failure != nil {
				b.Fatalf("%+v", a.Failure)
			}
		}
	}
}
