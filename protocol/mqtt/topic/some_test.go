package topic_test

import (
	"fmt"
	"testing"

	"voltbus/protocol/mqtt/topic"
)

func TestAttackManyRetainedNamesAreLookedAtPartByPart(t *testing.T) {
	const names, most = 1000, 30
	r := topic.NewRetained[int]()
	for i := range names {
		r.Set(fmt.Sprintf("$hidden/%d", i), i)
		r.Set(fmt.Sprintf("shown/%d", i), i)
	}
	seen, next := map[string]int{}, 0
	for {
		looked := 0
		next = r.Some(next, most, func(name string, _ int) bool {
			looked++
			seen[name]++
			return looked != 7 // who stops goes on behind it
		})
		if looked > most {
			t.Fatalf("%d names at once, want %d at most", looked, most)
		}
		if next == 0 {
			break
		}
	}
	if len(seen) != 2*names {
		t.Errorf("%d names were seen, want %d", len(seen), 2*names)
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%s was seen %d times", name, n)
		}
	}
	for i := range names {
		r.Delete(fmt.Sprintf("$hidden/%d", i))
		r.Delete(fmt.Sprintf("shown/%d", i))
	}
	if next := r.Some(500, most, func(name string, _ int) bool { t.Errorf("%s is still there", name); return true }); next != 0 {
		t.Errorf("an empty set goes on at %d", next)
	}
}
