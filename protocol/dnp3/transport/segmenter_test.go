package transport_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/transport"
)

// segments returns all segments of a fragment.
func segments(fragment []byte, first transport.Sequence) (all [][]byte) {
	cutter := transport.NewSegmenter(fragment, first)
	for cutter.More() {
		all = append(all, cutter.Append(nil))
	}
	return all
}

// count returns n octets 0, 1, 2 and so on, 0 after 255.
func count(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i)
	}
	return p
}

func TestFragmentsAreCutAfter249Octets(t *testing.T) {
	cases := []struct {
		name    string
		size    int
		first   transport.Sequence
		headers []byte
		last    int
	}{
		{"one octet is first and final", 1, 0, []byte{0xC0}, 1},
		{"249 octets fit one segment", 249, 5, []byte{0xC5}, 249},
		{"250 octets take two", 250, 5, []byte{0x45, 0x86}, 1},
		{"numbers wrap after 63", 600, 62, []byte{0x7E, 0x3F, 0x80}, 102},
		{"the benchmark fragment takes seven", 1526, 0, []byte{0x40, 1, 2, 3, 4, 5, 0x86}, 32},
		{"a first number beyond 63 is reduced", 1, 64, []byte{0xC0}, 1},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			all := segments(count(tc.size), tc.first)
			var headers []byte
			for _, segment := range all {
				headers = append(headers, segment[0])
			}
			if !bytes.Equal(headers, tc.headers) {
				t.Errorf("headers are % X, want % X", headers, tc.headers)
			}
			if got := len(all[len(all)-1]) - 1; got != tc.last {
				t.Errorf("the last segment has %d octets, want %d", got, tc.last)
			}
		})
	}
}

func TestAConfirmTakesOneFrameOfFifteenOctets(t *testing.T) {
	header := link.Header{Control: link.UnconfirmedUserData.With(link.DIR), Destination: 10, Source: 1}
	got, next, err := transport.AppendFragment(nil, header, 0, []byte{0xD0, 0x00})
	if err != nil || next != 1 {
		t.Fatalf("next is %d, error is %v", next, err)
	}
	want := []byte{0x05, 0x64, 0x08, 0xC4, 0x0A, 0x00, 0x01, 0x00, 0xFC, 0x42, 0xC0, 0xD0, 0x00, 0x1B, 0x49}
	if !bytes.Equal(got, want) {
		t.Errorf("got % X, want % X", got, want)
	}
}

func TestAnEmptyFragmentIsRefused(t *testing.T) {
	got, next, err := transport.AppendFragment([]byte{1}, link.Header{}, 9, nil)
	if err == nil || len(got) != 1 || next != 9 {
		t.Errorf("got % X, next %d, error %v", got, next, err)
	}
}

func TestSizeIsTheSizeOfAllFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5000).Draw(t, "n")
		wire, _, err := transport.AppendFragment(nil, link.Header{}, 0, make([]byte, n))
		if err != nil || len(wire) != transport.Size(n) {
			t.Fatalf("%d octets take %d, Size says %d (%v)", n, len(wire), transport.Size(n), err)
		}
	})
}
