package audit_test

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"voltbus/audit"
	"voltbus/fault"
)

// exhaust lets this process open no more files until the returned function is called.
func exhaust(t *testing.T) (relieve func()) {
	t.Helper()
	var limit syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	low := limit
	low.Cur = min(limit.Cur, 256)
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low))
	var held []*os.File
	for {
		f, err := os.Open(os.DevNull)
		if errors.Is(err, syscall.EMFILE) {
			break
		}
		must(t, err)
		held = append(held, f)
	}
	relieved := false
	relieve = func() {
		if relieved {
			return
		}
		relieved = true
		for _, f := range held {
			must(t, f.Close())
		}
		must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	}
	t.Cleanup(relieve)
	return relieve
}

// Somebody who takes all open files of the node must not make its log look changed.
func TestAttackALogThatCannotBeReadIsNotTakenForChanged(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 5)
	l := open(t, dir)
	must(t, l.Append(t.Context(), entry(6)))
	relieve := exhaust(t)
	if r, err := l.Verify(t.Context(), nil); !fault.Is(err, fault.Unavailable) || len(r.Problems) > 0 {
		t.Errorf("without files it reports %+v and %v", r, err)
	}
	if _, err := audit.Open(t.Context(), dir, clock); !fault.Is(err, fault.Unavailable) {
		t.Errorf("without files it opens with %v", err)
	}
	if s := l.Status(); s.Damage != "" {
		t.Errorf("it is told as damaged: %s", s.Damage)
	}
	relieve()
	if r, err := l.Verify(t.Context(), nil); err != nil || !r.Whole() {
		t.Errorf("afterwards: %+v %v", r, err)
	}
	must(t, l.Append(t.Context(), entry(7)))
	if s := l.Status(); s.Damage != "" || s.Err != nil || s.Segment != 1 {
		t.Errorf("afterwards: %+v", s)
	}
}
