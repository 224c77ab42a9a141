package jail

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestGroupsEndWhenNobodySaysThatTheyMayRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := io.Pipe()
		var mu sync.Mutex
		var killed []int
		var watching sync.WaitGroup
		watching.Go(func() {
			watch(from, func(g int) {
				mu.Lock()
				defer mu.Unlock()
				killed = append(killed, g)
			})
		})
		ended := func(want ...int) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(killed, want) {
				t.Errorf("killed are %v, not %v", killed, want)
			}
			killed = nil
		}
		for range 10 {
			_, _ = fmt.Fprintln(to, "20 30 x 1")
			<-time.After(WatchTime / 2) // virtual
		}
		ended()
		<-time.After(WatchTime)
		ended(20, 30)
		<-time.After(WatchTime)
		ended()
		_, _ = fmt.Fprintln(to, "40 -50")
		ended(50)
		_ = to.Close()
		watching.Wait()
		ended(40)
	})
}
