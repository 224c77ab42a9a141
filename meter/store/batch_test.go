package store_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"voltbus/meter/store"
	"voltbus/point"
)

func TestAttackANodeBelowNamesNoSenderOfThisNode(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	block := blockOf(
		point.Sample{Point: "meters/m1/1", Time: now, Value: point.FloatOf(1)},
		point.Sample{Point: store.SenderPoint, Time: now, Value: point.TextOf("person:ada")},
		point.Sample{Point: "meters/m1/1", Time: now, Value: point.FloatOf(2)},
	)
	for own, want := range map[string][]string{
		"campus#":    {"node:campus/b1#", "node:campus/b1#/person:ada"},
		"campus/b1#": {"node:campus/b1#", "person:ada"},
	} {
		var b store.Batch
		if left := b.Take(block, own, now); left != 0 || b.Len() != 2 || !slices.Equal(b.Senders, want) {
			t.Errorf("at %s: senders %q, %d readings, %d left; want %q", own, b.Senders, b.Len(), left, want)
		}
		for i, sender := range b.Senders {
			if origin := store.OriginOf(sender); origin != block.Origin && (own != block.Origin || i == 0) {
				t.Errorf("%q is of %q", sender, origin)
			}
		}
	}
}

func TestAttackANodeBelowMakesNoDaysOfAllTimes(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	var list []point.Sample
	for _, end := range []time.Time{time.Unix(0, 0), time.UnixMicro(math.MinInt64), time.UnixMicro(math.MaxInt64), now.AddDate(2, 0, 0), now.AddDate(-40, 0, 0), now.AddDate(0, 6, 0)} {
		list = append(list, point.Sample{Point: "meters/m1/1", Time: end, Value: point.FloatOf(1)})
	}
	var b store.Batch
	if left := b.Take(blockOf(list...), "campus#", now); left != 4 || b.Len() != 2 {
		t.Errorf("%d readings, %d left out, want 2 and 4", b.Len(), left)
	}
}

// blockOf returns a block of the node campus/b1.
func blockOf(list ...point.Sample) *point.Block {
	block := &point.Block{Origin: "campus/b1#"}
	for _, s := range list {
		if !slices.Contains(block.Points, s.Point) {
			block.Points = append(block.Points, s.Point)
		}
		block.Append(uint32(slices.Index(block.Points, s.Point)), &s)
	}
	return block
}
