package keymutex_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"voltbus/internal/keymutex"
)

func TestOneHoldsAKeyAtATime(t *testing.T) {
	var locks keymutex.Mutex[string]
	var group sync.WaitGroup
	total := map[string]*int{"a": new(int), "b": new(int)}
	for i := range 100 {
		key := []string{"a", "b"}[i%2]
		group.Go(func() {
			unlock, err := locks.Lock(t.Context(), key)
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			*total[key]++
		})
	}
	group.Wait()
	for key := range total {
		if *total[key] != 50 {
			t.Errorf("%d held %s", *total[key], key)
		}
	}
}

func TestACallerThatGivesUpStopsWaiting(t *testing.T) {
	var locks keymutex.Mutex[int]
	unlock, err := locks.Lock(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := locks.Lock(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("it gives %v", err)
	}
	unlock()
	if unlock, err = locks.Lock(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	unlock()
}
