package revision_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"voltbus/config/revision"
	"voltbus/fault"
)

// try puts a text on trial.
func (s *site) try(t *testing.T, text string) error {
	t.Helper()
	return s.Try([]byte(text), revision.VersionOf([]byte(s.text(t))), "eve", time.Minute, done)
}

func TestATrialStaysWhenItIsConfirmedAndElseGoesBack(t *testing.T) {
	s := newSite(t, "a")
	if err := s.try(t, "b"); err != nil {
		t.Fatal(err)
	}
	if trial, is, err := s.Trial(); err != nil || !is || trial.Text != "a" || trial.User != "eve" || trial.Bound != time.Minute {
		t.Errorf("the trial: %+v, %v, %v", trial, is, err)
	}
	if err := s.try(t, "c"); !fault.Is(err, fault.Conflict) || s.text(t) != "b" {
		t.Errorf("a second trial: %v, %q", err, s.text(t))
	}
	if err := s.Confirm("another"); !fault.Is(err, fault.NotFound) {
		t.Errorf("another version is confirmed: %v", err)
	}
	if err := s.Confirm(revision.VersionOf([]byte("b"))); err != nil {
		t.Fatal(err)
	}
	if err := s.Back(func([]byte) error { return errors.New("is not called") }); err != nil || s.text(t) != "b" {
		t.Errorf("it went back after it was confirmed: %v, %q", err, s.text(t))
	}
	if err := s.try(t, "c"); err != nil {
		t.Fatal(err)
	}
	applied := ""
	if err := s.Back(func(text []byte) error { applied = string(text); return nil }); err != nil || applied != "b" || s.text(t) != "b" {
		t.Errorf("it did not go back: %v, %q, %q", err, applied, s.text(t))
	}
	if _, is, err := s.Trial(); is || err != nil {
		t.Errorf("a trial is left: %v", err)
	}
	if got := s.versions(t)[0]; got != "node:b" {
		t.Errorf("the history says %q of it", got)
	}
}

func TestAStartGoesBackFromATrialThatWasLeftBehind(t *testing.T) {
	s := newSite(t, "a")
	if back, err := revision.Recover(s.name); back != nil || err != nil {
		t.Errorf("without a trial: %+v, %v", back, err)
	}
	if err := s.try(t, "b"); err != nil {
		t.Fatal(err)
	}
	back, err := revision.Recover(s.name)
	if err != nil || back == nil || back.User != "eve" || s.text(t) != "a" {
		t.Errorf("%+v, %v, %q", back, err, s.text(t))
	}
	if info, err := os.Stat(s.name); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode became %v, %v", info.Mode(), err)
	}
	if err := s.try(t, "c"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.name, []byte("by hand"), 0o640); err != nil {
		t.Fatal(err)
	}
	if back, err := revision.Recover(s.name); back != nil || err != nil || s.text(t) != "by hand" {
		t.Errorf("what somebody wrote by hand: %+v, %v, %q", back, err, s.text(t))
	}
}

func TestATrialThatCannotBeAppliedLeavesNothing(t *testing.T) {
	s := newSite(t, "a")
	err := s.Try([]byte("b"), revision.VersionOf([]byte("a")), "eve", time.Minute, func() error { return errDisk })
	if _, is, terr := s.Trial(); !errors.Is(err, errDisk) || is || terr != nil || s.text(t) != "a" {
		t.Errorf("%v, %v, %v, %q", err, is, terr, s.text(t))
	}
}

func TestATrialThatCannotBeTakenBackStays(t *testing.T) {
	s := newSite(t, "a")
	err := s.Try([]byte("b"), revision.VersionOf([]byte("a")), "eve", time.Minute, func() error {
		s.broken = s.steps + 1 // when the old text is put back
		return errDisk
	})
	if _, is, terr := s.Trial(); !errors.Is(err, errDisk) || !is || terr != nil || s.text(t) != "b" {
		t.Errorf("%v, %v, %v, %q", err, is, terr, s.text(t))
	}
	if err := s.Back(func([]byte) error { return nil }); err != nil || s.text(t) != "a" {
		t.Errorf("when there is room: %v, %q", err, s.text(t))
	}
}

// A process that is killed at any step of a trial starts with the old text, or with the new one whole
// and confirmed.
func TestATrialIsWholeWhereverItIsKilled(t *testing.T) {
	for step := 1; step < 100; step++ {
		s := newSite(t, "a")
		s.crash = step
		killed := func() (killed bool) {
			defer func() { killed = recover() != nil }()
			if err := s.try(t, "b"); err != nil {
				t.Fatal(err)
			}
			return false
		}()
		if !killed {
			if step < 5 {
				t.Fatalf("only %d steps", step)
			}
			return
		}
		if _, err := revision.Recover(s.name); err != nil || s.text(t) != "a" {
			t.Fatalf("killed at step %d: %v, %q", step, err, s.text(t))
		}
	}
}

func TestConfirmingIsWholeWhereverItIsKilled(t *testing.T) {
	for step := 1; step < 100; step++ {
		s := newSite(t, "a")
		if err := s.try(t, "b"); err != nil {
			t.Fatal(err)
		}
		s.crash = s.steps + step
		killed := func() (killed bool) {
			defer func() { killed = recover() != nil }()
			return s.Confirm(revision.VersionOf([]byte("b"))) != nil
		}()
		back, err := revision.Recover(s.name)
		if text := s.text(t); err != nil || (text == "a") != (back != nil) || (!killed && text != "b") {
			t.Fatalf("killed at step %d: %+v, %v, %q", step, back, err, text)
		}
		if !killed {
			return
		}
	}
}
