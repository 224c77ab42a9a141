// Package await lets a test wait for what no event tells, such as what another process has. Suites share it.
package await

import (
	"testing"
	"time"
)

// Limit is how long anything may take: on a busy machine a server starts slowly, and a node tries it again after up to a minute.
const Limit = 3 * time.Minute

// pause is the time between two looks.
const pause = 10 * time.Millisecond

// Until asks again and again until it is so. After Limit it fails the test with what should be, and what now says.
func Until(t testing.TB, what string, is func() bool, now func() string) {
	t.Helper()
	limit, tick := time.NewTimer(Limit), time.NewTicker(pause)
	defer limit.Stop()
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("%s: it never was so; now: %s", what, now())
		}
	}
}
