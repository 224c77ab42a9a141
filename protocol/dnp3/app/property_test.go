package app_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

// pointVariations are all variations of points.
var pointVariations = func() (all []object.Variation) {
	for v := range object.Variations() {
		w := app.NewResponse(make([]byte, 0, 64), 0xC0, app.FuncResponse, 0)
		if err := w.Static(v, object.Point{}); !errors.Is(err, app.ErrVariation) {
			all = append(all, v)
		}
	}
	return all
}()

// drawPoint draws a point that v can express exactly.
func drawPoint(t *rapid.T, v object.Variation, index uint32) object.Point {
	var raw [16]byte
	copy(raw[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "octets"))
	packed := v.Size() == 0
	wire := append([]byte{0xC0, 0x81, 0, 0, v.Group(), v.Number(), 0x07, 1}, raw[:v.Size()]...)
	if packed {
		wire = append([]byte{0xC0, 0x81, 0, 0, v.Group(), v.Number(), 0x00, 0, 0}, raw[0])
	}
	fragment, err := app.Parse(wire)
	if err != nil {
		t.Fatal(err)
	}
	for h, err := range fragment.Headers() {
		if err != nil {
			t.Fatal(err)
		}
		for p := range h.Points() {
			p.Index = index
			return p
		}
	}
	t.Fatalf("%v has no point in % X", v, wire)
	return object.Point{}
}

// fataler is what tests and properties have in common.
type fataler interface{ Fatal(args ...any) }

// alike compares points; numbers that are none are alike.
func alike(a, b object.Point) bool {
	if math.IsNaN(a.Value.Float()) && math.IsNaN(b.Value.Float()) {
		a.Value, b.Value = object.Value{}, object.Value{}
	}
	return a == b
}

// read collects the points of a fragment that must be sound.
func read(t fataler, octets []byte) (variations []object.Variation, points []object.Point) {
	fragment, err := app.Parse(octets)
	if err != nil {
		t.Fatal(err)
	}
	for h, err := range fragment.Headers() {
		if err != nil {
			t.Fatal(err)
		}
		for p := range h.Points() {
			variations, points = append(variations, h.Variation), append(points, p)
		}
	}
	return variations, points
}

func TestPointsSurviveTheRoundTripInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := app.NewResponse(make([]byte, 0, 2048), 0xC0, app.FuncResponse, 0)
		if rapid.Bool().Draw(t, "narrow") {
			w.Narrow()
		}
		var variations []object.Variation
		var points []object.Point
		var index uint32
		for range rapid.IntRange(0, 40).Draw(t, "n") {
			v := rapid.SampledFrom(pointVariations).Draw(t, "variation")
			index = rapid.OneOf(rapid.Just(index+1), rapid.Uint32()).Draw(t, "index")
			p := drawPoint(t, v, index)
			write := w.Static
			if v.Size() > 0 && rapid.Bool().Draw(t, "indexed") {
				write = w.Indexed
			}
			if err := write(v, p); err != nil {
				t.Fatalf("%v %+v: %v", v, p, err)
			}
			variations, points = append(variations, v), append(points, p)
		}
		gotVariations, gotPoints := read(t, w.Bytes())
		if len(gotPoints) != len(points) {
			t.Fatalf("%d points, want %d: % X", len(gotPoints), len(points), w.Bytes())
		}
		for i := range points {
			if gotVariations[i] != variations[i] || !alike(gotPoints[i], points[i]) {
				t.Fatalf("point %d is %v %+v, want %v %+v", i, gotVariations[i], gotPoints[i], variations[i], points[i])
			}
		}
	})
}

func TestRelativeTimesSurviveTheRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		common := rapid.SampledFrom([]object.Variation{object.G51V1, object.G51V2}).Draw(t, "common")
		base := rapid.Uint64Max(object.MaxMilliseconds-0xFFFF).Draw(t, "base")
		want := object.Point{Flags: object.FlagOnline, Value: object.Bool(true)}
		want.Time.Milliseconds = base + uint64(rapid.Uint16().Draw(t, "offset"))
		want.Time.Quality = object.TimeAbsolute
		if common == object.G51V2 {
			want.Time.Quality = object.TimeUnsynchronized
		}
		w := app.NewResponse(make([]byte, 0, 64), 0xC0, app.FuncResponse, 0)
		if err := errors.Join(w.Time(common, at(base)), w.Indexed(object.G2V3, want)); err != nil {
			t.Fatal(err)
		}
		_, points := read(t, w.Bytes())
		if len(points) != 1 || points[0] != want {
			t.Fatalf("got %+v, want %+v", points, want)
		}
	})
}

func TestAnyNumberFitsAnyAnalogEventOrIsMarked(t *testing.T) {
	variations := []object.Variation{object.G32V1, object.G32V2, object.G32V5, object.G32V6, object.G42V1, object.G33V2}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom(variations).Draw(t, "variation")
		x := rapid.Float64().Draw(t, "x")
		w := app.NewResponse(make([]byte, 0, 64), 0xC0, app.FuncResponse, 0)
		if err := w.Indexed(v, object.Point{Value: object.Float(x), Flags: object.FlagOnline}); err != nil {
			t.Fatal(err)
		}
		_, points := read(t, w.Bytes())
		got := points[0].Value.Float()
		near := math.Abs(got-x) <= math.Max(0.5, math.Abs(x)*1e-6)
		if marked := points[0].Flags.Has(object.FlagOverRange); marked == near {
			t.Fatalf("%g became %g, marked %t", x, got, marked)
		}
	})
}
