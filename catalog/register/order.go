package register

import (
	"slices"

	"voltbus/internal/interner"
)

// order holds numbers in the order of their texts, in few runs, longest first. A run is never modified within
// its length, so readers need no lock; adding many numbers costs no more than merging as many.
type order struct{ runs [][]uint32 }

// add adds new numbers.
func (o *order) add(names *interner.Index, fresh []uint32) {
	if !slices.IsSortedFunc(fresh, names.Compare) {
		slices.SortFunc(fresh, names.Compare)
	}
	if len(fresh) == 0 {
		return
	}
	if last := len(o.runs) - 1; last >= 0 {
		if run := o.runs[last]; names.Compare(run[len(run)-1], fresh[0]) < 0 {
			o.runs[last], fresh = append(run, fresh...), nil
		}
	}
	if fresh != nil {
		o.runs = append(o.runs, fresh)
	}
	for n := len(o.runs); n > 1 && len(o.runs[n-2]) < 2*len(o.runs[n-1]); n = len(o.runs) {
		o.runs = append(o.runs[:n-2:n-2], merge(names, o.runs[n-2], o.runs[n-1]))
	}
}

// merge returns the numbers of both runs.
func merge(names *interner.Index, a, b []uint32) []uint32 {
	out := make([]uint32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if names.Compare(a[0], b[0]) < 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// from returns the part of a run whose texts are not less than one.
func from(names *interner.Index, run []uint32, text string) []uint32 {
	at, _ := slices.BinarySearchFunc(run, text, names.CompareText)
	return run[at:]
}
