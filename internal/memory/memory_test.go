package memory

import (
	"context"
	"math"
	"runtime/debug"
	"testing"
)

func restore(t *testing.T) {
	t.Helper()
	percent := debug.SetGCPercent(100)
	limit := debug.SetMemoryLimit(-1)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}

func TestTuneLeavesHalfOfTheMachineToOthers(t *testing.T) {
	restore(t)
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	Tune()
	if got := debug.SetGCPercent(100); got != collectAt {
		t.Errorf("collection at %d %%, want %d", got, collectAt)
	}
	if limit := debug.SetMemoryLimit(-1); limit != total()/2 || limit < 1<<26 {
		t.Errorf("limit is %d of %d", limit, total())
	}
}

func TestTuneLeavesWhatTheEnvironmentSays(t *testing.T) {
	restore(t)
	debug.SetMemoryLimit(math.MaxInt64)
	t.Setenv("GOGC", "50")
	t.Setenv("GOMEMLIMIT", "1GiB")
	Tune()
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("collection at %d %%, want it untouched", got)
	}
	if limit := debug.SetMemoryLimit(-1); limit != math.MaxInt64 {
		t.Errorf("limit is %d, want it untouched", limit)
	}
}

func TestMuchThatIsAliveGrowsLessBeforeItIsCollected(t *testing.T) {
	for name, tt := range map[string]struct {
		alive uint64
		want  int
	}{
		"nothing is known": {0, collectAt},
		"little":           {10 << 20, collectAt},
		"100 MiB":          {100 << 20, 114},
		"1 GiB":            {1 << 30, 56},
	} {
		if got := percent(tt.alive); got != tt.want {
			t.Errorf("%s: %d %%, want %d", name, got, tt.want)
		}
	}
}

func TestFollowingEndsWithItsContext(t *testing.T) {
	for _, set := range []string{"", "50"} {
		t.Setenv("GOGC", set)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := Follow(ctx); err != nil {
			t.Error(err)
		}
	}
}
