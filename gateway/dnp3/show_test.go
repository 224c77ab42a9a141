package dnp3

import (
	"log/slog"
	"testing"
	"time"

	"voltbus/point"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
)

func TestACounterIsShownExactlyWithTheDevicesTime(t *testing.T) {
	m, problems := ParseMapping("map.yaml", []byte("points: [{point: d/energy, type: counter, index: 3, class: 1}, {point: d/quiet, type: counter, index: 4}]"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	g, err := New(m, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	g.show([]point.Sample{{Point: "d/energy", Time: time.Date(2026, 3, 4, 5, 6, 1, 0, time.UTC), Value: point.IntOf(9007199254740993)}})
	var got object.Point
	g.device.Update(func(tx *outstation.Tx) { got, _ = tx.Get(object.KindCounter, 3) })
	at, _ := got.Time.Time()
	if got.Value.Uint() != 1 || !at.Equal(time.Date(2026, 3, 4, 5, 6, 1, 0, time.UTC)) { // 2⁵³ + 1 rolls over to 1
		t.Errorf("the counter is %v at %v", got.Value, at)
	}
}
