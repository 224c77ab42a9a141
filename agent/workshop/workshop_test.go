package workshop_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/agent/workshop"
	"voltbus/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAFolderWithoutAProjectIsRefused(t *testing.T) {
	p := workshop.Project{Dir: t.TempDir()}
	if _, err := p.Prepare(t.Context()); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "voltbus agent new") {
		t.Errorf("gives %v", err)
	}
}

func TestAnInterpreterThatIsNamedIsUsedAsItIs(t *testing.T) {
	p := workshop.Project{Dir: t.TempDir(), Python: "sh"}
	write(t, filepath.Join(p.Dir, "pyproject.toml"), "")
	got, err := p.Prepare(t.Context())
	if err != nil || !filepath.IsAbs(got) || filepath.Base(got) != "sh" {
		t.Errorf("gives %q, %v", got, err)
	}
	p.Python = "no-such-python"
	if _, err := p.Prepare(t.Context()); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "--python") {
		t.Errorf("one that is not there gives %v", err)
	}
}

func TestAnEnvironmentThatCannotBeMadeIsNotTakenForOne(t *testing.T) {
	p := workshop.Project{
		Dir: t.TempDir(), Log: func(string) {}, Wheels: t.TempDir(),
		SDK: func() (string, []byte, error) { return "voltbus-1-py3-none-any.whl", []byte("no wheel"), nil },
	}
	write(t, filepath.Join(p.Dir, "pyproject.toml"), "x")
	_, err := p.Prepare(t.Context())
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "cannot be installed") {
		t.Errorf("a wheel that is none gives %v", err)
	}
	if _, err := os.Stat(filepath.Join(p.Dir, ".venv", "voltbus.stamp")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what failed is taken for done: %v", err)
	}
	write(t, filepath.Join(p.Dir, ".venv", "voltbus.stamp"), "of something else")
	if _, err := p.Prepare(t.Context()); err == nil {
		t.Error("the stamp of something else counts")
	}
}

func TestAChildSpeaksLineByLineAndEndsWhenItIsAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var lines []string
	c := workshop.Child{
		Args: []string{"sh", "-c", `trap 'echo bye; exit 0' TERM; echo "$GREETING" >&2; while :; do sleep 0.05; done`},
		Dir:  t.TempDir(), Env: []string{"GREETING=hello"}, Grace: time.Minute,
		Line: func(line []byte) {
			lines = append(lines, string(line))
			cancel()
		},
	}
	if err := c.Run(ctx); err != nil {
		t.Errorf("gives %v", err)
	}
	if !slices.Equal(lines, []string{"hello", "bye"}) {
		t.Errorf("it said %q", lines)
	}
}

func TestAChildThatFailsIsAnError(t *testing.T) {
	c := workshop.Child{Args: []string{"sh", "-c", "exit 3"}, Dir: t.TempDir(), Line: func([]byte) {}}
	if err := c.Run(t.Context()); !fault.Is(err, fault.Rejected) || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("gives %v", err)
	}
	c.Args = []string{"/no/such/program"}
	if err := c.Run(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("one that is not there gives %v", err)
	}
}

func TestAChildThatDoesNotListenIsKilled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := workshop.Child{
		Args: []string{"sh", "-c", `trap '' TERM; echo on; while :; do sleep 0.05; done`}, Dir: t.TempDir(),
		Grace: 50 * time.Millisecond, Line: func([]byte) { cancel() },
	}
	if err := c.Run(ctx); err != nil {
		t.Errorf("gives %v", err)
	}
}

func TestAChangeOfTheSourcesIsSeen(t *testing.T) {
	p := workshop.Project{Dir: t.TempDir()}
	source := filepath.Join(p.Dir, "src", "a.py")
	write(t, source, "x = 1")
	before := p.Look()
	for _, file := range []string{".venv/lib/x.py", "src/__pycache__/a.pyc", "src/.a.py.swp", "src/a.py~"} {
		write(t, filepath.Join(p.Dir, file), "x")
	}
	if now := p.Look(); len(now) != 1 || now[source] != before[source] {
		t.Errorf("files that are no sources count: %v", now)
	}
	write(t, source, "x = 12")
	p.AwaitChange(t.Context(), before, time.Millisecond)
	if now := p.Look(); now[source] == before[source] {
		t.Error("it returned without a change")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	p.AwaitChange(ended, p.Look(), time.Millisecond)
}
