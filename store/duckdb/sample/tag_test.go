package sample

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"voltbus/point"
)

func TestATagAndADoubleKeepEveryNumber(t *testing.T) {
	edges := []point.Value{
		{},
		point.FloatOf(0), point.FloatOf(math.Copysign(0, -1)), point.FloatOf(math.Inf(1)), point.FloatOf(math.NaN()),
		point.FloatOf(1 << 63), point.BoolOf(true), point.BoolOf(false), point.IntOf(0), point.IntOf(-1),
		point.IntOf(1 << 53), point.IntOf(1<<53 + 1), point.IntOf(-1<<53 - 1), point.IntOf(1<<62 + 511),
		point.IntOf(math.MaxInt64), point.IntOf(math.MaxInt64 - 511), point.IntOf(math.MaxInt64 - 512), point.IntOf(math.MaxInt64 - 513),
		point.IntOf(math.MinInt64), point.IntOf(math.MinInt64 + 1), point.IntOf(math.MinInt64 + 513),
	}
	for _, v := range edges {
		wantKept(t, v, point.BadSensor)
	}
	rapid.Check(t, func(rt *rapid.T) {
		v := rapid.OneOf(rapid.Map(rapid.Int64(), point.IntOf), rapid.Map(rapid.Float64(), point.FloatOf)).Draw(rt, "value")
		wantKept(rt, v, point.Quality(rapid.Uint8().Draw(rt, "quality")))
	})
}

func wantKept(t rapid.TB, v point.Value, q point.Quality) {
	value, exact := stored(v.Kind(), v.Bits())
	g := exact | plainTag(v.Kind(), q)
	if got := g.number(value); got != v || g.quality() != q || g.kind() != v.Kind() {
		t.Errorf("%v %v (%v) came back as %v %v (%v)", v.Kind(), v, q, g.kind(), got, g.quality())
	}
	if number, ok := v.Number(); ok && number == number && value != number {
		t.Errorf("%v is summed up as %v", v, value)
	}
}
