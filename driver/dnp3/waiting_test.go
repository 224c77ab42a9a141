package dnp3

import (
	"testing"
	"time"

	"voltbus/point"
	"voltbus/protocol/dnp3/object"
)

// The device hands its events over within a millisecond of the opening, and forgets them.
func TestEventsThatWaitWhenALineOpensAreNotMissed(t *testing.T) {
	d := newDevice(t)
	c := config(t, d.listen(t, nil, 10), values)
	for i := range 200 {
		at := time.Date(2026, 3, 4, 5, 0, i, 0, time.UTC)
		d.event(2, object.Float(float64(i)), object.TimestampOf(at))
		l, err := Kind().Dial(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		await(t, openOn(t, l, c), "the event that waited", func(s point.Sample) bool { return s.Value == point.FloatOf(float64(i)) && s.Time.Equal(at) })
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
