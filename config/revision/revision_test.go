package revision_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/config/revision"
	"voltbus/fault"
	"voltbus/internal/atomicfile"
)

var errDisk = errors.New("no space left on device")

func done() error { return nil }

// site is a file with its history, and a disk that fails at the step with a number.
type site struct {
	*revision.File
	name   string
	dir    string
	steps  int
	broken int // the step that fails, from 1; 0 for none
	crash  int // the step at which the process ends
	time   time.Time
}

func newSite(t *testing.T, text string) *site {
	t.Helper()
	dir := t.TempDir()
	s := &site{name: filepath.Join(dir, "voltbus.yaml"), dir: filepath.Join(dir, "history"), time: time.Now().Add(time.Hour)}
	if err := os.WriteFile(s.name, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	s.File = revision.New(revision.Options{
		Name: s.name, Dir: s.dir,
		Now: func() time.Time { s.time = s.time.Add(time.Second); return s.time },
		Writer: atomicfile.Writer{Before: func(atomicfile.Step) error {
			if s.steps++; s.steps == s.broken {
				return errDisk
			}
			if s.steps == s.crash {
				panic("killed")
			}
			return nil
		}},
	})
	return s
}

func (s *site) text(t *testing.T) string {
	t.Helper()
	b, err := s.Read()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (s *site) versions(t *testing.T) []string {
	t.Helper()
	list, err := s.History()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		text, _, err := s.Text(e.Version)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e.User+":"+string(text))
	}
	return out
}

func TestAChangeIsKeptWithWhatWasBefore(t *testing.T) {
	s := newSite(t, "a")
	for i, text := range []string{"b", "c"} {
		if err := s.Change([]byte(text), revision.VersionOf([]byte(s.text(t))), fmt.Sprint("eve-/%", i), done); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(s.name, []byte("by hand"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := s.Change([]byte("d"), revision.VersionOf([]byte("by hand")), "bob", done); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"bob:d", ":by hand", "eve-/%1:c", "eve-/%0:b", ":a"}, s.versions(t)); diff != "" {
		t.Error("history (-want +got):\n" + diff)
	}
	if info, err := os.Stat(s.name); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode became %v, %v", info.Mode(), err)
	}
}

func TestAChangeOfAnotherVersionIsRefused(t *testing.T) {
	s := newSite(t, "a")
	err := s.Change([]byte("b"), revision.VersionOf([]byte("x")), "eve", done)
	if !fault.Is(err, fault.Conflict) || s.text(t) != "a" || s.versions(t) != nil {
		t.Errorf("error %v, text %q, history %q", err, s.text(t), s.versions(t))
	}
}

func TestWhatCannotBeAppliedDoesNotStay(t *testing.T) {
	s := newSite(t, "a")
	refusal := errors.New("no")
	err := s.Change([]byte("b"), revision.VersionOf([]byte("a")), "eve", func() error {
		if got := s.text(t); got != "b" {
			t.Errorf("while it is applied the file holds %q", got)
		}
		return refusal
	})
	if !errors.Is(err, refusal) || s.text(t) != "a" {
		t.Errorf("error %v, text %q", err, s.text(t))
	}
	if diff := cmp.Diff([]string{":a"}, s.versions(t)); diff != "" {
		t.Error("history (-want +got):\n" + diff)
	}
}

// Whatever step of whatever write fails, the file holds the old text, whole, and nothing was
// applied; without a failure the new one.
func TestADiskErrorAtAnyStepLeavesTheOldText(t *testing.T) {
	for broken := 1; ; broken++ {
		s := newSite(t, "old")
		s.broken = broken
		applied := false
		err := s.Change([]byte("new"), revision.VersionOf([]byte("old")), "eve", func() error { applied = true; return nil })
		if s.steps < broken {
			if err != nil || s.text(t) != "new" || broken < 15 {
				t.Fatalf("after %d steps: error %v, text %q", s.steps, err, s.text(t))
			}
			return
		}
		if !fault.Is(err, fault.Unavailable) || !errors.Is(err, errDisk) || applied || s.text(t) != "old" {
			t.Errorf("step %d fails: error %v, applied %v, text %q", broken, err, applied, s.text(t))
		}
		s.broken = 0
		if err := s.Change([]byte("new"), revision.VersionOf([]byte("old")), "eve", done); err != nil || s.text(t) != "new" {
			t.Errorf("after step %d had failed: error %v, text %q", broken, err, s.text(t))
		}
	}
}

// A crash at any step, also between writing and applying, leaves the old text or the new, whole,
// and the next process can go on.
func TestACrashAtAnyStepLeavesOneWholeText(t *testing.T) {
	crash := func(s *site) (crashed bool) {
		defer func() { crashed = recover() != nil }()
		_ = s.Change([]byte("new"), revision.VersionOf([]byte("old")), "eve", func() error { panic("killed before it is applied") })
		return false
	}
	for at := 1; ; at++ {
		s := newSite(t, "old")
		s.crash = at
		if !crash(s) {
			t.Fatal("nothing crashed")
		}
		got := s.text(t)
		if got != "old" && got != "new" {
			t.Errorf("a crash at step %d leaves %q", at, got)
		}
		next := revision.New(revision.Options{Name: s.name, Dir: s.dir})
		if err := next.Change([]byte("third"), revision.VersionOf([]byte(got)), "eve", done); err != nil {
			t.Errorf("after a crash at step %d: %v", at, err)
		}
		if s.steps < at { // every step came through, and the change crashed when it was applied
			if got != "new" || at < 15 {
				t.Errorf("a crash after %d steps leaves %q", s.steps, got)
			}
			return
		}
	}
}

func TestTheHistoryIsBounded(t *testing.T) {
	s := newSite(t, "0")
	for i := range 120 {
		if err := s.Change(fmt.Append(nil, i+1), revision.VersionOf(fmt.Append(nil, i)), "eve", done); err != nil {
			t.Fatal(err)
		}
	}
	if list := s.versions(t); len(list) != 100 || list[0] != "eve:120" || list[99] != "eve:21" {
		t.Errorf("%d versions from %s to %s", len(list), list[0], list[len(list)-1])
	}
	large := strings.Repeat("x", 20<<20)
	for i := range 3 {
		before := revision.VersionOf([]byte(s.text(t)))
		if err := s.Change(fmt.Append(nil, i, large), before, "eve", done); err != nil {
			t.Fatal(err)
		}
	}
	if list := s.versions(t); len(list) != 2 {
		t.Errorf("%d versions of 20 MiB, want the newest two", len(list))
	}
}

func TestALinkStaysALink(t *testing.T) {
	s := newSite(t, "a")
	link := filepath.Join(t.TempDir(), "link.yaml")
	if err := os.Symlink(s.name, link); err != nil {
		t.Fatal(err)
	}
	f := revision.New(revision.Options{Name: link, Dir: s.dir})
	if err := f.Change([]byte("b"), revision.VersionOf([]byte("a")), "eve", done); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().IsRegular() || s.text(t) != "b" {
		t.Errorf("link %v, %v, text %q", info, err, s.text(t))
	}
}

func TestForeignFilesInTheHistoryAreLeftAlone(t *testing.T) {
	s := newSite(t, "a")
	if err := s.Change([]byte("b"), revision.VersionOf([]byte("a")), "eve", done); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(s.dir, "notes.yaml")
	if err := os.WriteFile(foreign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := len(s.versions(t)); got != 2 {
		t.Errorf("%d versions, want 2", got)
	}
	if _, _, err := s.Text("notes"); !fault.Is(err, fault.NotFound) {
		t.Errorf("error is %v", err)
	}
}
