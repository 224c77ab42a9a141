package api

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/api/exchange"

	"voltbus/fault"
)

func TestAttackQueriesOfOnePersonLeaveRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queues := newQueues("queries", 2, 4, 0, time.Minute)
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
		var wait *exchange.WaitError
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
		queues := newQueues("queries", 1, 2, 0, time.Second)
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

func TestAttackStatementsOfOnePersonLeaveRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queues := newQueues("statements", eachStatements, eachWaitingStatements, maxStatements, queryPatience)
		eves, err := queues.wait(t.Context(), "eve")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := queues.wait(t.Context(), "eve"); !fault.Is(err, fault.Unavailable) || time.Since(began) != queryPatience {
			t.Errorf("a second statement of one person gets %v after %v, want to be told after %v", err, time.Since(began), queryPatience)
		}
		bobs, err := queues.wait(t.Context(), "bob")
		if err != nil {
			t.Fatalf("another person gets %v", err)
		}
		began = time.Now()
		if _, err := queues.wait(t.Context(), "ann"); !fault.Is(err, fault.Unavailable) || time.Since(began) != queryPatience {
			t.Errorf("a third person gets %v after %v, want to be told after %v", err, time.Since(began), queryPatience)
		}
		waited := make(chan error, 2)
		for _, who := range []string{"ann", "eve"} { // in this order
			go func() {
				done, err := queues.wait(t.Context(), who)
				if err == nil {
					done()
				}
				waited <- err
			}()
			synctest.Wait()
		}
		eves()
		for range 2 {
			if err := <-waited; err != nil {
				t.Errorf("who waited got %v", err)
			}
		}
		bobs()
		if len(queues.of) != 0 || len(queues.all) != 0 {
			t.Errorf("%d persons and %d statements are remembered", len(queues.of), len(queues.all))
		}
	})
}
