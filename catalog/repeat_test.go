package catalog_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/catalog"
)

func begin(t *testing.T, c *catalog.Catalog, r catalog.Repeat) catalog.Repeat {
	t.Helper()
	got, err := c.Repeats(0).BeginRepeat(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestTheFirstAnswerToAKeyIsKept(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	asked := catalog.Repeat{User: "u", Key: "k", Hash: [32]byte{1}, At: clock()}
	if d := cmp.Diff(asked, begin(t, first, asked)); d != "" {
		t.Error("the first time:", d)
	}
	later := catalog.Repeat{User: "u", Key: "k", Hash: [32]byte{2}, At: clock().Add(time.Hour)}
	if d := cmp.Diff(asked, begin(t, first, later)); d != "" {
		t.Error("before there is an answer:", d)
	}
	answered := asked
	answered.Status, answered.Answer = 207, []byte("done")
	if err := first.Repeats(0).EndRepeat(t.Context(), answered); err != nil {
		t.Fatal(err)
	}
	again := open(t, dir) // as after a restart
	if d := cmp.Diff(answered, begin(t, again, later)); d != "" {
		t.Error("after it:", d)
	}
	for _, other := range []catalog.Repeat{{User: "v", Key: "k", At: clock()}, {User: "u", Key: "l", At: clock()}} {
		if d := cmp.Diff(other, begin(t, again, other)); d != "" {
			t.Error("another user or key:", d)
		}
	}
	tomorrow := catalog.Repeat{User: "u", Key: "k", At: clock().Add(catalog.RepeatLife)}
	if d := cmp.Diff(tomorrow, begin(t, again, tomorrow)); d != "" {
		t.Error("a day later:", d)
	}
}

func TestTheOldestKeysAreForgottenWhenThereAreTooMany(t *testing.T) {
	c := open(t, t.TempDir())
	if err := c.FillRepeats(t.Context(), "u", catalog.MaxRepeats+2); err != nil {
		t.Fatal(err)
	}
	begin(t, c, catalog.Repeat{User: "v", Key: "k", At: clock()})
	for key, status := range map[string]int{"key1": 0, "key3": 204} {
		if got := begin(t, c, catalog.Repeat{User: "u", Key: key, At: clock().Add(time.Hour)}); got.Status != status {
			t.Errorf("%s has the status %d, want %d", key, got.Status, status)
		}
	}
}

func TestAnAnswerIsKeptAsLongAsWasSaid(t *testing.T) {
	repeats := open(t, t.TempDir()).Repeats(time.Hour)
	asked := catalog.Repeat{User: "u", Key: "k", At: clock()}
	for _, tt := range []struct {
		after time.Duration
		known bool
	}{{0, false}, {time.Hour - time.Microsecond, true}, {time.Hour, false}} {
		now := asked
		now.At = clock().Add(tt.after)
		got, err := repeats.BeginRepeat(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		if known := !got.At.Equal(now.At); known != tt.known {
			t.Errorf("after %v it is known: %t", tt.after, known)
		}
	}
}
