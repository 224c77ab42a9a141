package pointlist

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/protocol/dnp3/object"
)

func TestReadsAreGrouped(t *testing.T) {
	at := func(kind object.Kind, index uint32) Item { return NewItem(kind, index) }
	var items []Item
	for i := range uint32(50) {
		items = append(items, at(object.KindAnalogInput, 99-2*i)) // no neighbours
	}
	for i := range uint32(1000) {
		items = append(items, at(object.KindBinaryInput, i))
	}
	wanted := make([]int, len(items))
	for i := range wanted {
		wanted[i] = i
	}
	asks := Plan(items, wanted)
	var ranges []int
	total := 0
	for _, a := range asks {
		ranges = append(ranges, len(spans(items, a.Members)))
		total += len(a.Members)
	}
	if diff := cmp.Diff([]int{20, 20, 11}, ranges); diff != "" || total != len(items) {
		t.Errorf("%d points in requests of so many ranges (-want +got):\n%s", total, diff)
	}
	if got := Plan(items, nil); len(got) != 0 {
		t.Errorf("no points make %d requests", len(got))
	}
}
