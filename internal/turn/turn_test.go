package turn_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"voltbus/internal/turn"
)

func TestOneIsAtAThingAtATime(t *testing.T) {
	var turns turn.Turns[string]
	var group sync.WaitGroup
	total := map[string]*int{"a": new(int), "b": new(int)}
	for i := range 100 {
		thing := []string{"a", "b"}[i%2]
		group.Go(func() {
			leave, err := turns.Enter(t.Context(), thing)
			if err != nil {
				t.Error(err)
				return
			}
			defer leave()
			*total[thing]++
		})
	}
	group.Wait()
	for thing := range total {
		if *total[thing] != 50 {
			t.Errorf("%d were at %s", *total[thing], thing)
		}
	}
}

func TestWhoGivesUpLeavesTheQueue(t *testing.T) {
	var turns turn.Turns[int]
	leave, err := turns.Enter(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := turns.Enter(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("it gives %v", err)
	}
	leave()
	if leave, err = turns.Enter(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	leave()
}
