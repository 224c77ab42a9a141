package packet

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzPackets decodes any stream as either version: nothing may panic, and what was decoded must
// encode to a packet that decodes to the same.
func FuzzPackets(f *testing.F) {
	for _, tt := range packets {
		f.Add(wire(f, tt.wire), tt.version == V5)
	}
	f.Fuzz(func(t *testing.T, stream []byte, five bool) {
		d := Decoder{Version: V311}
		if five {
			d.Version = V5
		}
		for {
			frame, n, err := Split(stream, 0)
			if err != nil || n == 0 {
				return
			}
			stream = stream[n:]
			reencode(t, &d, frame)
		}
	})
}

func reencode(t *testing.T, d *Decoder, f Frame) {
	t.Helper()
	first, again, err := decode(d, f)
	if err != nil {
		return
	}
	out, err := again(nil, d.Version)
	if err != nil {
		t.Fatalf("%+v does not encode: %v", first, err)
	}
	f2, n, err := Split(out, 0)
	if err != nil || n != len(out) {
		t.Fatalf("%+v encodes to % X: %v", first, out, err)
	}
	second, _, err := decode(d, f2)
	if err != nil {
		t.Fatalf("%+v encodes to % X: %v", first, out, err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Fatalf("decoded, encoded, decoded (-first +second):\n%s", diff)
	}
}

// FuzzStream feeds a stream whole and in two parts: the same packets must come out, or the same
// refusal, and no more than one incomplete packet may be kept.
func FuzzStream(f *testing.F) {
	for _, tt := range packets {
		one := wire(f, tt.wire)
		f.Add(append(bytes.Clone(one), one...), uint16(1), uint16(len(one)))
	}
	f.Fuzz(func(t *testing.T, data []byte, a, b uint16) {
		const limit = 300
		i := min(int(a), len(data))
		j := min(i+int(b), len(data))
		whole, wholeErr := collect(t, limit, data)
		parts, partsErr := collect(t, limit, data[:i], data[i:j], data[j:])
		if !bytes.Equal(whole, parts) || (wholeErr == nil) != (partsErr == nil) {
			t.Fatalf("whole % X (%v), in parts % X (%v)", whole, wholeErr, parts, partsErr)
		}
	})
}

// collect returns the packets of a stream, type and body.
func collect(t *testing.T, limit int, pieces ...[]byte) ([]byte, error) {
	t.Helper()
	s := Stream{Limit: limit}
	var all []byte
	for _, piece := range pieces {
		err := s.Feed(piece, func(f Frame) error {
			all = append(append(all, byte(f.Type), f.Flags), f.Body...)
			return nil
		})
		if err != nil {
			return all, err
		}
		if s.Pending() >= limit {
			t.Fatalf("%d bytes are kept", s.Pending())
		}
	}
	return all, nil
}

func TestHalfPacketsAreKeptUntilTheyAreWhole(t *testing.T) {
	var stream []byte
	for _, tt := range packets {
		stream = append(stream, wire(t, tt.wire)...)
	}
	want, err := collect(t, 0+1000, stream)
	if err != nil {
		t.Fatal(err)
	}
	for size := 1; size < 12; size++ {
		var pieces [][]byte
		for rest := stream; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			pieces = append(pieces, rest[:min(size, len(rest))])
		}
		if got, err := collect(t, 1000, pieces...); err != nil || !bytes.Equal(got, want) {
			t.Errorf("in pieces of %d: %v", size, err)
		}
	}
	var idle Stream
	if err := idle.Feed(stream, func(Frame) error { return nil }); err != nil || idle.rest != nil {
		t.Errorf("an idle stream keeps %d bytes (%v)", cap(idle.rest), err)
	}
}
