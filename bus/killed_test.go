package bus_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/bus"
	"voltbus/bus/permit"
)

// A kill leaves the index of the log behind the log itself, as a copy of the files of a running bus does.
func TestALogThatWasKilledIsTakenUpWithoutAWarning(t *testing.T) {
	dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "killed")
	f := open(t, dir, "")
	if err := appendOne(t, openLog(t, f, 1<<20), "first", 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil { // writes the index
		t.Fatal(err)
	}
	f = open(t, dir, "")
	if err := appendOne(t, openLog(t, f, 1<<20), "second", 1); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	server, _ := certificate(t)
	b, err := bus.Open(bus.Config{
		Name: "node", Dir: copied, TLS: server, Key: newKey(t), Log: slog.New(slog.NewTextHandler(&said, nil)),
		Admit: func(string) (permit.Permit, bool) { return permit.Permit{}, false },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, blocks := readAll(t, openLog(t, &fixture{Bus: b}, 1<<20), 1); fmt.Sprint(blocks) != "[first second]" {
		t.Errorf("the log holds %v", blocks)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if text := said.String(); strings.Contains(text, "level=WARN") || strings.Count(text, "the log ended in mid-write") != 1 {
		t.Errorf("it says:\n%s", text)
	}
}

// An index that cannot be read for another reason is told.
func TestAnIndexOfTheLogThatIsDamagedIsTold(t *testing.T) {
	var said strings.Builder
	warn := bus.ServerWarning(slog.New(slog.NewTextHandler(&said, nil)))
	warn("Filestore [LOG] Stream state checksum did not match")
	warn("Filestore [LOG] Recovering stream state from index errored: %v", errors.New("corrupt state file"))
	if n := strings.Count(said.String(), "level=WARN"); n != 2 {
		t.Errorf("%d warnings:\n%s", n, &said)
	}
}
