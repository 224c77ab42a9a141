package docs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// root is the repository's root directory.
func root() string { return peers.Root() }

// program returns the program to test: the one that VOLTBUS_BIN names, or one that is built now.
func program(t *testing.T) string {
	t.Helper()
	if bin := os.Getenv("VOLTBUS_BIN"); bin != "" {
		return bin
	}
	bin := filepath.Join(root(), "build", "test", "voltbus") // linked again only if something changed
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "./cmd/voltbus")
	build.Dir = root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	return bin
}

// shell runs commands in a directory of their own.
type shell struct {
	t     *testing.T
	dir   string
	env   []string
	known []string          // a document's ports, each followed by the free one that takes its place
	ports *strings.Replacer // made of them
	fewer *strings.Replacer // what a document has many of; nil if nothing
}

// newShell makes a shell that finds the programs in the folders first.
func newShell(t *testing.T, folders ...string) *shell {
	t.Helper()
	path := strings.Join(append(folders, os.Getenv("PATH")), string(os.PathListSeparator))
	s := &shell{t: t, dir: t.TempDir(), env: append(os.Environ(), "PATH="+path, "VOLTBUS_URL=", "VOLTBUS_TOKEN=")}
	for _, port := range []string{"127.0.0.1:8080", "127.0.0.1:8081", "127.0.0.1:8082", "127.0.0.1:4222", "127.0.0.1:4223", "127.0.0.1:20000"} {
		s.place(port, "127.0.0.1:"+peers.FreePort(t))
	}
	for _, port := range []string{"5020", "18831", "18832"} {
		s.place(port, peers.FreePort(t))
	}
	return s
}

// place has something else take the place of a document's port or address.
func (s *shell) place(port, by string) {
	s.known = append(s.known, port, by)
	s.ports = strings.NewReplacer(s.known...)
}

func (s *shell) command(ctx context.Context, line string) *exec.Cmd {
	if s.fewer != nil {
		line = s.fewer.Replace(line)
	}
	cmd := exec.CommandContext(ctx, "bash", "-c", s.ports.Replace(line))
	cmd.Dir, cmd.Env = s.dir, s.env
	// A command may have children, such as the device of the demonstration.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// patience is how long a command may take to print what it should.
const patience = 2 * time.Minute

// run runs a command until it prints what it should, and succeeds, or fails if it shall.
func (s *shell) run(b *block, c command, fails bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	said := "nothing in time"
	for {
		out, err := s.command(ctx, c.line).CombinedOutput()
		if ctx.Err() != nil {
			s.t.Fatalf("%v: %s\n%s", b, c.line, said)
		}
		gone := missing(c.wants, string(out))
		if gone == "" && (err != nil) == fails {
			return
		}
		said = fmt.Sprintf("prints\n%s(%v), without the line %q", out, err, gone)
		<-tick.C
	}
}

// output collects what a command prints. It is safe for concurrent use.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start starts a command that goes on running, and returns when it has printed what it should. It
// is ended with the test. One that ends at once is started again: the one before it, which was
// killed, may still have been there.
func (s *shell) start(b *block, c command) {
	s.t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var out *output
	var ended <-chan struct{}
	for {
		if ended == nil {
			out, ended = s.launch(c.line)
		}
		if missing(c.wants, out.String()) == "" {
			return
		}
		select {
		case <-tick.C:
		case <-ended:
			ended = nil
			<-tick.C
		case <-deadline:
			s.t.Fatalf("%v: %s\nprints\n%swithout the line\n%s", b, c.line, out, missing(c.wants, out.String()))
		}
	}
}

// launch starts a command; the channel is closed when it has ended.
func (s *shell) launch(line string) (*output, <-chan struct{}) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	out, ended := &output{}, make(chan struct{})
	cmd := s.command(ctx, "exec "+line)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait() // was killed, or says why in its output
		close(ended)
	}()
	s.t.Cleanup(func() {
		cancel()
		<-ended
	})
	return out, ended
}
