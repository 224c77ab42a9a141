package recorder_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/point"
	"voltbus/recorder"
)

func TestWhoAsksHearsWhenEverythingThatWasOfferedIsOnDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var full atomic.Bool
		room := func() error {
			if full.Load() {
				return errors.New("the disk is full")
			}
			return nil
		}
		cfg := recorder.Config{Origin: "node", MaxAge: 5 * time.Millisecond, Urgent: []point.Pattern{"fire/**"}, Room: room, Retry: time.Second}
		log := &memoryLog{}
		r, stop := start(t, cfg, log)
		defer stop()
		var kept atomic.Int64
		r.WhenOnDisk(func() { kept.Add(1) })
		if kept.Load() != 1 {
			t.Error("nothing was offered, and nobody is told that it is kept")
		}
		full.Store(true)
		r.Offer([]point.Sample{sampleOf("fire/alarm", 1), sampleOf("a", 1)})
		r.WhenOnDisk(func() {
			if len(log.blocksOf(t)) != 2 {
				t.Error("told before both lanes are on disk")
			}
			kept.Add(1)
		})
		<-time.After(time.Minute) // virtual
		if kept.Load() != 1 {
			t.Fatal("told while the disk is full")
		}
		full.Store(false)
		<-time.After(time.Minute)
		if kept.Load() != 2 {
			t.Error("never told")
		}
		r.WhenOnDisk(func() { kept.Add(1) })
		if kept.Load() != 3 {
			t.Error("not told at once of what is on disk already")
		}
	})
}

func TestNobodyIsToldThatSamplesAreKeptThatWereGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := recorder.Config{Origin: "node", Room: func() error { return errors.New("the disk is full") }}
		r, stop := start(t, cfg, &memoryLog{})
		r.Offer([]point.Sample{sampleOf("a", 1)})
		r.WhenOnDisk(func() { t.Error("told that it is kept") })
		stop()
		r.WhenOnDisk(func() { t.Error("told later that it is kept") })
	})
}
