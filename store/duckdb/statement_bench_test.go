package duckdb_test

import (
	"fmt"
	"testing"
	"time"

	"voltbus/point"
	"voltbus/store/duckdb"
)

// BenchmarkStatement counts the samples of an open day, each time after some more were stored.
func BenchmarkStatement(b *testing.B) {
	for _, n := range []int{1000, 10_000_000} {
		b.Run(fmt.Sprintf("samples=%d", n), func(b *testing.B) {
			s := open(b, duckdb.Options{Dir: b.TempDir()})
			b.Cleanup(func() { _ = s.Close() })
			const at = 100_000
			sequence := uint64(0)
			add := func(n int) {
				sequence++
				p := point.Path(fmt.Sprintf("p%d", sequence%1000))
				block := &point.Block{Origin: "a", Sequence: sequence, Points: []point.Path{p}}
				for i := range n {
					at := noon().Add(time.Duration(sequence)*time.Second + time.Duration(i)*time.Microsecond)
					block.Append(0, &point.Sample{Time: at, Value: point.FloatOf(float64(i))})
				}
				appendBlocks(b, s, block)
			}
			for left := n; left > 0; left -= at {
				add(min(left, at))
			}
			began := time.Now()
			if _, err := ask(b.Context(), s, "SELECT count(*) FROM samples"); err != nil {
				b.Fatal(err)
			}
			first := time.Since(began)
			for b.Loop() {
				add(100)
				if _, err := ask(b.Context(), s, "SELECT count(*) FROM samples"); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(first.Milliseconds()), "ms/first")
		})
	}
}
