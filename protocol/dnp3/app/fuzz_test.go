package app_test

import (
	"errors"
	"testing"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/file"
	"voltbus/protocol/dnp3/object"
)

// FuzzFragment reads any octets: no panic, every object inside the fragment, and
// what is read, written again and read again, is the same.
func FuzzFragment(f *testing.F) {
	for _, tc := range wirePoints {
		f.Add(octets(f, "C0 81 00 00"+tc.wire))
	}
	for _, wire := range []string{
		"C3 01 3C 02 06 3C 03 06 3C 04 06 3C 01 06",
		"C3 03 0C 01 28 02 00 0A 00 03 01 00 00 00 00 00 00 00 00 00 0B 00 81 01 64 00 00 00 C8 00 00 00 00",
		"C3 0B 32 02 07 01 E8 03 00 00 00 00 A0 BB 0D 00 14 00 06",
		"C0 81 00 00 33 01 07 01 E8 03 00 00 00 00 02 03 17 02 01 81 05 00 02 01 FF FF",
		"C0 81 00 00 6E 02 00 00 01 61 62 63 64 6F 03 28 01 00 07 00 61 62 63",
		"C0 81 00 00 00 FF 00 00 00 FE 04 FC 00 F7 01 00 FC 00 00 00 01 02 56 42",
		"C0 19 46 03 5B 01 1F 00 1A 00 05 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 00 00 04 07 00 61 2E 6C 6F 67",
		"C0 81 00 00 1E 01 02 00 00 00 00 FF FF FF FF 01",
	} {
		f.Add(octets(f, wire))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		fragment, err := app.Parse(p)
		if err != nil {
			return
		}
		total := 0
		for h, err := range fragment.Headers() {
			if err != nil {
				var parse *app.ParseError
				if !errors.As(err, &parse) || parse.Octet > len(p) {
					t.Fatalf("error %v in %d octets", err, len(p))
				}
				return
			}
			total += visit(t, h)
			if total > 256*len(p) {
				t.Fatalf("%d objects in %d octets", total, len(p))
			}
			rewrite(t, h, len(p))
		}
	})
}

// visit looks at everything a header has and returns how many objects it yields.
func visit(t *testing.T, h app.Header) (n int) {
	t.Helper()
	size := 0
	for o := range h.Objects() {
		n++
		size += len(o.Data)
		o.CROB()
		o.Time()
		o.TimeInterval()
		o.IndexedTime()
		o.Delay()
		if a, ok := o.Attribute(); ok {
			a.Value()
			a.Time()
			a.List()
		}
		visitFile(o)
	}
	if size > len(h.Data()) {
		t.Fatalf("objects of %d octets in %d", size, len(h.Data()))
	}
	return n
}

func visitFile(o object.Raw) {
	_, _ = file.ParseAuth(o)
	_, _ = file.ParseCommand(o)
	_, _ = file.ParseCommandStatus(o)
	_, _ = file.ParseBlock(o)
	_, _ = file.ParseBlockStatus(o)
	_, _ = file.ParseDescriptor(o)
	_, _, _ = file.NextDescriptor(o.Data)
}

// rewrite writes the points of a header again and compares what is read.
func rewrite(t *testing.T, h app.Header, limit int) {
	t.Helper()
	w := app.NewResponse(make([]byte, 0, 16*limit+64), 0xC0, app.FuncResponse, 0)
	var want []object.Point
	for p := range h.Points() {
		// The common time belongs to another header here.
		if relative := h.Variation == object.G2V3 || h.Variation == object.G4V3; relative && p.Time.Quality != object.TimeBaseless {
			return
		}
		write := w.Static
		if h.Qualifier.Prefixed() {
			write = w.Indexed
		}
		if err := write(h.Variation, p); err != nil {
			t.Fatalf("%v %+v: %v", h.Variation, p, err)
		}
		want = append(want, p)
	}
	variations, got := read(t, w.Bytes())
	if len(got) != len(want) {
		t.Fatalf("%d points, want %d", len(got), len(want))
	}
	for i := range want {
		if variations[i] != h.Variation || !alike(got[i], want[i]) {
			t.Fatalf("point %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}
