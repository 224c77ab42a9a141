package meter

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"time"
)

// Stage is how far a version of a reading came. The numbers may be stored: never change them.
type Stage uint8

// The stages.
const (
	Raw       Stage = iota // as the meter gave it
	Validated              // passed validation
	Estimated              // calculated by a rule in place of a missing or failed reading
	Edited                 // set by a person
)

var stageNames = [...]string{"raw", "validated", "estimated", "edited"}

// String returns the name.
func (s Stage) String() string {
	if int(s) < len(stageNames) {
		return stageNames[s]
	}
	return fmt.Sprintf("stage(%d)", uint8(s))
}

// rank orders stages: what a person set stands above rules, and what rules found above what came in.
func (s Stage) rank() uint8 {
	switch s {
	case Raw:
		return 0
	case Validated, Estimated:
		return 1
	default:
		return 2
	}
}

// Origin says where versions come from; many share one.
type Origin struct {
	Reason string // why, in words of a person or rule
	Who    string // the caller: a person, a concentrator
	Rule   string // of validation or estimation, with its version; "" for a person
}

// Version is one version of one reading.
type Version struct {
	End      time.Time // of the interval
	Recorded time.Time // when the system took it in: since then it is known
	Value    float64
	Stage    Stage
	Status   uint32 // of validation, as package vee defines; 0: nothing found
	Origin   Origin
}

// History keeps all versions of one channel in columns: 33 bytes each. The effective version of an interval is
// the latest of the highest rank: edited before validated and estimated, and those before raw. The zero History
// is empty and ready for use. It may be read concurrently, not while it changes.
type History struct {
	end      []int64 // Unix microseconds, ascending; versions of one end in the order in which they were recorded
	recorded []int64
	value    []float64
	status   []uint32
	origin   []uint32
	stage    []Stage
	origins  []Origin
	number   map[Origin]uint32
}

// Len returns how many versions there are.
func (h *History) Len() int { return len(h.end) }

// Add adds versions, in any order of their ends. It refuses all of them if one is not a finite number, has an
// unknown stage, or was recorded before a version of the same interval that is there: what was known at a past
// moment never changes. A repeat of the newest version that the interval has of that rank is left out; the
// number of those added is returned.
func (h *History) Add(versions []Version) (int, error) {
	sorted := slices.Clone(versions)
	slices.SortStableFunc(sorted, func(a, b Version) int { return a.End.Compare(b.End) })
	for i, v := range sorted {
		if err := h.check(v); err != nil {
			return 0, err
		}
		if i > 0 && v.End.Equal(sorted[i-1].End) && v.Recorded.Before(sorted[i-1].Recorded) {
			return 0, backdated(v, sorted[i-1].Recorded)
		}
	}
	fresh := sorted[:0]
	for _, v := range sorted {
		if !h.repeats(v, fresh) {
			fresh = append(fresh, v)
		}
	}
	h.merge(fresh)
	return len(fresh), nil
}

func (h *History) check(v Version) error {
	if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
		return fmt.Errorf("reading that ends at %s: value %v: give a finite number", stamp(v.End), v.Value)
	}
	if v.Stage > Edited {
		return fmt.Errorf("reading that ends at %s: %s is unknown: give raw, validated, estimated or edited", stamp(v.End), v.Stage)
	}
	first, last := h.group(v.End.UnixMicro())
	if last > first && h.recorded[last-1] > v.Recorded.UnixMicro() {
		return backdated(v, time.UnixMicro(h.recorded[last-1]))
	}
	return nil
}

func backdated(v Version, newest time.Time) error {
	return fmt.Errorf("reading that ends at %s: recorded at %s, before its newest version of %s: record it now", stamp(v.End), stamp(v.Recorded), stamp(newest))
}

// group returns the rows of an end: from first to before last.
func (h *History) group(end int64) (first, last int) {
	first, _ = slices.BinarySearch(h.end, end)
	return first, first + sort.Search(len(h.end)-first, func(i int) bool { return h.end[first+i] > end })
}

