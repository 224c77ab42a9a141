package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb"
)

const (
	interval  = 260 * time.Second // between two scans: 332 a day
	perAppend = 40                // blocks, of one scan each
	origin    = "bench"
)

// first is the beginning of the first day.
func first() time.Time { return time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC) }

// path names point i of a campus of buildings with 100 points each.
func path(i int) point.Path {
	return point.Path(fmt.Sprintf("campus/b%03d/ahu%d/point_%02d", i/100, i%100/10, i%10))
}

// fill stores what is missing: the closed days and half a day that stays open.
func (s *site) fill(ctx context.Context, st *duckdb.Store) error {
	positions, err := st.Positions(ctx)
	if err != nil {
		return err
	}
	scans := int((time.Duration(s.days)*24*time.Hour + 12*time.Hour) / interval)
	done := int(positions[origin].Sequence)
	if done >= scans {
		return nil
	}
	w := newWriter(s.points, done)
	var spent time.Duration
	for done < scans {
		blocks := w.next(min(perAppend, scans-done))
		begin := time.Now()
		if _, err := st.Append(ctx, blocks); err != nil {
			return err
		}
		spent += time.Since(begin)
		done += len(blocks)
		// The days are closed as they end, as in life, but not on the account of Append.
		if err := st.Maintain(ctx, w.now()); err != nil {
			return err
		}
	}
	rate := float64(w.samples) / spent.Seconds() / 1e6
	fmt.Fprintf(os.Stdout, "| append | %.2f M samples/s (%d samples) |\n", rate, w.samples)
	return nil
}

// writer makes plausible readings: seven of ten points wander in steps of a tenth, the others are
// counters, switches and set points.
type writer struct {
	random  *rand.Rand
	paths   []point.Path
	values  []float64
	scan    int
	samples int
	blocks  []*point.Block
}

func newWriter(points, scan int) *writer {
	w := &writer{random: rand.New(rand.NewPCG(1, uint64(scan))), scan: scan}
	for i := range points {
		w.paths = append(w.paths, path(i))
		w.values = append(w.values, 15+float64(i%100)/10)
	}
	for range perAppend {
		w.blocks = append(w.blocks, &point.Block{})
	}
	return w
}

func (w *writer) now() time.Time { return first().Add(time.Duration(w.scan) * interval) }

// next makes n blocks. They are overwritten by the following call.
func (w *writer) next(n int) []*point.Block {
	for _, b := range w.blocks[:n] {
		b.Reset()
		b.Origin, b.Sequence, b.Before, b.Created = origin, uint64(w.scan+1), uint64(w.scan*len(w.paths)), w.now()
		b.Points = append(b.Points, w.paths...)
		for i := range w.paths {
			b.Append(uint32(i), &point.Sample{Time: w.now(), Value: w.value(i)})
		}
		w.scan++
		w.samples += b.Len()
	}
	return w.blocks[:n]
}

func (w *writer) value(i int) point.Value {
	switch i % 10 {
	case 7:
		w.values[i] += float64(w.random.IntN(50))
		return point.IntOf(int64(w.values[i]))
	case 8:
		return point.BoolOf(w.scan/50%2 == i/10%2)
	case 9:
		return point.FloatOf(21)
	}
	w.values[i] += float64(w.random.IntN(7)-3) / 10
	return point.FloatOf(math.Round(w.values[i]*10) / 10)
}

// describe prints the size of what is stored.
func describe(ctx context.Context, st store.Store) error {
	s, err := st.Stats(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "| samples, points, closed days, open days | %d, %d, %d, %d |\n", s.Samples, s.Points, s.Closed, s.Open)
	fmt.Fprintf(os.Stdout, "| bytes of everything for each sample | %.2f |\n", float64(s.Bytes)/float64(s.Samples))
	return nil
}

// describeFiles prints the size of the closed days.
func (s *site) describeFiles() error {
	files, err := filepath.Glob(filepath.Join(s.dir, "days", "*.parquet"))
	if err != nil {
		return err
	}
	var bytes int64
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return err
		}
		bytes += info.Size()
	}
	scans := int(time.Duration(s.days) * 24 * time.Hour / interval)
	fmt.Fprintf(os.Stdout, "| bytes of a closed day for each sample | %.2f |\n", float64(bytes)/float64(scans*s.points))
	return nil
}
