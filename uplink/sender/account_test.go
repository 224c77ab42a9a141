package sender_test

import (
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/wire"
)

// account reads the parent's log: each origin in order, nothing twice, gaps only with a reason. It
// returns the samples that are missing and that were left out, by origin.
func (s *site) account() (missing, left map[string]uint64, points map[point.Path]int) {
	s.t.Helper()
	missing, left, points = map[string]uint64{}, map[string]uint64{}, map[point.Path]int{}
	last := map[string]uplink.Position{}
	next := map[string]int64{}
	for i, data := range s.parent.entries {
		var b point.Block
		if err := new(wire.Decoder).DecodeBlock(data, &b); err != nil {
			s.t.Fatal(err)
		}
		was := last[b.Origin]
		switch first := b.FirstSequence(); {
		case first <= was.Sequence:
			s.t.Fatalf("entry %d: %s %d–%d stands twice, %d was there", i, b.Origin, first, b.Sequence, was.Sequence)
		case first > was.Sequence+1 && b.Lost == "":
			s.t.Fatalf("entry %d: %s jumps from %d to %d without a reason", i, b.Origin, was.Sequence, first)
		case b.Before < was.Samples || (first == was.Sequence+1 && b.Before != was.Samples):
			s.t.Fatalf("entry %d: %s %d begins at sample %d, after %d", i, b.Origin, first, b.Before, was.Samples)
		}
		missing[b.Origin] += b.Before - was.Samples
		left[b.Origin] += b.Left
		for j := range b.Len() {
			v := b.Sample(j)
			got, _ := v.Value.Int()
			if got < next[b.Origin] {
				s.t.Fatalf("entry %d: %s has %d after %d", i, b.Origin, got, next[b.Origin])
			}
			next[b.Origin] = got + 1
			points[v.Point]++
		}
		last[b.Origin] = uplink.Position{Sequence: b.Sequence, Samples: b.End()}
	}
	for origin, head := range s.heads {
		if last[origin] != head {
			s.t.Fatalf("%s ends at %+v, want %+v", origin, last[origin], head)
		}
	}
	return missing, left, points
}

func (s *site) total(points map[point.Path]int) (n int) {
	for _, c := range points {
		n += c
	}
	return n
}
