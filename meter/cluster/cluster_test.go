package cluster_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"voltbus/meter/cluster"
)

func members(t *testing.T, copies int, names ...string) *cluster.Members {
	t.Helper()
	m, err := cluster.New(names, copies)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestWhoCannotBeAClusterIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		names  []string
		copies int
	}{
		"one member": {[]string{"a"}, 1}, "twice": {[]string{"a", "b", "a"}, 1}, "no name": {[]string{"a", ""}, 1},
		"no copy": {[]string{"a", "b"}, 0}, "many copies": {[]string{"a", "b", "c"}, 3}, "many members": {make([]string, 65), 1},
	} {
		if m, err := cluster.New(c.names, c.copies); err == nil {
			t.Errorf("%s: %v", name, m)
		}
	}
}

// What is stored depends on this choice: it may never change.
func TestTheOwnersOfMetersNeverChange(t *testing.T) {
	m := members(t, 2, "mds-3", "mds-1", "mds-2")
	got := ""
	for i := range 16 {
		h := m.Holders(nil, fmt.Sprintf("1EMH%04d", i))
		got += fmt.Sprint(h[0], h[1], " ")
	}
	const want = "1 0 0 2 0 2 0 2 1 0 1 0 2 0 1 2 0 1 1 0 1 0 2 0 2 1 2 0 1 0 1 0 "
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if d := m.Digest("Europe/Berlin"); d != "8de50ae37fa3d4ac" {
		t.Errorf("digest %s", d)
	}
}

func TestMetersAreSpreadEvenly(t *testing.T) {
	const meters = 100_000
	for _, n := range []int{2, 3, 5, 16} {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprint("mds-", i))
		}
		m := members(t, 2, names...)
		owned, kept := make([]int, n), make([]int, n)
		for i := range meters {
			id := fmt.Sprintf("1LAB%08d", i)
			h := m.Holders(nil, id)
			if h[0] == h[1] || h[0] != m.Owner(id) || !m.Holds(h[0], id) || !m.Holds(h[1], id) {
				t.Fatalf("%s: %v, owner %d", id, h, m.Owner(id))
			}
			owned[h[0]]++
			kept[h[1]]++
		}
		for i := range n {
			fair := float64(meters) / float64(n)
			if math.Abs(float64(owned[i])-fair) > 6*math.Sqrt(fair) || math.Abs(float64(kept[i])-fair) > 6*math.Sqrt(fair) {
				t.Errorf("%d members: %s owns %d and copies %d, fair is %.0f", n, m.Names()[i], owned[i], kept[i], fair)
			}
		}
	}
}

func TestAMemberThatIsAddedTakesItsShareAndMovesNothingElse(t *testing.T) {
	before, after := members(t, 1, "a", "b", "c"), members(t, 1, "a", "b", "c", "bb")
	moved := 0
	for i := range 10_000 {
		id := fmt.Sprint("meter-", i)
		from, to := before.Names()[before.Owner(id)], after.Names()[after.Owner(id)]
		if from == to {
			continue
		}
		if moved++; to != "bb" {
			t.Fatalf("%s moves from %s to %s", id, from, to)
		}
	}
	if moved < 2200 || moved > 2800 {
		t.Errorf("%d of 10,000 move, a quarter is fair", moved)
	}
}

func TestADigestSaysWhoAgrees(t *testing.T) {
	one := members(t, 1, "a", "b", "c")
	if one.Digest("UTC") != members(t, 1, "c", "a", "b").Digest("UTC") {
		t.Error("the order of the members counts")
	}
	for name, other := range map[string]string{
		"members": members(t, 1, "a", "b", "d").Digest("UTC"), "copies": members(t, 2, "a", "b", "c").Digest("UTC"), "zone": one.Digest("Europe/Berlin"),
	} {
		if other == one.Digest("UTC") {
			t.Errorf("another view of the %s has the same digest", name)
		}
	}
	if one.Index("b") != 1 || one.Index("x") != -1 || !slices.Equal(one.Names(), []string{"a", "b", "c"}) {
		t.Errorf("names %v", one.Names())
	}
}

func BenchmarkHolders(b *testing.B) {
	m, err := cluster.New([]string{"mds-1", "mds-2", "mds-3", "mds-4"}, 2)
	if err != nil {
		b.Fatal(err)
	}
	var dst []int
	b.ReportAllocs()
	for b.Loop() {
		dst = m.Holders(dst[:0], "1EMH00012345")
	}
}
