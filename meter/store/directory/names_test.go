package directory

import (
	"fmt"
	"runtime"
	"testing"

	"pgregory.net/rapid"
)

func TestIdsAreFoundByTheNumbersThatTheyGot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newNames()
		ids := rapid.SliceOfNDistinct(rapid.StringMatching("[ab1-4]{0,6}|[a-z]{64}"), 0, 300, rapid.ID).Draw(t, "ids")
		numbers := map[string]uint32{}
		for i, id := range ids {
			if rapid.IntRange(0, 9).Draw(t, "reserve") == 0 {
				x.reserve(rapid.IntRange(0, 200).Draw(t, "more"))
			}
			if n, known := x.one(id); known {
				t.Fatalf("%q is known as %d before it was added", id, n)
			}
			x.add(id)
			numbers[id] = uint32(i)
		}
		for i, id := range ids {
			if got := x.text(uint32(i)); got != id {
				t.Fatalf("%d stands for %q, want %q", i, got, id)
			}
		}
		sought := append(rapid.SliceOfN(rapid.StringMatching("[ab1-4]{0,6}"), 0, 50).Draw(t, "sought"), ids...)
		s := &search{}
		for len(sought) > 0 {
			count := min(together, len(sought))
			copy(s.ids[:], sought)
			x.find(s, count)
			for i, id := range sought[:count] {
				one, known := x.one(id)
				want, is := numbers[id]
				if known != is || one != want || is && s.n[i] != want+1 || !is && s.n[i] != 0 {
					t.Fatalf("%q has the number %d (%v), and %d plus one; want %d (%v)", id, one, known, s.n[i], want, is)
				}
			}
			sought = sought[count:]
		}
	})
}

func TestIdsWhoseHashesAreNeighboursAreToldApart(t *testing.T) {
	x := newNames()
	for i := range 200_000 { // a few of so many have the hash of another, and many its place
		x.add(fmt.Sprintf("meter-%d", i))
	}
	s := &search{}
	for i := 0; i < 200_000; i += together {
		for k := range together {
			s.ids[k] = fmt.Sprintf("meter-%d", i+k)
		}
		x.find(s, together)
		for k := range together {
			if s.n[k] != uint32(i+k)+1 {
				t.Fatalf("%q has the number %d", s.ids[k], s.n[k])
			}
		}
	}
}

func TestManyMetersTakeLittleMemory(t *testing.T) {
	const meters, most = 300_000, 48 // bytes, of which the id has 14
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	x := newNames()
	for i := range meters {
		x.add(fmt.Sprintf("1EMH%010d", i))
	}
	runtime.GC()
	runtime.ReadMemStats(&m)
	if each := float64(m.HeapAlloc-before) / meters; each > most {
		t.Errorf("an id takes %.1f bytes, want at most %d", each, most)
	}
	runtime.KeepAlive(x)
}

func BenchmarkFind(b *testing.B) {
	const meters = 2_000_000
	x := newNames()
	ids := make([]string, meters)
	for i := range ids {
		ids[i] = fmt.Sprintf("1EMH%010d", i*7919%meters)
		x.add(ids[i])
	}
	b.Run("one by one", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, known := x.one(ids[i*104729%meters]); !known {
				b.Fatal("not found")
			}
		}
	})
	b.Run("together", func(b *testing.B) {
		s := &search{}
		for i := 0; b.Loop(); i++ {
			if s.ids[i%together] = ids[i*104729%meters]; i%together == together-1 {
				x.find(s, together)
			}
		}
	})
}
