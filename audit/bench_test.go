package audit_test

import (
	"context"
	"testing"

	"voltbus/audit"
)

func BenchmarkAppend(b *testing.B) {
	for _, bb := range []struct {
		name           string
		writers, batch int
	}{{"alone", 1, 1}, {"64 writers", 64, 1}, {"1000 writers", 1000, 1}, {"batches of 4000", 1, 4000}} {
		b.Run(bb.name, func(b *testing.B) {
			l := open(b, b.TempDir())
			batch := make([]audit.Entry, bb.batch)
			for i := range batch {
				batch[i] = entry(i)
			}
			b.SetParallelism((bb.writers + 1) / 2) // of two processors
			b.ReportAllocs()
			if bb.writers == 1 {
				for b.Loop() {
					must(b, l.Append(context.Background(), batch...))
				}
			} else {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := l.Append(context.Background(), batch...); err != nil {
							b.Error(err)
						}
					}
				})
			}
			b.ReportMetric(float64(b.N*bb.batch)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}

func BenchmarkVerify100000(b *testing.B) {
	const n, batch = 100_000, 1000
	l := open(b, b.TempDir())
	for i := 0; i < n; i += batch {
		entries := make([]audit.Entry, batch)
		for j := range entries {
			entries[j] = entry(i + j)
		}
		must(b, l.Append(context.Background(), entries...))
	}
	b.ReportAllocs()
	for b.Loop() {
		if r, err := l.Verify(context.Background(), nil); err != nil || !r.Whole() || r.Entries != n {
			b.Fatal(r, err)
		}
	}
	b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "entries/s")
}
