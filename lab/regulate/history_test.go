package regulate_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"voltbus/lab/regulate"
)

// digests returns the SHA-256 of a history by the way of regulation, with messages lost and leaders killed.
func digests() map[string]func(ctx context.Context, seed uint64) (string, error) {
	campus := func(seed uint64, raft bool) regulate.Campus {
		return regulate.Campus{
			Nodes: 8, Kill: 5 * time.Minute, Raft: raft,
			Config: regulate.Config{Units: 40, Seed: seed, Length: time.Hour, Loss: 0.2},
		}
	}
	led := func(o *regulate.Led, err error) (string, error) {
		if err != nil {
			return "", err
		}
		return o.Digest, nil
	}
	return map[string]func(ctx context.Context, seed uint64) (string, error){
		"a master": func(ctx context.Context, seed uint64) (string, error) {
			o, err := regulate.Run(ctx, campus(seed, false).Config)
			if err != nil {
				return "", err
			}
			return o.Digest, nil
		},
		"the smallest address leads": func(ctx context.Context, seed uint64) (string, error) {
			return led(regulate.RunCampus(ctx, campus(seed, false)))
		},
		"a majority elects": func(ctx context.Context, seed uint64) (string, error) {
			return led(regulate.RunCampus(ctx, campus(seed, true)))
		},
		"no leader": func(ctx context.Context, seed uint64) (string, error) {
			return led(regulate.RunGossip(ctx, campus(seed, false)))
		},
		"a market": func(ctx context.Context, seed uint64) (string, error) {
			return led(regulate.RunMarket(ctx, campus(seed, false)))
		},
		"by trade": func(ctx context.Context, seed uint64) (string, error) {
			return led(regulate.RunMarket(ctx, campus(seed, false)))
		},
		"campuses": func(ctx context.Context, seed uint64) (string, error) {
			m, err := regulate.RunGroup(ctx, regulate.Group{Campus: campus(seed, false), Units: []int{20, 40}})
			if err != nil {
				return "", err
			}
			return m.Digest, nil
		},
	}
}

// The second run uses one processor, so nothing depends on which of several goroutines is the first.
func TestTwoRunsWithOneSeedHaveTheSameBytesOfHistory(t *testing.T) {
	for name, digest := range digests() {
		t.Run(name, func(t *testing.T) {
			first, err := digest(t.Context(), 3)
			if err != nil {
				t.Fatal(err)
			}
			before := runtime.GOMAXPROCS(1)
			again, err := digest(t.Context(), 3)
			runtime.GOMAXPROCS(before)
			if err != nil || again != first || len(first) != 64 {
				t.Errorf("%s, then %s, %v", first, again, err)
			}
			if other, err := digest(t.Context(), 4); err != nil || other == first {
				t.Errorf("another seed: %s, %v", other, err)
			}
		})
	}
}
