package registry_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hand is a clock that the test sets.
type hand struct{ at time.Time }

func (h *hand) now() time.Time { return h.at }

func newHand() *hand { return &hand{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
