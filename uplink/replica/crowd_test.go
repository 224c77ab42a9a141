package replica_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"voltbus/fault"
	"voltbus/uplink/replica"
)

// grown returns how many bytes of the heap something takes that is kept.
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
		table := tableOf("evil", "good")
		name := 0
		take := func(body string) error {
			_, err := table.TakeFormer("evil", replica.FormerFleetMethod, []byte(body), "")
			return err
		}
		if !full { // as a child of this version reports
			version := 0
			take = func(string) error {
				var b strings.Builder
				b.WriteString(`{"nodes":[{"b":0,"v":0}`)
				for range 60 {
					fmt.Fprintf(&b, `,{"b":%d,"v":%d,"s":{"x":1`, version, version+1)
					for i := range 90 {
						fmt.Fprintf(&b, `,"%060d":1`, name+i)
					}
					fmt.Fprintf(&b, `}},{"b":%d,"v":%d,"s":{"x":1`, version+1, version+2)
					for range 90 {
						fmt.Fprintf(&b, `,"%060d":null`, name)
						name++
					}
					b.WriteString(`}}`)
					version += 2
				}
				b.WriteString(`]}`)
				_, err := table.Take("evil", []byte(strings.Replace(b.String(), `{"b":0,"v":0},`, "", 1)), "")
				return err
			}
		}
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
		took := grown(table, func() {
			for range 40 {
				if err := take(report()); err != nil {
					t.Fatal(err)
				}
			}
		})
		if took > 4<<20 {
			t.Errorf("full %v: %d names that are no more take %d bytes", full, name, took)
		}
	}
}

func TestAttackAChildTellsOfLargeNodesWithoutEnd(t *testing.T) {
	table := tableOf("evil", "good")
	var facts strings.Builder
	for i := range 90 {
		fmt.Fprintf(&facts, `"f%d":%q,`, i, strings.Repeat("x", 500))
	}
	large := strings.TrimSuffix(facts.String(), ",")
	took := grown(table, func() {
		for n := range 4000 {
			if _, err := table.Take("evil", fmt.Appendf(nil, `{"nodes":[{"n":"n%d","v":1,"s":{%s}}]}`, n, large), ""); err != nil {
				t.Fatal(err)
			}
		}
	})
	if took > 100<<20 {
		t.Errorf("the nodes of one child take %d bytes", took)
	}
	// Another child is not concerned, and one that is known cannot grow beyond either.
	if _, err := table.Take("good", []byte(`{"nodes":[{"v":1,"s":{"version":"1"}}]}`), ""); err != nil {
		t.Error(err)
	}
	if seen, known := table.Look("good", "good"); !known || seen.Version != "1" {
		t.Errorf("another child is known: %v, %+v", known, seen)
	}
	small := tableOf("evil", "good")
	for n := range 2000 {
		if _, err := small.Take("evil", fmt.Appendf(nil, `{"nodes":[{"n":"n%d","v":1}]}`, n), ""); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 2000 {
		_, err := small.Take("evil", fmt.Appendf(nil, `{"nodes":[{"n":"n%d","b":1,"v":2,"s":{%s}}]}`, n, large), "")
		if fault.Is(err, fault.Invalid) {
			return
		}
	}
	t.Error("2,000 nodes that were small grow to 46 kB each")
}
