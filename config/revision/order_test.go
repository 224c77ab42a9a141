package revision_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/config/revision"
)

// change puts a text in place of the one that stands there.
func (s *site) change(t *testing.T, text string) {
	t.Helper()
	if err := s.Change([]byte(text), revision.VersionOf([]byte(s.text(t))), "eve", done); err != nil {
		t.Fatal(err)
	}
}

func TestTheHistoryIsInTheOrderOfTheChangesAlsoWhenTheClockGoesBack(t *testing.T) {
	s := newSite(t, "a")
	s.change(t, "b")
	s.change(t, "c")
	for _, text := range []string{"d", "e", "d"} {
		s.time = s.time.Add(-3 * time.Hour)
		s.change(t, text)
	}
	want := []string{"eve:d", "eve:e", "eve:d", "eve:c", "eve:b", ":a"}
	if diff := cmp.Diff(want, s.versions(t)); diff != "" {
		t.Error("history (-want +got):\n" + diff)
	}
	if _, e, err := s.Text(revision.VersionOf([]byte("d"))); err != nil || s.time.Sub(e.Time).Abs() > time.Second {
		t.Errorf("the newest of two equal texts is of %v, %v", e.Time, err)
	}
	again := revision.New(revision.Options{Name: s.name, Dir: s.dir})
	if list, err := again.History(); err != nil || list[0].Version != revision.VersionOf([]byte("d")) || list[3].Version != revision.VersionOf([]byte("c")) {
		t.Errorf("after a start the history is %v, %v", list, err)
	}
}

func TestWhatIsDroppedOfTheHistoryIsTheOldestAlsoWhenTheClockGoesBack(t *testing.T) {
	s := newSite(t, "a")
	s.change(t, "b")
	s.time = s.time.Add(-1000 * time.Hour)
	for i := range 99 {
		s.change(t, string(rune('A'+i))+" later")
	}
	list := s.versions(t)
	if n := len(list); n != 100 || list[0] != "eve:"+s.text(t) || list[n-1] != "eve:b" || slices.Contains(list, ":a") {
		t.Errorf("of %d versions the newest is %q, and the oldest %q", n, list[0], list[n-1])
	}
}

// A program of before writes files without noting their order, and drops files.
func TestTheHistoryOfAProgramThatKnowsNoOrderIsReadAndGoesOn(t *testing.T) {
	s := newSite(t, "a")
	old := func(stamp, text string) string {
		file := filepath.Join(s.dir, stamp+"-"+revision.VersionOf([]byte(text))+"-bob.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	first := old("20250101T000000.000000Z", "0")
	old("20250102T000000.000000Z", "a")
	if diff := cmp.Diff([]string{"bob:a", "bob:0"}, s.versions(t)); diff != "" {
		t.Error("without an order (-want +got):\n" + diff)
	}
	s.change(t, "b")
	old("20250103T000000.000000Z", "c")
	old("20250104T000000.000000Z", "d")
	if err := os.WriteFile(s.name, []byte("d"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(first); err != nil {
		t.Fatal(err)
	}
	s.change(t, "e")
	if diff := cmp.Diff([]string{"eve:e", "bob:d", "bob:c", "eve:b", "bob:a"}, s.versions(t)); diff != "" {
		t.Error("after the program before ran (-want +got):\n" + diff)
	}
}
