package recorder_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/point"
	"voltbus/recorder"
	"voltbus/wire"
)

// A block that was on its way to a majority of the replicas when the recorder ended arrives after it has started again, under the number that
// the recorder gives to its first new one. Both are in the log, and what is acknowledged is there.
func TestABlockOfTheRunBeforeThatComesLateTakesNoPlaceOfANewOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, refusing := range []bool{false, true} {
			log := &memoryLog{latency: time.Millisecond}
			r, stop := start(t, recorder.Config{InFlight: 4, MaxAge: time.Millisecond, Retry: time.Second}, log)
			synctest.Wait() // it has asked what is in the log
			late := point.Block{Origin: "node", Sequence: 1, Points: []point.Path{"late"}, Created: time.Now()}
			for i := range 3 {
				s := sampleOf("late", float64(i))
				late.Append(0, &s)
			}
			data, err := new(wire.Encoder).AppendBlock(nil, &late)
			if err != nil {
				t.Fatal(err)
			}
			log.mu.Lock()
			log.entries = append(log.entries, data)
			log.mu.Unlock()
			if refusing { // the log refuses the first ones twice
				n := 0
				log.script = func() outcome {
					if n++; n < 6 {
						return failedLater
					}
					return stored
				}
			}
			var writers sync.WaitGroup
			for i := range 5 {
				time.Sleep(2 * time.Millisecond) //nolint:forbidigo // virtual time: a block for each
				writers.Go(func() {
					for r.Record(t.Context(), []point.Sample{sampleOf(fmt.Sprint("new/", i), 1)}) != nil { // recording is paused
						time.Sleep(time.Second) //nolint:forbidigo // virtual time
					}
				})
			}
			writers.Wait()
			stop()
			samples := 0
			for _, b := range log.blocks(t) { // numbered without a gap
				samples += b.Len()
			}
			if s := r.Stats(); samples != 8 || s.Acknowledged != 8 || s.Produced != 8 || s.Pending != 0 {
				t.Errorf("the log has %d samples, and the recorder counts %+v", samples, s)
			}
		}
	})
}
