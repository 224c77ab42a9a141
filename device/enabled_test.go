package device_test

import (
	"slices"
	"testing"

	"voltbus/point"
)

func TestADeviceThatIsEnabledLaterHasThePresentValueAndWhatHappensThen(t *testing.T) {
	r, book := newRelay(t, 1000), newLogbook()
	r.serve(t)
	a, b := r.half(t, "a", 0), r.half(t, "b", 1)
	off := b
	off.Disabled = true
	f, _ := fleet(t, book, a, off)
	r.happen(1, 0, 42) // nobody's
	r.happen(0, 0, 10)
	book.expect(t, "a/p0", 0, 10)
	r.await(t, 52)
	apply(t, f, a, b)
	book.await(t, "the present value", func() bool {
		return book.has("b/p1", func(s point.Sample) bool { return s.Quality.IsGood() && s.Value == point.FloatOf(41) })
	})
	if got := book.events("b/p1"); len(got) > 0 {
		t.Errorf("events from before it was enabled are recorded: %v", got)
	}
	for i := range 5 { // off and on again, while the other goes on
		r.happen(0, 10+10*i, 20+10*i)
		apply(t, f, a, off)
		apply(t, f, a, b)
	}
	book.expect(t, "a/p0", 0, 60)
	r.happen(1, 100, 150)
	book.await(t, "the last event", func() bool { return slices.Contains(book.events("b/p1"), 149) })
	if got := book.events("b/p1"); len(got) != 50 {
		t.Errorf("%d events were recorded after it was enabled, want 50: %v", len(got), got)
	}
}
