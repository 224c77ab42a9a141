package bacnet_test

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/api/answer"
)

func TestPointsThatCameAfterTheStartAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &node{}
		g := gateway(t, parsed(t, patterns), n, filepath.Join(t.TempDir(), "instances.csv"))
		n.more = []answer.Point{{Path: "site/ahu/damper", Kind: "bool"}, {Path: "site/ahu/silent", Kind: "none"}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			g.WatchPatterns(ctx)
		}()
		<-time.After(6 * time.Minute)
		synctest.Wait()
		if got := g.Status().Unserved; got != 1 {
			t.Errorf("%d points are not served, want 1", got)
		}
		cancel()
		<-done
	})
}
