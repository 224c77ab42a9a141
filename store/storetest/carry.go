package storetest

import (
	"testing"
	"time"

	"voltbus/point"
	"voltbus/store"
)

// carried merges the origin's next n blocks into one, as a forwarding node does, with left of their samples
// left out.
func (o *origin) carried(n, left uint64, samples ...point.Sample) *point.Block {
	first, before := o.sequence+1, o.before
	o.sequence += n - 1
	b := o.block(samples...)
	b.First, b.Before, b.Left = first, before, left
	o.before = before + uint64(len(samples)) + left
	return b
}

func testRuns(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(float("p", at(0), 1))
	run := f.origin.carried(4, 7, float("p", at(1), 2), float("p", at(2), 3))
	run.Refused = 5
	want(t, "result", store.Result{Stored: 2}, f.appendBlocks(run))
	want(t, "all were left out", store.Result{}, f.appendBlocks(f.origin.carried(1, 9)))
	want(t, "behind it", store.Result{Stored: 1}, f.append(float("p", at(3), 4)))
	want(t, "again", store.Result{Repeated: 2}, f.appendBlocks(run))
	f.reopen()
	want(t, "again after reopening", store.Result{Repeated: 2}, f.appendBlocks(run))
	want(t, "position", store.Position{Sequence: 7, Samples: 20, Stored: 4, Repeated: 4, Left: 16, Time: at(7)}, f.position("edge-1"))
	f.wantRead(everything("p"), float("p", at(0), 1), float("p", at(1), 2), float("p", at(2), 3), float("p", at(3), 4))
	f.wantNoGaps()
}

func (f *fixture) wantNoGaps() {
	f.tb.Helper()
	gaps, err := f.Gaps(f.tb.Context(), 10)
	want(f.tb, "error", nil, err)
	want(f.tb, "gaps", 0, len(gaps))
}

func testOverlap(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	samples := []point.Sample{float("p", at(0), 1), float("p", at(1), 2), float("p", at(2), 3), float("p", at(3), 4)}
	f.append(samples[0])
	f.append(samples[1])
	f.append(samples[2])
	whole := origin{name: "edge-1", sequence: 1, before: 1} // another path that merged blocks 2 to 4
	run := whole.carried(3, 0, samples[1:]...)
	want(t, "result", store.Result{Stored: 1, Repeated: 2}, f.appendBlocks(run))
	want(t, "position", store.Position{Sequence: 4, Samples: 4, Stored: 4, Repeated: 2, Time: at(4)}, f.position("edge-1"))

	f.appendBlocks(whole.carried(2, 3, float("p", at(4), 5)))
	f.reopen()
	other := origin{name: "edge-1", sequence: 4, before: 4} // of which more was left out than is known
	run = other.carried(3, 6, float("p", at(5), 6))
	want(t, "left out twice", store.Result{Repeated: 1}, f.appendBlocks(run))
	want(t, "position", store.Position{Sequence: 7, Samples: 11, Stored: 5, Repeated: 3, Left: 6, Time: at(7)}, f.position("edge-1"))
	f.wantRead(everything("p"), append(samples, float("p", at(4), 5), float("p", at(5), 6))...)
	f.wantNoGaps()
}

func testReasons(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	for i, reason := range []string{"dropped", "", "corrupt"} {
		f.origin.carried(3, uint64(i))
		b := f.origin.carried(2, 1, float("p", at(float64(i)), 1))
		b.Lost = reason
		f.appendBlocks(b)
	}
	b := f.origin.carried(2, 0, float("p", at(9), 1))
	b.Lost = "dropped" // although nothing is missing
	f.appendBlocks(b)
	f.reopen()
	gaps, err := f.Gaps(t.Context(), 10)
	want(t, "error", nil, err)
	for i := range gaps {
		gaps[i].Noticed = time.Time{}
	}
	want(t, "gaps, newest first", []store.Gap{
		{Origin: "edge-1", First: 11, Last: 13, Samples: 2, Reason: "corrupt"},
		{Origin: "edge-1", First: 6, Last: 8, Samples: 1, Reason: "unknown"},
		{Origin: "edge-1", First: 1, Last: 3, Reason: "dropped"},
	}, gaps)
	want(t, "position", store.Position{Sequence: 17, Samples: 10, Stored: 4, Missing: 3, Left: 3, Time: at(17)}, f.position("edge-1"))
}

func testOrigins(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	origins := []origin{{name: "hall~k3x9q0"}, {name: "hall~k3x9q0!"}, {name: "hall~k3x9q1"}, {name: "hall"}, {name: "größe/2~000000"}}
	expected := map[string]store.Position{}
	for round := range 3 {
		var blocks []*point.Block
		for i := range origins {
			blocks = append(blocks, origins[i].carried(uint64(i+1), uint64(round*i), float(point.Path(origins[i].name), at(float64(round)), 1)))
		}
		f.appendBlocks(blocks...)
	}
	for i := range origins {
		expected[origins[i].name] = store.Position{
			Sequence: uint64(3 * (i + 1)), Samples: uint64(3 + 3*i), Stored: 3, Left: uint64(3 * i), Time: at(float64(3 * (i + 1))),
		}
	}
	for _, when := range []string{"at once", "after reopening"} {
		got, err := f.Positions(t.Context())
		want(t, "error", nil, err)
		want(t, "positions "+when, expected, got)
		f.reopen()
	}
}
