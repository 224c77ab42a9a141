package topic_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"voltbus/protocol/mqtt/topic"
)

func TestSharedSubscriptionsTakeTurns(t *testing.T) {
	tree := topic.NewTree[string, struct{}]()
	for _, s := range []string{"one", "two", "three"} {
		tree.Add(topic.Filter{Share: "g", Topic: "a/+"}, s, struct{}{})
	}
	var m topic.Matches[string, struct{}]
	got := map[string]int{}
	for range 30 {
		tree.Match([]byte("a/b"), &m)
		member, ok := m.Groups[0].Pick(func(c topic.Member[string, struct{}]) bool { return c.Subscriber != "two" })
		if !ok {
			t.Fatal("nobody was picked")
		}
		got[member.Subscriber]++
	}
	if got["two"] != 0 || got["one"] == 0 || got["three"] == 0 {
		t.Errorf("picked %v", got)
	}
	if _, ok := m.Groups[0].Pick(func(topic.Member[string, struct{}]) bool { return false }); ok {
		t.Error("somebody was picked whom nobody may use")
	}
}

func TestRetainedLookUpStopsWhenAskedTo(t *testing.T) {
	set := topic.NewRetained[int]()
	for i := range 100 {
		set.Set(fmt.Sprint("a/", i), i)
	}
	for _, filter := range []string{"#", "+/+", "a/#"} {
		n := 0
		set.Match(filter, func(string, int) bool { n++; return n < 7 })
		if n != 7 {
			t.Errorf("%s: %d names", filter, n)
		}
	}
}

// A name of 65,536 levels under filters as deep must not need a stack or time out of proportion.
func TestDeepTopicsAreMatched(t *testing.T) {
	name := strings.Repeat("/", topic.MaxLength)
	tree, set := topic.NewTree[int, int](), topic.NewRetained[int]()
	tree.Add(topic.Filter{Topic: strings.Repeat("+/", topic.MaxLength/2) + "#"}, 1, 1)
	tree.Add(topic.Filter{Topic: name}, 2, 2)
	var m topic.Matches[int, int]
	tree.Match([]byte(name), &m)
	if len(m.Sets) != 2 {
		t.Errorf("%d filters matched", len(m.Sets))
	}
	set.Set(name, 1)
	for _, filter := range []string{"#", strings.Repeat("+/", topic.MaxLength/2) + "#"} {
		n := 0
		set.Match(filter, func(string, int) bool { n++; return true })
		if n != 1 {
			t.Errorf("%d names", n)
		}
	}
}

// Filters that all match multiply neither the work nor the memory: each level that they have together is looked at once.
func TestAttackFiltersOfWildcardsCostNoMoreThanTheirLevels(t *testing.T) {
	tree, levels := topic.NewTree[int, int](), 0
	before := heap()
	for i := range 1 << 12 { // each of a and + at twelve levels
		filter := make([]byte, 0, 24)
		for bit := range 12 {
			filter = append(filter, "a+"[i>>bit&1], '/')
		}
		tree.Add(topic.Filter{Topic: string(filter[:23])}, i, i)
	}
	levels += 1<<13 - 1 // with the root
	for n := 1; n <= 1024; n++ {
		tree.Add(topic.Filter{Topic: strings.Repeat("+/", n) + "#"}, -n, n)
	}
	levels += 2 * 1024
	if grown := int(heap() - before); grown > 400*levels {
		t.Errorf("%d levels take %d bytes", levels, grown)
	}
	for name, want := range map[string]int{
		strings.Repeat("a/", 11) + "a":    1<<12 + 12,
		strings.Repeat("b/", 1023) + "b":  1024,
		strings.Repeat("/", 65_535):       1024,
		"$" + strings.Repeat("/", 65_534): 0,
	} {
		var m topic.Matches[int, int]
		tree.Match([]byte(name), &m)
		if len(m.Sets) != want || m.Looked > levels {
			t.Errorf("%.20s… matches %d filters, want %d, and looks at %d of %d levels", name, len(m.Sets), want, m.Looked, levels)
		}
		if n := testing.AllocsPerRun(10, func() { tree.Match([]byte(name), &m) }); n > 1 { // the name
			t.Errorf("%.20s… takes %v allocations", name, n)
		}
	}
	runtime.KeepAlive(tree)
}

// A filter looks at each level of the names at most once, whatever it is.
func TestAttackFiltersLookAtEachRetainedLevelOnce(t *testing.T) {
	set := topic.NewRetained[int]()
	for i := range 1000 {
		set.Set(fmt.Sprintf("a/%d/%s", i, strings.Repeat("/", 100)), i)
	}
	const levels = 1 + 1000 + 1000*101
	for filter, want := range map[string]int{
		"#":                                 1000,
		strings.Repeat("+/", 102) + "+":     1000,
		strings.Repeat("+/", 102) + "b":     0,
		strings.Repeat("+/", 32_000) + "#":  0,
		strings.Repeat("+/", 50) + "#":      1000,
		"b/#":                               0,
		"a/+" + strings.Repeat("/", 65_000): 0,
	} {
		n := 0
		looked := set.Match(filter, func(string, int) bool { n++; return true })
		if n != want || looked > levels {
			t.Errorf("%.12s…: %d names, want %d, and looks at %d of %d levels", filter, n, want, looked, levels)
		}
	}
}

func TestAnEmptyTreeKeepsNoMemory(t *testing.T) {
	tree := topic.NewTree[int, int]()
	before := heap()
	filter := func(i int) topic.Filter { return topic.Filter{Topic: fmt.Sprintf("devices/%d/cmd/#", i)} }
	for i := range 100_000 {
		tree.Add(filter(i), i, i)
	}
	for i := range 100_000 {
		tree.Remove(filter(i), i)
	}
	if grown := int64(heap()) - int64(before); grown > 1<<20 {
		t.Errorf("%d bytes are kept", grown)
	}
	runtime.KeepAlive(tree)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// What a million subscriptions take, B/subscription without the filters' own strings, and how long
// a name among them takes.
func BenchmarkTree(b *testing.B) {
	const n = 1_000_000
	for name, pattern := range map[string]string{"exact": "devices/%d/cmd/set", "wildcard": "devices/%d/cmd/#"} {
		b.Run(name, func(b *testing.B) {
			filters := make([]topic.Filter, n)
			for i := range filters {
				filters[i] = topic.Filter{Topic: fmt.Sprintf(pattern, i)}
			}
			before := heap()
			tree := topic.NewTree[*int, uint32]()
			for i := range filters {
				tree.Add(filters[i], new(int), 1)
			}
			size := float64(heap()-before) / n
			names := make([][]byte, 1024)
			for i := range names {
				names[i] = fmt.Appendf(nil, "devices/%d/cmd/set", i*977%n)
			}
			var m topic.Matches[*int, uint32]
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				tree.Match(names[i%len(names)], &m)
				if len(m.Sets) != 1 {
					b.Fatal(len(m.Sets))
				}
				i++
			}
			b.ReportMetric(size, "B/subscription")
			runtime.KeepAlive(filters)
		})
	}
}

func BenchmarkRetained(b *testing.B) {
	const n = 100_000
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("devices/%d/temperature", i)
	}
	before := heap()
	set := topic.NewRetained[*int]()
	for _, name := range names {
		set.Set(name, nil)
	}
	size := float64(heap()-before) / n
	for b.Loop() {
		found := 0
		set.Match("devices/+/temperature", func(string, *int) bool { found++; return true })
		if found != n {
			b.Fatal(found)
		}
	}
	b.ReportMetric(size, "B/name")
	runtime.KeepAlive(names)
}
