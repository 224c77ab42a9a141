package mongodb

import (
	"testing"

	"voltbus/point"
	"voltbus/sink/destination"
)

func BenchmarkInsert(b *testing.B) {
	r := destination.Row{Shape: &destination.Shape{Name: "plant/building-1/device-1/point-1", Unit: "degC"}, Time: 1, Value: point.FloatOf(21.5)}
	var body []byte
	for b.Loop() {
		body = appendInsert(body[:0], &r)
	}
	b.SetBytes(int64(len(body)))
}
