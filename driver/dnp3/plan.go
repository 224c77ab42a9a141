package dnp3

import (
	"cmp"
	"slices"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
)

// maxRanges bounds the object headers of one request, which every device can take.
const maxRanges = 20

// ask is one read request: for items by their number.
type ask struct{ members []int }

// span is a range of indexes of one variation.
type span struct {
	variation   object.Variation
	start, stop uint32
}

// plan groups items into requests: neighbours share a range, some ranges share a request.
func plan(items []item, wanted []int) []ask {
	sorted := slices.Clone(wanted)
	slices.SortFunc(sorted, func(a, b int) int {
		return cmp.Or(cmp.Compare(items[a].static(), items[b].static()), cmp.Compare(items[a].index, items[b].index))
	})
	var asks []ask
	ranges, last := maxRanges, -1
	for _, i := range slices.Compact(sorted) {
		if last < 0 || !items[last].before(&items[i]) {
			ranges++
		}
		if ranges > maxRanges {
			asks, ranges = append(asks, ask{}), 1
		}
		end := &asks[len(asks)-1]
		end.members = append(end.members, i)
		last = i
	}
	return asks
}

// spans returns the ranges of items that are in order.
func spans(items []item, members []int) []span {
	var all []span
	for _, i := range members {
		v, index := items[i].static(), items[i].index
		if n := len(all); n > 0 && all[n-1].variation == v && all[n-1].stop+1 == index { // see item.before
			all[n-1].stop = index
			continue
		}
		all = append(all, span{v, index, index})
	}
	return all
}

// request makes the request.
func (a ask) request(items []item) *master.Request {
	all := spans(items, a.members)
	return master.Read(func(w *app.Writer) error {
		for _, s := range all {
			if err := w.Range(s.variation, s.start, s.stop); err != nil {
				return err
			}
		}
		return nil
	})
}

// without leaves members out.
func (a ask) without(out func(i int) bool) ask {
	return ask{slices.DeleteFunc(slices.Clone(a.members), out)}
}

// halves splits a request that was refused, to find the points that do not exist.
func (a ask) halves(items []item) []ask {
	middle := len(a.members) / 2
	return append(plan(items, a.members[:middle]), plan(items, a.members[middle:])...)
}
