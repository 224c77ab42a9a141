package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func open(t *testing.T, cfg Config) *Journal {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	j, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func search(t *testing.T, j *Journal, f Filter) []Entry {
	t.Helper()
	found, err := j.Search(f)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestLinesBecomeEntries(t *testing.T) {
	j := open(t, Config{Now: noon})
	long := strings.Repeat("x", 3*maxLine)
	j.Copy(Stdout, strings.NewReader("plain\n\n"+`{"time":"2026-01-02T03:04:05.5Z","level":"WARN","logger":"a.b","message":"hot","limit":80,"deep":{"x":[1]}}`+"\n{\"no\":\"message\"}\n"+long+"\nbad \xff byte\nno newline"))
	j.Copy(Stderr, strings.NewReader("trouble\r\n"))
	tests := []struct{ stream, level, logger, message, extra string }{
		{Stdout, "info", "", "plain", "map[]"},
		{Stdout, "warning", "a.b", "hot", "map[deep:map[x:[1]] limit:80]"},
		{Stdout, "info", "", `{"no":"message"}`, "map[]"},
		{Stdout, "info", "", long[:maxLine], "map[]"},
		{Stdout, "info", "", "bad \ufffd byte", "map[]"},
		{Stdout, "info", "", "no newline", "map[]"},
		{Stderr, "warning", "", "trouble", "map[]"},
	}
	found := search(t, j, Filter{})
	if len(found) != len(tests) {
		t.Fatalf("%d entries: %v", len(found), found)
	}
	for i, tt := range tests {
		e := found[i]
		if e.Stream != tt.stream || e.Level != tt.level || e.Logger != tt.logger || e.Message != tt.message || fmt.Sprint(e.Extra) != tt.extra {
			t.Errorf("%d: %.300v, want %.300v", i, e, tt)
		}
	}
	if at := found[1].Time; !at.Equal(time.Date(2026, 1, 2, 3, 4, 5, 5e8, time.UTC)) {
		t.Errorf("the line's own time is %v", at)
	}
}

func TestASearchSelects(t *testing.T) {
	at := noon()
	j := open(t, Config{Now: func() time.Time { return at }})
	for i, level := range []string{"debug", "info", "error", "info"} {
		at = noon().Add(time.Duration(i) * time.Minute)
		j.Print(Stdout, fmt.Appendf(nil, `{"level":%q,"message":"Line %d","point":"site/a%d"}`, level, i, i))
	}
	tests := []struct {
		name   string
		filter Filter
		want   string
	}{
		{"everything", Filter{}, "0123"},
		{"by level", Filter{Level: "info"}, "123"},
		{"by a level's other name", Filter{Level: "WARN"}, "2"},
		{"by time", Filter{Since: noon().Add(2 * time.Minute)}, "23"},
		{"by text in another case", Filter{Text: "lINE 3"}, "3"},
		{"by text of an extra field", Filter{Text: "site/A1"}, "1"},
		{"the newest", Filter{Limit: 2}, "23"},
		{"nothing", Filter{Text: "absent"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			for _, e := range search(t, j, tt.filter) {
				got += strings.TrimPrefix(e.Message, "Line ")
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestFilesAreBounded(t *testing.T) {
	dir := t.TempDir()
	j := open(t, Config{Dir: dir, MaxBytes: 1000, Keep: 2, Now: noon})
	for i := range 100 {
		j.Print(Stdout, fmt.Appendf(nil, "line %d", i))
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Fatalf("%v %v", entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Size() > 1000 || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
	}
	found := search(t, j, Filter{})
	for i, e := range found {
		if want := fmt.Sprintf("line %d", 100-len(found)+i); e.Message != want {
			t.Fatalf("entry %d is %s, want %s", i, e.Message, want)
		}
	}
	if len(found) < 20 {
		t.Errorf("only %d are left", len(found))
	}
}

func TestAFloodIsDroppedAndCounted(t *testing.T) {
	at := noon()
	j := open(t, Config{Lines: 10, Now: func() time.Time { return at }})
	for i := range 1000 {
		j.Print(Stdout, fmt.Appendf(nil, "line %d", i))
	}
	if n := len(search(t, j, Filter{Limit: 2000})); n != 100 {
		t.Errorf("%d lines at once", n)
	}
	at = at.Add(time.Second)
	j.Print(Stdout, []byte("after"))
	last := j.Last()
	if got := last[len(last)-2].Message; got != "900 lines were dropped: it prints more than 10 lines a second" {
		t.Error(got)
	}
	if got := last[len(last)-1].Message; got != "after" || len(last) != lastLines {
		t.Errorf("%d: %s", len(last), got)
	}
}

func TestALineThatACrashCutShortSpoilsNoOther(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, fileName), []byte(`{"time":"2026-01-02T03:04:05Z","message":"whole"}`+"\n"+`{"time":"20`), 0o600); err != nil {
		t.Fatal(err)
	}
	j := open(t, Config{Dir: dir, Now: noon})
	j.Note("info", "next")
	if found := search(t, j, Filter{}); len(found) != 2 || found[0].Message != "whole" || found[1].Message != "next" || found[1].Stream != Node {
		t.Errorf("%v", found)
	}
}

func TestFollowingGivesEachLineOnce(t *testing.T) {
	j := open(t, Config{})
	j.Print(Stdout, []byte("before"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := make(chan string, 10)
	done := make(chan error, 1)
	go func() {
		done <- j.Follow(ctx, Filter{Text: "e"}, func(e Entry) error {
			got <- e.Message
			return nil
		})
	}()
	if m := <-got; m != "before" {
		t.Error(m)
	}
	j.Print(Stdout, []byte("hidn"))
	j.Print(Stdout, []byte("then"))
	if m := <-got; m != "then" {
		t.Error(m)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAReaderThatStopsEndsTheFollowing(t *testing.T) {
	j := open(t, Config{})
	j.Print(Stdout, []byte("line"))
	gone := errors.New("gone")
	if err := j.Follow(t.Context(), Filter{}, func(Entry) error { return gone }); !errors.Is(err, gone) {
		t.Error(err)
	}
}

func TestWhoReadsSlowlyIsTold(t *testing.T) {
	l := &listener{entries: make(chan Entry, 2)}
	for range 5 {
		l.offer(Entry{Message: "x"})
	}
	<-l.entries
	<-l.entries
	l.offer(Entry{Message: "y"})
	if e := <-l.entries; !strings.Contains(e.Message, "3 lines were left out") {
		t.Error(e.Message)
	}
}
