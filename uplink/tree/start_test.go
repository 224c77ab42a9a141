package tree_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"voltbus/fault"
)

func TestWhoIsBelowIsKnownAfterAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		region := plant(t, "region", nil)
		campus := plant(t, "campus", region)
		building := plant(t, "building", campus)
		region.open(dir)
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for _, s := range []*site{region, campus, building} {
			running.Go(func() { _ = s.reporter.Run(ctx) })
		}
		settle()
		end()
		running.Wait()
		campus.link(false)
		region.open(dir)
		_, err := ask(t, region, "building", "boiler", "tune")
		if !fault.Is(err, fault.Unreachable) || !strings.Contains(err.Error(), "campus is not connected to region") {
			t.Errorf("after a start building is asked: %v", err)
		}
	})
}
