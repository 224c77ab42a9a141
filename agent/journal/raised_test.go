package journal_test

import (
	"testing"
	"time"

	"voltbus/agent/journal"
)

func TestExceptionsAreCountedUntilNoneCameForAWhile(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	j, err := journal.Open(journal.Config{Dir: t.TempDir(), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	j.Print(journal.Stderr, []byte(`{"level":"error","message":"no reading"}`))
	if got := j.Raised(); got.Count != 0 {
		t.Errorf("an error without a traceback counts: %+v", got)
	}
	for range 3 {
		now = now.Add(10 * time.Second)
		j.Print(journal.Stderr, []byte(`{"level":"error","message":"a method raised","trace":"Traceback (most recent call last):\n  File \"a.py\"\nValueError: odd\n"}`))
	}
	if got := j.Raised(); got.Count != 3 || got.Text != "ValueError: odd" || got.Last.Sub(got.First) != 20*time.Second {
		t.Errorf("three exceptions are %+v", got)
	}
	now = now.Add(11 * time.Minute)
	if got := j.Raised(); got.Count != 0 {
		t.Errorf("after a while there are %+v", got)
	}
	j.Print(journal.Stderr, []byte("Traceback (most recent call last):"))
	if got := j.Raised(); got.Count != 1 {
		t.Errorf("one that Python prints: %+v", got)
	}
}
