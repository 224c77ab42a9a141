package duckdb_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb"
)

// Readers run while days are appended, closed, merged and dropped; each must see, at any time,
// the samples of a number of whole blocks, each once and in order.
func TestReadersSeeWholeBlocksWhileDaysAreClosed(t *testing.T) {
	s := open(t, duckdb.Options{Dir: t.TempDir(), Grace: time.Minute})
	defer closeStore(t, s)
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	problems := make(chan error, 3)
	for i := range 3 {
		readers.Go(func() {
			for ctx.Err() == nil {
				if err := checkBlocks(t.Context(), s, i == 0); err != nil {
					problems <- err
					return
				}
			}
		})
	}
	for n := range 40 {
		start := noon().Add(time.Duration(n) * 10 * time.Hour)
		appendBlocks(t, s, block(uint64(n+1), start, blockSize))
		if n%3 == 2 {
			for i := range 3 {
				maintain(t, s, start.Add(time.Duration(i)*time.Hour))
			}
		}
	}
	stop()
	readers.Wait()
	close(problems)
	for err := range problems {
		t.Error(err)
	}
	if got := len(stored(t, s)); got != 40*blockSize {
		t.Errorf("%d samples are stored, want %d", got, 40*blockSize)
	}
}

// blockSize is the number of samples in a block of TestReadersSeeWholeBlocksWhileDaysAreClosed.
const blockSize = 10_000

func checkBlocks(ctx context.Context, s *duckdb.Store, slow bool) error {
	r := store.Range{Points: []point.Path{"p"}, From: noon(), To: noon().AddDate(1, 0, 0)}
	n := 0
	last := time.Time{}
	err := s.Read(ctx, r, func(run []point.Sample) error {
		for i := range run {
			if !run[i].Time.After(last) {
				return fmt.Errorf("%v comes after %v", run[i].Time, last)
			}
			last = run[i].Time
		}
		n += len(run)
		if slow { // a reader that asks for more while it reads
			_, err := s.Latest(ctx, r.Points)
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	if n%blockSize != 0 {
		return fmt.Errorf("%d samples are not a number of whole blocks", n)
	}
	series, err := s.Aggregate(ctx, store.Query{Range: r, Step: 24 * time.Hour})
	if err != nil {
		return err
	}
	sum := uint64(0)
	for _, b := range series[0].Buckets {
		sum += b.Count
	}
	if sum%blockSize != 0 || sum < uint64(n) {
		return fmt.Errorf("%d samples are aggregated after %d were read", sum, n)
	}
	return nil
}
