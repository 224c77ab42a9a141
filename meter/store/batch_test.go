package store_test

import (
	"slices"
	"testing"
	"time"

	"voltbus/meter/store"
	"voltbus/point"
)

func TestAttackANodeBelowNamesNoSenderOfThisNode(t *testing.T) {
	block := &point.Block{Origin: "campus/b1#"}
	for _, s := range []point.Sample{
		{Point: "meters/m1/1", Time: time.UnixMilli(1), Value: point.FloatOf(1)},
		{Point: store.SenderPoint, Time: time.UnixMilli(1), Value: point.TextOf("person:ada")},
		{Point: "meters/m1/1", Time: time.UnixMilli(2), Value: point.FloatOf(2)},
	} {
		if !slices.Contains(block.Points, s.Point) {
			block.Points = append(block.Points, s.Point)
		}
		block.Append(uint32(slices.Index(block.Points, s.Point)), &s)
	}
	for own, want := range map[string][]string{
		"campus#":    {"node:campus/b1#", "node:campus/b1#/person:ada"},
		"campus/b1#": {"node:campus/b1#", "person:ada"},
	} {
		var b store.Batch
		if left := b.Take(block, own); left != 0 || b.Len() != 2 || !slices.Equal(b.Senders, want) {
			t.Errorf("at %s: senders %q, %d readings, %d left; want %q", own, b.Senders, b.Len(), left, want)
		}
	}
}
