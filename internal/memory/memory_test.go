package memory

import (
	"context"
	"math"
	"runtime"
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

func TestTheHeapGrowsByWhatIsAliveAndWhatCollectingCosts(t *testing.T) {
	const quiet, usual, busy = 0.001, 0.01, 0.1
	for name, tt := range map[string]struct {
		now   int
		alive uint64
		cost  float64
		want  int
	}{
		"nothing is known":                         {collectAt, 0, quiet, collectAt},
		"little is alive":                          {collectAt, 4 << 20, quiet, collectAt},
		"collecting costs little":                  {200, 40 << 20, quiet, 150},
		"collecting costs neither little nor much": {200, 40 << 20, usual, 200},
		"collecting costs much":                    {80, 40 << 20, busy, 160},
		"as much lies about as may":                {200, 40 << 20, busy, 210},
		"as little lies about as may":              {70, 40 << 20, quiet, 65},
		"more is alive than before":                {200, 100 << 20, busy, 114},
		"very much is alive, and it costs much":    {100, 1 << 30, busy, 56},
		"very much is alive, and it costs little":  {30, 1 << 30, quiet, 26},
	} {
		if got := next(tt.now, tt.alive, tt.cost); got != tt.want {
			t.Errorf("%s: %d %%, want %d", name, got, tt.want)
		}
	}
}

func TestTheGaugeSeesCollections(t *testing.T) {
	g := newGauge()
	g.look()
	kept := make([]byte, 8<<20)
	runtime.GC()
	seen := g.look()
	if n := uint64(len(kept)); seen.alive < n || seen.cost <= 0 || seen.cost > 1 || seen.allocated < n || seen.held < seen.alive {
		t.Errorf("it saw %+v", seen)
	}
	runtime.KeepAlive(kept)
	if seen := g.look(); seen.cost != 0 || seen.allocated > 1<<20 {
		t.Errorf("without a collection it saw %+v", seen)
	}
}

func TestMemoryLoitersThatIsMuchMoreThanWhatIsAlive(t *testing.T) {
	const MB = 1 << 20
	for name, tt := range map[string]struct {
		seen sight
		want bool
	}{
		"much lies about after a start":      {sight{alive: 100 * MB, held: 400 * MB}, true},
		"a little process has some to spare": {sight{alive: 8 * MB, held: 25 * MB}, false},
		"a little process has much to spare": {sight{alive: 8 * MB, held: 40 * MB}, true},
		"nothing lies about":                 {sight{alive: 100 * MB, held: 120 * MB}, false},
	} {
		if got := loiters(&tt.seen); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

func TestMemoryGoesBackAfterSecondsOfRestOnly(t *testing.T) {
	quiet := sight{alive: 100 << 20, held: 400 << 20, allocated: 1 << 20}
	used := sight{alive: 100 << 20, held: 400 << 20, allocated: 100 << 20}
	var p pause
	for _, seen := range []sight{quiet, quiet, quiet, quiet, used, quiet, quiet, quiet, quiet} {
		if p.over(&seen) {
			t.Fatal("memory goes back though the process works")
		}
	}
	if !p.over(&quiet) {
		t.Error("memory stays though the process rests")
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
