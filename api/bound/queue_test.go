package bound

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
		queues := NewQueues("queries", 2, 4, 0, time.Minute)
		var release []func()
		for range 2 {
			done, err := queues.Wait(t.Context(), "eve")
			if err != nil {
				t.Fatal(err)
			}
			release = append(release, done)
		}
		waited := make(chan error, 2)
		for range 2 {
			go func() {
				done, err := queues.Wait(t.Context(), "eve")
				if err == nil {
					done()
				}
				waited <- err
			}()
		}
		synctest.Wait()
		var wait *exchange.WaitError
		if _, err := queues.Wait(t.Context(), "eve"); !errors.As(err, &wait) {
			t.Errorf("a fifth query gives %v, want to come later", err)
		}
		if done, err := queues.Wait(t.Context(), "bob"); err != nil {
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
		queues := NewQueues("queries", 1, 2, 0, time.Second)
		done, err := queues.Wait(t.Context(), "eve")
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		if _, err := queues.Wait(t.Context(), "eve"); !fault.Is(err, fault.Unavailable) {
			t.Errorf("got %v, want unavailable", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := queues.Wait(ctx, "eve"); !fault.Is(err, fault.Canceled) {
			t.Errorf("got %v, want canceled", err)
		}
	})
}

// patience is how long statements of the test wait.
const patience = 30 * time.Second

func TestAttackStatementsOfOnePersonLeaveRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queues := NewQueues("statements", 1, 16, 2, patience)
		eves, err := queues.Wait(t.Context(), "eve")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := queues.Wait(t.Context(), "eve"); !fault.Is(err, fault.Unavailable) || time.Since(began) != patience {
			t.Errorf("a second statement of one person gets %v after %v, want to be told after %v", err, time.Since(began), patience)
		}
		bobs, err := queues.Wait(t.Context(), "bob")
		if err != nil {
			t.Fatalf("another person gets %v", err)
		}
		began = time.Now()
		if _, err := queues.Wait(t.Context(), "ann"); !fault.Is(err, fault.Unavailable) || time.Since(began) != patience {
			t.Errorf("a third person gets %v after %v, want to be told after %v", err, time.Since(began), patience)
		}
		waited := make(chan error, 2)
		for _, who := range []string{"ann", "eve"} { // in this order
			go func() {
				done, err := queues.Wait(t.Context(), who)
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