// repeats reports whether v equals the newest version of its rank, among those that are there and fresh.
func (h *History) repeats(v Version, fresh []Version) bool {
	for _, f := range slices.Backward(fresh) {
		if !f.End.Equal(v.End) {
			break
		}
		if f.Stage.rank() == v.Stage.rank() {
			return v.repeats(f.Stage, f.Value, f.Status)
		}
	}
	first, last := h.group(v.End.UnixMicro())
	for i := last - 1; i >= first; i-- {
		if h.stage[i].rank() == v.Stage.rank() {
			return v.repeats(h.stage[i], h.value[i], h.status[i])
		}
	}
	return false
}

// repeats reports whether v says nothing that the version before it of its rank does not say. A reading that comes
// again from the meter does not undo the doubt of validation.
func (v *Version) repeats(stage Stage, value float64, status uint32) bool {
	return v.Stage == stage && v.Value == value && (v.Status == status || (v.Stage == Raw && v.Status == 0))
}

// merge moves sorted versions in among the rows, from the back.
func (h *History) merge(fresh []Version) {
	old := len(h.end)
	n := old + len(fresh)
	h.end = slices.Grow(h.end, len(fresh))[:n]
	h.recorded = slices.Grow(h.recorded, len(fresh))[:n]
	h.value = slices.Grow(h.value, len(fresh))[:n]
	h.status = slices.Grow(h.status, len(fresh))[:n]
	h.origin = slices.Grow(h.origin, len(fresh))[:n]
	h.stage = slices.Grow(h.stage, len(fresh))[:n]
	i, j := old-1, len(fresh)-1
	for to := n - 1; j >= 0; to-- {
		if i >= 0 && h.end[i] > fresh[j].End.UnixMicro() {
			h.end[to], h.recorded[to], h.value[to] = h.end[i], h.recorded[i], h.value[i]
			h.status[to], h.origin[to], h.stage[to] = h.status[i], h.origin[i], h.stage[i]
			i--
			continue
		}
		v := fresh[j]
		h.end[to], h.recorded[to], h.value[to] = v.End.UnixMicro(), v.Recorded.UnixMicro(), v.Value
		h.status[to], h.origin[to], h.stage[to] = v.Status, h.originNumber(v.Origin), v.Stage
		j--
	}
}

func (h *History) originNumber(o Origin) uint32 {
	if n, ok := h.number[o]; ok {
		return n
	}
	if h.number == nil {
		h.number = make(map[Origin]uint32)
	}
	n := uint32(len(h.origins))
	h.origins = append(h.origins, o)
	h.number[o] = n
	return n
}

// AsKnown appends to dst the effective version of each interval that ends after from and not after to, as it was
// known at a moment: only versions recorded until then count. Intervals without one are left out.
func (h *History) AsKnown(dst []Version, from, to, at time.Time) []Version {
	known := at.UnixMicro()
	low, high := h.rows(from, to)
	for i := low; i < high; {
		best, end := -1, h.end[i]
		for ; i < high && h.end[i] == end; i++ {
			if h.recorded[i] <= known && (best < 0 || h.stage[i].rank() >= h.stage[best].rank()) {
				best = i
			}
		}
		if best >= 0 {
			dst = append(dst, h.version(best))
		}
	}
	return dst
}

// Versions appends to dst all versions of the intervals that end after from and not after to: by end, then in the
// order in which they were recorded.
func (h *History) Versions(dst []Version, from, to time.Time) []Version {
	low, high := h.rows(from, to)
	for i := low; i < high; i++ {
		dst = append(dst, h.version(i))
	}
	return dst
}

// rows returns the rows whose ends lie after from and not after to.
func (h *History) rows(from, to time.Time) (low, high int) {
	f, t := from.UnixMicro(), to.UnixMicro()
	low = sort.Search(len(h.end), func(i int) bool { return h.end[i] > f })
	high = sort.Search(len(h.end), func(i int) bool { return h.end[i] > t })
	return low, max(low, high)
}

func (h *History) version(i int) Version {
	return Version{
		End: time.UnixMicro(h.end[i]).UTC(), Recorded: time.UnixMicro(h.recorded[i]).UTC(), Value: h.value[i],
		Stage: h.stage[i], Status: h.status[i], Origin: h.origins[h.origin[i]],
	}
}
