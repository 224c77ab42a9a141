package fleet_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/uplink/fleet"
)

// grown returns how many octets of the heap something takes that is kept.
func grown(keep any, do func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	do()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(keep)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc) //nolint:gosec // a heap is not so large
}

// Names of facts that are no more are kept until the parent was told: at the top nobody is told.
func TestAttackAChildNamesEverNewFacts(t *testing.T) {
	for _, full := range []bool{true, false} {
		book := fleet.NewBook(time.Now)
		name := 0
		report := func() string {
			var b strings.Builder
			fmt.Fprintf(&b, `{"nodes":[{"f":true}`)
			for range 100 {
				fmt.Fprintf(&b, `,{"f":%v,"s":{`, full)
				for i := range 90 {
					if i > 0 {
						b.WriteByte(',')
					}
					fmt.Fprintf(&b, `"%060d":1`, name)
					name++
				}
				b.WriteString(`}},{"f":true}`)
			}
			b.WriteString(`]}`)
			return b.String()
		}
		took := grown(book, func() {
			for range 40 {
				if _, err := book.Take("evil", []byte(report()), ""); err != nil {
					t.Fatal(err)
				}
			}
		})
		if took > 4<<20 {
			t.Errorf("full %v: %d names that are no more take %d octets", full, name, took)
		}
	}
}

func TestAttackAChildTellsOfLargeNodesWithoutEnd(t *testing.T) {
	book := fleet.NewBook(time.Now)
	var facts strings.Builder
	for i := range 90 {
		fmt.Fprintf(&facts, `"f%d":%q,`, i, strings.Repeat("x", 500))
	}
	large := strings.TrimSuffix(facts.String(), ",")
	took := grown(book, func() {
		for n := range 4000 {
			if _, err := book.Take("evil", fmt.Appendf(nil, `{"nodes":[{"n":"n%d","f":true,"s":{%s}}]}`, n, large), ""); err != nil {
				t.Fatal(err)
			}
		}
	})
	if took > 100<<20 {
		t.Errorf("the nodes below one child take %d octets", took)
	}
	// Another child is not concerned, and one that is known cannot grow beyond either.
	if _, err := book.Take("good", []byte(`{"nodes":[{"f":true,"s":{"version":"1"}}]}`), ""); err != nil {
		t.Error(err)
	}
	if seen, known := book.Look("good", "good"); !known || seen.Version != "1" {
		t.Errorf("another child is known: %v, %+v", known, seen)
	}
	small := fleet.NewBook(time.Now)
	for n := range 2000 {
		if _, err := small.Take("evil", fmt.Appendf(nil, `{"nodes":[{"n":"n%d","f":true}]}`, n), ""); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 2000 {
		_, err := small.Take("evil", fmt.Appendf(nil, `{"nodes":[{"n":"n%d","s":{%s}}]}`, n, large), "")
		if fault.Is(err, fault.Invalid) {
			return
		}
	}
	t.Error("2,000 nodes that were small grow to 46 kB each")
}
