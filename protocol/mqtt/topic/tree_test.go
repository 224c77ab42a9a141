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
