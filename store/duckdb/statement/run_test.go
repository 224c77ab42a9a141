package statement_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/fault"
	"voltbus/store/duckdb/statement"
)

// The test program is also the process of a statement.
func TestMain(m *testing.M) {
	if os.Getenv(statement.Env) != "" {
		if err := statement.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// TestAttackAllFilesOfAStatementTogetherAreBounded has a process write small files, in folders, without end.
func TestAttackAllFilesOfAStatementTogetherAreBounded(t *testing.T) {
	for name, script := range map[string]string{
		"files":       `i=0; while :; do i=$((i+1)); printf '%65536s' x > "$0/$i"; done`,
		"empty files": `i=0; while :; do i=$((i+1)); : > "$0/$i"; done`,
		"folders":     `i=0; d="$0/d"; mkdir "$d"; while :; do i=$((i+1)); printf '%65536s' x > "$d/$i"; done`,
	} {
		t.Run(name, func(t *testing.T) {
			temp := t.TempDir()
			task := &statement.Task{Statement: "SELECT 1", Temp: temp, Spill: 2 << 20, Memory: 64 << 20, Time: time.Minute}
			err := statement.Run(t.Context(), []string{"/bin/sh", "-c", script, temp}, task,
				func([]string) error { return nil }, func([]any) error { return nil })
			if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "more of the disk than it may") {
				t.Errorf("error is %v (%v), want unavailable for the disk", err, fault.KindOf(err))
			}
			before := count(t, temp)
			if before == 0 {
				t.Error("the process wrote nothing")
			}
			if after := count(t, temp); after != before {
				t.Errorf("the process still writes: %d files, then %d", before, after)
			}
		})
	}
}

// count tells how many files there are.
func count(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(string, os.DirEntry, error) error { n++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return n - 1
}
