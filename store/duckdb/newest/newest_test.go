package newest_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"voltbus/point"
	"voltbus/store/duckdb/newest"
)

func TestTheNewestSampleOfAPointIsKept(t *testing.T) {
	var table newest.Table
	table.Grow(3)
	values := []point.Value{
		point.FloatOf(math.Copysign(0, -1)), point.IntOf(math.MinInt64), point.BoolOf(true),
		point.TextOf("open"), point.TextOf(""), point.FloatOf(math.Inf(1)),
	}
	for i, v := range values {
		s := newest.Sample{Time: int64(i) - 2, Value: v, Quality: point.Quality(i % 2)}
		table.See(1, s)
		if got, known := table.Sample(1); got != s || !known {
			t.Errorf("of %v the table has %v, %v", s, got, known)
		}
		table.See(1, newest.Sample{Time: s.Time - 1, Value: point.IntOf(7)})
		if got, _ := table.Sample(1); got != s {
			t.Errorf("an older sample took the place of %v: %v", s, got)
		}
	}
	if at, known := table.Newest(); at != 3 || !known {
		t.Errorf("the newest of all is at %d, %v", at, known)
	}
	if _, known := table.Sample(2); known {
		t.Error("a point without a sample has one")
	}
	if _, known := table.Time(3); known {
		t.Error("a number outside the table has a sample")
	}
	table.Forget(func(time int64) bool { return time == 3 })
	if _, known := table.Sample(1); known {
		t.Error("a forgotten sample is there")
	}
	if _, known := table.Newest(); known {
		t.Error("there is a newest sample of none")
	}
}

func TestASampleOfTheSameTimeDiffersByWhatItSays(t *testing.T) {
	var table newest.Table
	table.Grow(2)
	table.Take(0, newest.Sample{Time: 5, Value: point.FloatOf(1)})
	for _, c := range []struct {
		newest.Sample
		sameText bool
		want     bool
	}{
		{newest.Sample{Time: 5, Value: point.FloatOf(1), Quality: 0}, true, false},
		{newest.Sample{Time: 6, Value: point.FloatOf(2), Quality: 0}, true, false},
		{newest.Sample{Time: 5, Value: point.FloatOf(2), Quality: 0}, true, true},
		{newest.Sample{Time: 5, Value: point.FloatOf(1), Quality: 1}, true, true},
		{newest.Sample{Time: 5, Value: point.IntOf(1), Quality: 0}, true, true},
		{newest.Sample{Time: 5, Value: point.TextOf("1"), Quality: 0}, false, true},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			if got := table.Differs(0, c.Sample, c.sameText); got != c.want {
				t.Errorf("differs is %v", got)
			}
		})
	}
	if table.Differs(1, newest.Sample{Value: point.FloatOf(1)}, true) {
		t.Error("a point without a sample has one that differs")
	}
}

func TestWordsStayNotedWhileSamplesCome(t *testing.T) {
	var table newest.Table
	table.Grow(1)
	if table.Worded(0) {
		t.Error("a new point has texts")
	}
	table.Word(0)
	table.See(0, newest.Sample{Time: 1, Value: point.FloatOf(1)})
	if !table.Worded(0) {
		t.Error("that the point has texts is forgotten")
	}
}

func TestASampleTakesLittleMemory(t *testing.T) {
	const points, most = 200_000, 24
	before := alive()
	var table newest.Table
	table.Grow(points)
	for n := range uint32(points) {
		table.Take(n, newest.Sample{Time: int64(n), Value: point.FloatOf(float64(n))})
	}
	if each := float64(alive()-before) / points; each > most {
		t.Errorf("a sample takes %.1f bytes, want at most %d", each, most)
	}
	runtime.KeepAlive(&table)
}

// alive is the memory in use, in bytes.
func alive() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
