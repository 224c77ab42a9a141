package duckdb_test

import (
	"fmt"
	"testing"
	"time"

	"voltbus/point"
	"voltbus/store/duckdb"
)

// BenchmarkAppend stores 40 blocks of 10,000 points at once.
func BenchmarkAppend(b *testing.B) {
	for _, kind := range []point.Kind{point.Float, point.Int, point.Text} {
		b.Run(kind.String(), func(b *testing.B) { benchmarkAppend(b, kind) })
	}
}

func benchmarkAppend(b *testing.B, kind point.Kind) {
	const points, scans = 10_000, 40
	s := open(b, duckdb.Options{Dir: b.TempDir()})
	defer s.Close()
	paths := make([]point.Path, points)
	for i := range paths {
		paths[i] = point.Path(fmt.Sprintf("campus/b%d/point_%d", i/100, i%100))
	}
	blocks := make([]*point.Block, scans)
	for i := range blocks {
		blocks[i] = &point.Block{}
	}
	scan := 0
	for b.Loop() {
		b.StopTimer()
		for _, bl := range blocks {
			scan++
			fillScan(bl, paths, scan, kind)
		}
		b.StartTimer()
		if _, err := s.Append(b.Context(), blocks); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*points*scans)/b.Elapsed().Seconds()/1e6, "Msamples/s")
}

// fillScan makes a block of one sample a point.
func fillScan(b *point.Block, paths []point.Path, scan int, kind point.Kind) {
	b.Reset()
	b.Origin, b.Sequence, b.Before = "a", uint64(scan), uint64((scan-1)*len(paths))
	b.Points = append(b.Points, paths...)
	at := noon().Add(time.Duration(scan) * time.Second)
	for i := range paths {
		n := (i*7919 + scan*(i%13)) % 1000
		v := point.FloatOf(float64(n) / 10)
		switch kind {
		case point.Int:
			v = point.IntOf(int64(n))
		case point.Text:
			v = point.TextOf([]string{"on", "off", "a longer state"}[n%3])
		case point.None, point.Float, point.Bool:
		}
		b.Append(uint32(i), &point.Sample{Time: at, Value: v})
	}
}
