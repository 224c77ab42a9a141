package recovery_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"voltbus/meter/recovery"
	"voltbus/meter/store"
)

var midnight = time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)

func gap(priority, hours int, id string, channel int) recovery.Gap {
	return recovery.Gap{ChannelKey: store.ChannelKey{Meter: id, Channel: channel}, Day: store.DayOf(2026, 3, 3), Count: 2, First: midnight.Add(time.Duration(hours) * time.Hour), Priority: priority}
}

func TestTheHighestPriorityComesFirstAndThenTheOldest(t *testing.T) {
	want := []recovery.Gap{gap(1, 9, "z", 1), gap(5, -30, "b", 1), gap(5, 2, "a", 1), gap(5, 2, "a", 2), gap(5, 2, "c", 1), gap(9, -99, "a", 1)}
	list := recovery.NewList(nil, 10)
	for _, i := range rand.Perm(len(want)) {
		list.Add(&want[i])
	}
	got, more := list.Page()
	if !slices.Equal(got, want) || more {
		t.Errorf("%+v, %v", got, more)
	}
	if gaps, ends := list.Counts(); gaps != 6 || ends != 12 {
		t.Errorf("counted %d gaps with %d intervals", gaps, ends)
	}
	if age := got[1].Age(midnight); age != 30*time.Hour {
		t.Errorf("age %v", age)
	}
}

func TestPagesHoldEachGapOnceWhateverTheirSize(t *testing.T) {
	var all []recovery.Gap
	for i := range 200 {
		all = append(all, gap(1+i%9, i/7%5, "m"+string(rune('a'+i%26)), i))
	}
	for _, most := range []int{1, 7, 199, 200, 500} {
		var got []recovery.Gap
		var after *recovery.Place
		for more := true; more; {
			list := recovery.NewList(after, most)
			for _, i := range rand.Perm(len(all)) {
				list.Add(&all[i])
			}
			var page []recovery.Gap
			page, more = list.Page()
			if len(page) == 0 || len(page) > most {
				t.Fatalf("a page of %d has %d", most, len(page))
			}
			got = append(got, page...)
			p, err := recovery.ParsePlace(page[len(page)-1].Place().String())
			if err != nil {
				t.Fatal(err)
			}
			after = &p
			if gaps, _ := list.Counts(); gaps != 200 {
				t.Fatalf("counted %d", gaps)
			}
		}
		if len(got) != len(all) || !slices.IsSortedFunc(got, func(a, b recovery.Gap) int { return a.Place().Compare(b.Place()) }) {
			t.Errorf("pages of %d: %d gaps, or not in order", most, len(got))
		}
	}
}

func TestAPlaceThatIsNoneSaysWhatToWrite(t *testing.T) {
	for _, text := range []string{"", "5", "5,2026-03-01T00:15:00Z,1,", "x,2026-03-01T00:15:00Z,1,m", "5,monday,1,m", "5,2026-03-01T00:15:00Z,x,m"} {
		if p, err := recovery.ParsePlace(text); err == nil || !strings.Contains(err.Error(), "write the place") || p != (recovery.Place{}) {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
	p, err := recovery.ParsePlace("5,2026-03-01T00:15:00Z,1,with,comma")
	if err != nil || p.Key.Meter != "with,comma" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestPrioritiesAreOneToNine(t *testing.T) {
	for n, ok := range map[int]bool{0: false, 1: true, 9: true, 10: false, -1: false} {
		if err := recovery.CheckPriority(n); (err == nil) != ok {
			t.Errorf("%d: %v", n, err)
		}
	}
}
