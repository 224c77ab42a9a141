package interner_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"voltbus/internal/interner"
)

func TestTextsAreFoundByTheNumbersThatTheyGot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := interner.New()
		numbers, texts := map[string]uint32{}, map[uint32]string{}
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab/é")), 0, 6, -1)
		for range rapid.IntRange(0, 200).Draw(t, "texts") {
			s := text.Draw(t, "text")
			if rapid.IntRange(0, 9).Draw(t, "reserve") == 0 {
				x.Reserve(rapid.IntRange(0, 100).Draw(t, "more"))
			}
			if want, known := numbers[s]; known {
				if n, is := x.Enter(s); n != want || !is {
					t.Fatalf("%q was entered as %d, %v; it has the number %d", s, n, is, want)
				}
				continue
			}
			n := rapid.Uint32Range(0, x.Next()+3).Draw(t, "number")
			if _, taken := texts[n]; taken {
				next := x.Next()
				var known bool
				if n, known = x.Enter(s); n != next || known {
					t.Fatalf("%q was entered as %d, %v; the next number is %d", s, n, known, next)
				}
			} else {
				x.Put(n, s)
			}
			numbers[s], texts[n] = n, s
		}
		if x.Len() != len(numbers) {
			t.Fatalf("%d texts have a number, want %d", x.Len(), len(numbers))
		}
		for n := range x.Next() + 2 {
			s, has := texts[n]
			if x.Has(n) != has || string(x.Append(nil, n)) != s {
				t.Fatalf("%d stands for %q, %v; want %q, %v", n, x.Append(nil, n), x.Has(n), s, has)
			}
		}
		for range 20 {
			s := text.Draw(t, "sought")
			n, known := x.Find(s)
			if want, is := numbers[s]; n != want || known != is {
				t.Fatalf("%q has the number %d, %v; want %d, %v", s, n, known, want, is)
			}
		}
		for s, want := range numbers {
			if n, known := x.Find(s); n != want || !known {
				t.Fatalf("%q has the number %d, %v; want %d", s, n, known, want)
			}
		}
	})
}

func TestASlashAtTheEndOrTheBeginningMakesAnotherText(t *testing.T) {
	x := interner.New()
	for i, s := range []string{"", "/", "a", "/a", "a/", "//a", "a//"} {
		if n, known := x.Find(s); known {
			t.Errorf("%q is known as %d before it was added", s, n)
		}
		if n := x.Add(s); n != uint32(i) {
			t.Errorf("%q got the number %d", s, n)
		}
	}
}

func TestPointsOfManyDevicesTakeLittleMemory(t *testing.T) {
	const devices, points, most = 5000, 18, 20
	before := alive()
	x := interner.New()
	for d := range devices {
		for p := range points {
			x.Add(fmt.Sprintf("cloud/building-%d/device-%d/point-%d", d/500, d, p))
		}
	}
	if each := float64(alive()-before) / (devices * points); each > most {
		t.Errorf("a point takes %.1f bytes, want at most %d", each, most)
	}
	runtime.KeepAlive(x)
}

// alive is the memory in use, in bytes.
func alive() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkFind(b *testing.B) {
	x := interner.New()
	texts := make([]string, 0, 450_000)
	for d := range cap(texts) / 18 {
		for p := range 18 {
			texts = append(texts, fmt.Sprintf("cloud/building-%d/device-%d/point-%d", d/500, d, p))
			x.Add(texts[len(texts)-1])
		}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, known := x.Find(texts[i%len(texts)]); !known {
			b.Fatal("not found")
		}
	}
}

func TestNumbersCompareAsTheirTextsDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := interner.New()
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab/é-")), 0, 8, -1)
		texts := rapid.SliceOfNDistinct(text, 2, 20, rapid.ID).Draw(t, "texts")
		for _, s := range texts {
			x.Add(s)
		}
		sought := text.Draw(t, "sought")
		for a, s := range texts {
			if got, want := x.CompareText(uint32(a), sought), strings.Compare(s, sought); got != want {
				t.Fatalf("%q is %d to the text %q, want %d", s, got, sought, want)
			}
			if got, want := x.Is(uint32(a), sought), s == sought; got != want {
				t.Fatalf("that %q is %q is %v", s, sought, got)
			}
			if head, tail := x.Parts(uint32(a)); string(x.Head(head))+string(x.Tail(tail)) != s {
				t.Fatalf("%q is made of %q and %q", s, x.Head(head), x.Tail(tail))
			}
			for b, other := range texts {
				if got, want := x.Compare(uint32(a), uint32(b)), strings.Compare(s, other); got != want {
					t.Fatalf("%q is %d to %q, want %d", s, got, other, want)
				}
			}
		}
		if x.Is(x.Next(), "") || x.Heads() > len(texts) || x.Tails() > len(texts) {
			t.Fatal("there are more texts than were added")
		}
	})
}

func BenchmarkPut(b *testing.B) {
	texts := make([]string, 0, 1_000_000)
	for i := range cap(texts) {
		texts = append(texts, fmt.Sprintf("city/district%d/meter%07d/%s", i/4000, i/4, [4]string{"energy", "power", "voltage", "current"}[i%4]))
	}
	for _, reserved := range []int{0, len(texts)} {
		b.Run(fmt.Sprintf("%d reserved", reserved), func(b *testing.B) {
			for b.Loop() {
				x := interner.New()
				x.Reserve(reserved)
				for i, s := range texts {
					x.Put(uint32(i), s)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(texts)), "ns/text")
		})
	}
}
