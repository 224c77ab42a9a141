package lexicon_test

import (
	"fmt"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"voltbus/internal/lexicon"
)

func TestTextsAreFoundByTheNumbersThatTheyGot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := lexicon.New()
		numbers, texts := map[string]uint32{}, map[uint32]string{}
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab/é")), 0, 6, -1)
		for range rapid.IntRange(0, 200).Draw(t, "texts") {
			s := text.Draw(t, "text")
			if _, known := numbers[s]; known {
				continue
			}
			n := rapid.Uint32Range(0, x.Next()+3).Draw(t, "number")
			if _, taken := texts[n]; taken {
				n = x.Add(s)
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
	x := lexicon.New()
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
	const devices, points, most = 5000, 18, 32
	before := alive()
	x := lexicon.New()
	for d := range devices {
		for p := range points {
			x.Add(fmt.Sprintf("cloud/building-%d/device-%d/point-%d", d/500, d, p))
		}
	}
	if each := float64(alive()-before) / (devices * points); each > most {
		t.Errorf("a point takes %.1f octets, want at most %d", each, most)
	}
	runtime.KeepAlive(x)
}

// alive is the memory in use, in octets.
func alive() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkFind(b *testing.B) {
	x := lexicon.New()
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
