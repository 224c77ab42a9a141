package peers

import (
	"path/filepath"
	"testing"
	"time"
)

// Search starts search_peer.py: the search engine of the agent searchalarm's tests at a time, which asks itself the agent's question. The file has the password
// of the user plant. It is stopped when the test ends.
func Search(t testing.TB, now time.Time, passwordFile string) *Process {
	t.Helper()
	return start(t, Python(t), []string{filepath.Join(folder(), "search_peer.py"), now.UTC().Format("2006-01-02T15:04:05+00:00"), passwordFile})
}
