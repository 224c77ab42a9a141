package marks_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/duckdb"
)

// TestWhatIsMissingOfManyMetersIsCounted has meters of two lengths of intervals beside each other, more than a word has bits, some of
// which lack nothing, little, most, or everything.
func TestWhatIsMissingOfManyMetersIsCounted(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 30, 12, 0, 0, 0, zone)
	s, err := duckdb.Open(t.Context(), duckdb.Options{Dir: t.TempDir(), Zone: zone, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	quarters, err := meter.ParseReadingType("0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0")
	if err != nil {
		t.Fatal(err)
	}
	hours, err := meter.ParseReadingType("0.0.7.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	const meters = 300
	start := time.Date(2026, 3, 29, 0, 0, 0, 0, zone) // a day of 23 hours
	want := map[string]int{}
	var list []store.Registration
	b := &store.Batch{Senders: []string{"c"}}
	expected, received := uint64(0), uint64(0)
	for i := range meters {
		id, profile, length, count := fmt.Sprint("m", i), quarters, 15*time.Minute, 92
		if i%3 == 0 {
			profile, length, count = hours, time.Hour, 23
		}
		list = append(list, store.Registration{Meter: meter.Meter{ID: id, Commodity: meter.Electricity, Channels: []meter.Channel{{Number: 1, ReadingType: profile, Interval: length, Multiplier: 1}}}})
		b.Keys = append(b.Keys, store.ChannelKey{Meter: id, Channel: 1})
		share := []float64{0, 0.01, 0.9, 1}[i%4]
		for k := range count {
			expected++
			if random.Float64() < share {
				want[id]++
				continue
			}
			received++
			b.Add(start.Add(time.Duration(k+1)*length).UnixMicro(), 1)
		}
	}
	if r, err := s.Register(t.Context(), list); err != nil || r.Added != meters {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		got, err := s.Missing(t.Context(), store.MissingQuery{Day: store.DayOf(2026, 3, 29), Limit: 2 * meters})
		if err != nil {
			t.Fatal(err)
		}
		if got.Expected != expected || got.Received != received || int(got.Channels) != len(want) || len(got.List) != len(want) {
			t.Errorf("%d expected, %d received, %d channels: want %d, %d, %d", got.Expected, got.Received, got.Channels, expected, received, len(want))
		}
		for _, m := range got.List {
			if m.Count != want[m.Meter] || len(m.Ends) != m.Count {
				t.Errorf("%s: %d missing, %d listed: want %d", m.Meter, m.Count, len(m.Ends), want[m.Meter])
			}
		}
	}
	check()
	if _, err := s.Judge(t.Context(), store.DayOf(2026, 3, 29), func(*store.ChannelDay) error { return nil }); err != nil {
		t.Fatal(err)
	}
	check()
}
