package recorder_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/point"
	"voltbus/recorder"
)

func TestABlockIsClosedOnceNoMoreCome(t *testing.T) {
	const age = 40 * time.Millisecond
	for name, c := range map[string]struct {
		offered bool
		each    time.Duration // between 20 samples
		blocks  int
		took    time.Duration
	}{
		"of one who waits alone after a quarter of the age": {each: time.Second, blocks: 20, took: 19*time.Second + age/4},
		"of many who wait and come quickly after the age":   {each: 9 * time.Millisecond, blocks: 4, took: 15*9*time.Millisecond + age},
		"of devices, which do not wait, after the age":      {offered: true, each: 15 * time.Millisecond, blocks: 7, took: 19*15*time.Millisecond + age},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &memoryLog{}
				r, stop := start(t, recorder.Config{MaxAge: age}, log)
				begun := time.Now()
				var group sync.WaitGroup
				for i := range 20 {
					samples := []point.Sample{sampleOf(fmt.Sprint("p", i), 1)}
					group.Go(func() {
						time.Sleep(time.Duration(i) * c.each) //nolint:forbidigo // virtual time: spreads the writers
						if c.offered {
							r.Offer(samples)
							return
						}
						if err := r.Record(t.Context(), samples); err != nil {
							t.Error(err)
						}
					})
				}
				group.Wait()
				took := time.Since(begun)
				stop()
				if blocks := log.blocks(t); len(blocks) != c.blocks {
					t.Errorf("%d blocks, want %d", len(blocks), c.blocks)
				}
				if !c.offered && took != c.took {
					t.Errorf("the last answer came after %v, want %v", took, c.took)
				}
			})
		})
	}
}
