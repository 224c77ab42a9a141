package api

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/fault"
)

func TestAttackQueriesOfOnePersonLeaveRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queues := newQueues(2, 4, time.Minute)
		var release []func()
		for range 2 {
			done, err := queues.wait(t.Context(), "eve")
			if err != nil {
				t.Fatal(err)
			}
			release = append(release, done)
		}
		waited := make(chan error, 2)
		for range 2 {
			go func() {
				done, err := queues.wait(t.Context(), "eve")
				if err == nil {
					done()
				}
				waited <- err
			}()
		}
		synctest.Wait()
		var wait *waitError
		if _, err := queues.wait(t.Context(), "eve"); !errors.As(err, &wait) {
			t.Errorf("a fifth query gives %v, want to come later", err)
		}
		if done, err := queues.wait(t.Context(), "bob"); err != nil {
			t.Errorf("another person gets %v", err)
		} else {
			done()
		}
		release[0]()
		for range 2 {
			if err := <-waited; err != nil {
				t.Errorf("who waited got %v", err)
			}
		}
		release[1]()
		if len(queues.of) != 0 {
			t.Errorf("%d persons are remembered", len(queues.of))
		}
	})
}

func TestAQueryThatWaitsTooLongIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queues := newQueues(1, 2, time.Second)
		done, err := queues.wait(t.Context(), "eve")
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		if _, err := queues.wait(t.Context(), "eve"); !fault.Is(err, fault.Unavailable) {
			t.Errorf("got %v, want unavailable", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := queues.wait(ctx, "eve"); !fault.Is(err, fault.Canceled) {
			t.Errorf("got %v, want canceled", err)
		}
	})
}
