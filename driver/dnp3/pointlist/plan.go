package pointlist

import (
	"cmp"
	"slices"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
)

// maxRanges bounds the object headers of one request to a number that every device can process.
const maxRanges = 20

// Ask is one read request: for items, by index.
type Ask struct{ Members []int }

// span is a range of indexes of one variation.
type span struct {
	variation   object.Variation
	start, stop uint32
}

// Plan groups items into requests: neighbours share a range, and several ranges share a request.
func Plan(items []Item, wanted []int) []Ask {
	sorted := slices.Clone(wanted)
	slices.SortFunc(sorted, func(a, b int) int {
		return cmp.Or(cmp.Compare(items[a].Variation(), items[b].Variation()), cmp.Compare(items[a].Index, items[b].Index))
	})
	var asks []Ask
	ranges, last := maxRanges, -1
	for _, i := range slices.Compact(sorted) {
		if last < 0 || !items[last].before(&items[i]) {
			ranges++
		}
		if ranges > maxRanges {
			asks, ranges = append(asks, Ask{}), 1
		}
		end := &asks[len(asks)-1]
		end.Members = append(end.Members, i)
		last = i
	}
	return asks
}

// spans returns the ranges of sorted items.
func spans(items []Item, members []int) []span {
	var all []span
	for _, i := range members {
		v, index := items[i].Variation(), items[i].Index
		if n := len(all); n > 0 && all[n-1].variation == v && all[n-1].stop+1 == index { // see item.before
			all[n-1].stop = index
			continue
		}
		all = append(all, span{v, index, index})
	}
	return all
}

// Request returns the request.
func (a Ask) Request(items []Item) *master.Request {
	all := spans(items, a.Members)
	return master.Read(func(w *app.Writer) error {
		for _, s := range all {
			if err := w.Range(s.variation, s.start, s.stop); err != nil {
				return err
			}
		}
		return nil
	})
}

// Without leaves members out.
func (a Ask) Without(out func(i int) bool) Ask {
	return Ask{slices.DeleteFunc(slices.Clone(a.Members), out)}
}

// Halves splits a refused request, to find the points that do not exist.
func (a Ask) Halves(items []Item) []Ask {
	middle := len(a.Members) / 2
	return append(Plan(items, a.Members[:middle]), Plan(items, a.Members[middle:])...)
}
