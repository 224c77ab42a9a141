package backoff

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestBackOffGrowsToItsBoundAndIsJittered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Attempts{First: time.Second, Most: time.Minute}
		tries := rapid.IntRange(1, 200).Draw(t, "tries")
		for i := range tries {
			full := time.Minute
			if i < 6 {
				full = time.Second << i
			}
			if d := b.Next(); d < full/2 || d > full {
				t.Fatalf("distance %d is %v, want %v to %v", i, d, full/2, full)
			}
		}
		b.Reset()
		if d := b.Next(); d > time.Second {
			t.Fatalf("after a reset the distance is %v", d)
		}
	})
}

func TestEqualMessagesAreLoggedAtDoublingDistanceUntilAnHourOfQuiet(t *testing.T) {
	var d Messages
	var logged []int
	now := time.Duration(0)
	for i := 1; i <= 20; i++ {
		now += time.Minute
		if d.Due(now) {
			logged = append(logged, i)
		}
	}
	if diff := cmp.Diff([]int{1, 2, 4, 8, 16}, logged); diff != "" {
		t.Error(diff)
	}
	if !d.Due(now + 2*time.Hour) {
		t.Error("the first message after a quiet time was not logged")
	}
}
