package transport_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/protocol/dnp3/transport"
)

// FuzzTransport offers any segments to a reassembler with a small buffer and
// checks what must hold for every sequence of them.
func FuzzTransport(f *testing.F) {
	f.Add([]byte{2, 0xC0, 1, 3, 0x41, 1, 2, 2, 0x82, 3})
	f.Add([]byte{2, 0x40, 1, 2, 0x00, 1, 2, 0x05, 1, 0, 1, 0x40})
	f.Fuzz(func(t *testing.T, script []byte) {
		var r transport.Reassembler
		r.Lend(make([]byte, 0, 64))
		for len(script) > 0 {
			n := min(int(script[0]), len(script)-1)
			fragment, complete := r.Add(script[1 : 1+n])
			if complete == (len(fragment) == 0) || complete && r.Open() {
				t.Fatalf("% X: complete %t, open %t", fragment, complete, r.Open())
			}
			script = script[1+n:]
		}
		if buf := r.TakeBack(); cap(buf) != 64 {
			t.Fatalf("the buffer grew to %d", cap(buf))
		}
	})
}

func TestReassemblyFollowsFirFinAndSequence(t *testing.T) {
	first, second, third := []byte{0x40, 1}, []byte{0x01, 2}, []byte{0x82, 3}
	whole := []byte{1, 2, 3}
	cases := []struct {
		name     string
		segments [][]byte
		want     [][]byte
		counters transport.Counters
	}{
		{
			"three segments make a fragment",
			[][]byte{first, second, third},
			[][]byte{whole},
			transport.Counters{Fragments: 1, Segments: 3},
		},
		{
			"a single segment is a fragment, whatever its number",
			[][]byte{{0xFF, 7}},
			[][]byte{{7}},
			transport.Counters{Fragments: 1, Segments: 1},
		},
		{
			"0 follows 63",
			[][]byte{{0x7F, 1}, {0x80, 2}},
			[][]byte{{1, 2}},
			transport.Counters{Fragments: 1, Segments: 2},
		},
		{
			"a repeat is ignored",
			[][]byte{first, second, second, third},
			[][]byte{whole},
			transport.Counters{Fragments: 1, Segments: 4, Repeats: 1},
		},
		{
			"a gap abandons the fragment",
			[][]byte{first, third, second, third},
			nil,
			transport.Counters{Segments: 4, Gaps: 1, Strays: 2},
		},
		{
			"a new start abandons the open fragment",
			[][]byte{first, second, first, second, third},
			[][]byte{whole},
			transport.Counters{Fragments: 1, Segments: 5, Restarts: 1},
		},
		{
			"a single segment abandons the open fragment",
			[][]byte{first, {0xC9, 7}, second},
			[][]byte{{7}},
			transport.Counters{Fragments: 1, Segments: 3, Restarts: 1, Strays: 1},
		},
		{
			"a middle segment without a start is dropped",
			[][]byte{second},
			nil,
			transport.Counters{Segments: 1, Strays: 1},
		},
		{
			"a header without data is dropped and harms nothing",
			[][]byte{first, {}, {0x01}, second, third},
			[][]byte{whole},
			transport.Counters{Fragments: 1, Segments: 5, Empty: 2},
		},
		{
			"the buffer bounds the fragment",
			[][]byte{first, {0x01, 2, 3, 4, 5}, {0x82, 6}},
			nil,
			transport.Counters{Segments: 3, Oversize: 1, Strays: 1},
		},
		{
			"a fragment may fill the buffer",
			[][]byte{first, {0x81, 2, 3, 4}},
			[][]byte{{1, 2, 3, 4}},
			transport.Counters{Fragments: 1, Segments: 2},
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			var r transport.Reassembler
			r.Lend(make([]byte, 0, 4))
			var got [][]byte
			for _, segment := range tc.segments {
				if fragment, complete := r.Add(segment); complete {
					got = append(got, bytes.Clone(fragment))
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("fragments differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.counters, r.Counters()); diff != "" {
				t.Errorf("counters differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAReassemblerWithoutABufferTakesSingleSegmentsOnly(t *testing.T) {
	var r transport.Reassembler
	if _, complete := r.Add([]byte{0xC0, 1}); !complete {
		t.Error("a single segment gave no fragment")
	}
	if _, complete := r.Add([]byte{0x41, 1}); complete || r.Open() || r.Counters().Oversize != 1 {
		t.Errorf("complete %t, %+v", complete, r.Counters())
	}
}

func TestTakingTheBufferBackAbandonsTheFragment(t *testing.T) {
	var r transport.Reassembler
	r.Lend(make([]byte, 0, 8))
	r.Add([]byte{0x40, 1})
	if !r.Open() {
		t.Fatal("no fragment is open")
	}
	if buf := r.TakeBack(); cap(buf) != 8 || r.Open() || r.TakeBack() != nil {
		t.Errorf("capacity %d, open %t", cap(buf), r.Open())
	}
}

func TestEveryFragmentSurvivesTheRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fragment := rapid.SliceOfN(rapid.Byte(), 1, 3000).Draw(t, "fragment")
		first := transport.Sequence(rapid.ByteMax(63).Draw(t, "first"))
		var r transport.Reassembler
		r.Lend(make([]byte, 0, len(fragment)))
		for i, segment := range segments(fragment, first) {
			got, complete := r.Add(segment)
			if complete != (i == (len(fragment)-1)/transport.MaxData) {
				t.Fatalf("segment %d: complete %t", i, complete)
			}
			if complete && !bytes.Equal(got, fragment) {
				t.Fatalf("got % X, want % X", got, fragment)
			}
		}
	})
}
