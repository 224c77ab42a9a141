package meter_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/meter"
)

func hour(n int) time.Time { return time.Date(2024, 3, 1, n, 0, 0, 0, time.UTC) }

func version(end, recorded int, value float64, stage meter.Stage) meter.Version {
	return meter.Version{End: hour(end), Recorded: hour(recorded), Value: value, Stage: stage, Origin: meter.Origin{Who: "mds"}}
}

func add(t testing.TB, h *meter.History, versions ...meter.Version) {
	t.Helper()
	if n, err := h.Add(versions); err != nil || n != len(versions) {
		t.Fatalf("added %d of %d: %v", n, len(versions), err)
	}
}

func known(h *meter.History, at int) []float64 {
	var values []float64
	for _, v := range h.AsKnown(nil, hour(0), hour(10), hour(at)) {
		values = append(values, v.Value)
	}
	return values
}

func TestAQuestionIsAnsweredAsKnownAtAPastMoment(t *testing.T) {
	var h meter.History
	add(t, &h, version(1, 2, 10, meter.Raw), version(3, 4, 30, meter.Raw))
	add(t, &h, version(1, 5, 10, meter.Validated), version(2, 5, 19, meter.Estimated), version(3, 5, 30, meter.Validated))
	add(t, &h, version(2, 20, 21, meter.Raw)) // late: it counts once it is validated
	add(t, &h, version(2, 22, 21, meter.Validated))
	add(t, &h, version(3, 24, 33, meter.Edited))
	add(t, &h, version(3, 26, 30.5, meter.Validated)) // validated again: the edit stands
	for at, want := range map[int][]float64{1: nil, 2: {10}, 4: {10, 30}, 5: {10, 19, 30}, 21: {10, 19, 30}, 22: {10, 21, 30}, 24: {10, 21, 33}, 30: {10, 21, 33}} {
		if diff := cmp.Diff(want, known(&h, at)); diff != "" {
			t.Errorf("as known at %d (-want +got):\n%s", at, diff)
		}
	}
	if got := len(h.Versions(nil, hour(2), hour(3))); got != 4 {
		t.Errorf("versions of the interval that ends at 3: %d, want 4", got)
	}
}

func TestADeliveryThatComesTwiceChangesNothing(t *testing.T) {
	var h meter.History
	add(t, &h, version(1, 2, 10, meter.Raw), version(2, 2, 20, meter.Raw))
	if n, err := h.Add([]meter.Version{version(1, 9, 10, meter.Raw), version(2, 9, 20, meter.Raw)}); n != 0 || err != nil {
		t.Errorf("%d versions added, %v", n, err)
	}
	if n, err := h.Add([]meter.Version{version(3, 9, 1, meter.Raw), version(3, 9, 1, meter.Raw)}); n != 1 || err != nil {
		t.Errorf("%d versions added of a reading twice in one delivery, %v", n, err)
	}
}

func TestAnEstimateThatReturnsAfterAValidatedReadingCounts(t *testing.T) {
	var h meter.History
	add(t, &h, version(1, 2, 5, meter.Estimated))
	add(t, &h, version(1, 3, 6, meter.Validated))
	add(t, &h, version(1, 4, 5, meter.Estimated)) // the reading failed when it was validated again
	if diff := cmp.Diff([]float64{5}, known(&h, 5)); diff != "" {
		t.Error("as known at 5 (-want +got):\n" + diff)
	}
}

func TestAttackVersionsThatRewriteThePastAreRefused(t *testing.T) {
	var h meter.History
	add(t, &h, version(1, 5, 10, meter.Raw))
	for name, bad := range map[string][]meter.Version{
		"recorded before the newest version": {version(2, 6, 1, meter.Raw), version(1, 4, 11, meter.Edited)},
		"recorded backwards in one delivery": {version(2, 7, 1, meter.Raw), version(2, 6, 2, meter.Raw)},
		"not a number":                       {version(2, 6, math.NaN(), meter.Raw)},
		"infinite":                           {version(2, 6, math.Inf(1), meter.Raw)},
		"of an unknown stage":                {version(2, 6, 1, 9)},
	} {
		if n, err := h.Add(bad); err == nil || n != 0 || h.Len() != 1 {
			t.Errorf("%s: %d added, %v, %d there", name, n, err, h.Len())
		}
	}
}

func TestPropertyWhatWasKnownStaysKnown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h meter.History
		type answer struct {
			at       int
			versions []meter.Version
		}
		var answers []answer
		for now := 1; now < 12; now++ {
			var batch []meter.Version
			for range rapid.IntRange(0, 6).Draw(t, "count") {
				batch = append(batch, version(rapid.IntRange(1, 9).Draw(t, "end"), now, float64(rapid.IntRange(0, 3).Draw(t, "value")), meter.Stage(rapid.IntRange(0, 3).Draw(t, "stage"))))
			}
			if _, err := h.Add(batch); err != nil {
				t.Fatal(err)
			}
			answers = append(answers, answer{now, h.AsKnown(nil, hour(0), hour(10), hour(now))})
		}
		for _, a := range answers {
			if diff := cmp.Diff(a.versions, h.AsKnown(nil, hour(0), hour(10), hour(a.at))); diff != "" {
				t.Fatalf("as known at %d changed (-then +now):\n%s", a.at, diff)
			}
		}
	})
}

func BenchmarkAMonthAsKnown(b *testing.B) {
	var h meter.History
	start := hour(0)
	var raw, validated []meter.Version
	for i := range 31 * 96 {
		end := start.Add(time.Duration(i+1) * 15 * time.Minute)
		raw = append(raw, meter.Version{End: end, Recorded: end, Value: float64(i)})
		validated = append(validated, meter.Version{End: end, Recorded: end.Add(time.Hour), Value: float64(i), Stage: meter.Validated})
	}
	add(b, &h, raw...)
	add(b, &h, validated...)
	var dst []meter.Version
	at := start.AddDate(1, 0, 0)
	b.ReportAllocs()
	for b.Loop() {
		dst = h.AsKnown(dst[:0], start, at, at)
	}
	b.ReportMetric(float64(b.N)*float64(len(dst))/b.Elapsed().Seconds(), "intervals/s")
}
