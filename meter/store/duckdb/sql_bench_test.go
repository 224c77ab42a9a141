package duckdb_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/duckdb"
	"voltbus/store/duckdb/statement"
)

// BenchmarkStatement asks 100,000 meters with a validated and an open day of quarter hours, 19 million readings. "first" includes the
// copies of the day.
func BenchmarkStatement(b *testing.B) {
	const meters = 100_000
	clock := time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)
	s := open(b, b.TempDir(), time.UTC, func() time.Time { return clock }, 0)
	defer s.Close()
	kind, err := meter.ParseReadingType("0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0")
	if err != nil {
		b.Fatal(err)
	}
	var list []store.Registration
	keys := make([]store.ChannelKey, meters)
	for i := range meters {
		keys[i] = store.ChannelKey{Meter: fmt.Sprintf("m%06d", i), Channel: 1}
		list = append(list, store.Registration{Meter: meter.Meter{ID: keys[i].Meter, Commodity: meter.Electricity, Channels: []meter.Channel{
			{Number: 1, ReadingType: kind, Interval: 15 * time.Minute, Multiplier: 1},
		}}})
	}
	if _, err := s.Register(b.Context(), list); err != nil {
		b.Fatal(err)
	}
	for day := 3; day <= 4; day++ {
		for quarter := range 96 {
			batch := &store.Batch{Keys: keys, Senders: []string{"c1"}}
			end := time.Date(2026, 3, day, 0, 15*(quarter+1), 0, 0, time.UTC).UnixMicro()
			for i := range keys {
				batch.Key, batch.Sender = append(batch.Key, uint32(i)), append(batch.Sender, 0)
				batch.End, batch.Value = append(batch.End, end), append(batch.Value, float64(i%1000)/1000)
			}
			if _, err := s.Append(b.Context(), batch); err != nil {
				b.Fatal(err)
			}
		}
	}
	if _, err := s.Judge(b.Context(), store.DayOf(2026, 3, 3), func(*store.ChannelDay) error { return nil }); err != nil {
		b.Fatal(err)
	}
	for _, what := range []struct{ name, where string }{
		{"validated day of a meter", "day = '2026-03-03' AND meter = 'm012345'"},
		{"sum of a validated day", "day = '2026-03-03'"},
		{"open day of a meter", "day = '2026-03-04' AND meter = 'm012345'"},
		{"sum of an open day", "day = '2026-03-04'"},
	} {
		source := duckdb.StatementsOf(s.(*duckdb.Store)) //nolint:forcetypeassert // open makes it
		temp := b.TempDir()
		once := func(b *testing.B) {
			b.Helper()
			task := &statement.Task{
				Statement: "SELECT count(*), sum(value) FROM readings WHERE " + what.where, Source: source, Others: source.Tables(),
				Read: []string{source.Folder() + "/", temp + "/"}, Temp: temp, Spill: 1 << 30, Memory: 256 << 20, Threads: 2, Time: time.Minute,
			}
			if err := statement.Run(b.Context(), []string{os.Args[0]}, task, func([]string) error { return nil }, func([]any) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(what.name, func(b *testing.B) {
			began := time.Now()
			once(b)
			first := time.Since(began)
			for b.Loop() {
				once(b)
			}
			b.ReportMetric(float64(first.Milliseconds()), "first-ms")
		})
	}
}
