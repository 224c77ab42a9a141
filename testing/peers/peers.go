// Package peers starts the peers of the interoperability tests: independent programs such as pymodbus, in their own processes on
// loopback.
package peers

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// EnvPython names the environment variable that overrides the interpreter.
const EnvPython = "VOLTBUS_PEERS_PYTHON"

// startLimit is how long a peer may take to say that it is ready.
const startLimit = 2 * time.Minute

// Python returns a Python interpreter with the packages of requirements.txt: the one that
// VOLTBUS_PEERS_PYTHON names, else .venv/bin/python below the root of the repository. The test
// fails if there is none.
func Python(t testing.TB) string {
	t.Helper()
	python := os.Getenv(EnvPython)
	if python == "" {
		python = filepath.Join(folder(), "..", "..", ".venv", "bin", "python")
	}
	probe := exec.CommandContext(t.Context(), python, "-c", "import pymodbus, serial")
	if out, err := probe.CombinedOutput(); err != nil {
		t.Fatalf("no Python with the peers of the interop tests (%v): run `make peers`\n%s", err, out)
	}
	return python
}

// Root is the directory of the module that the test runs in: the nearest parent of the working directory that has
// a go.mod. It does not depend on the paths that the compiler wrote into the program, so that tests run with -trimpath.
func Root() string {
	start, err := os.Getwd()
	if err != nil {
		return "."
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return start
		}
	}
}

func folder() string { return filepath.Join(Root(), "testing", "peers") }

// Process is a running peer. It is used by one goroutine.
type Process struct {
	Addr string // host:port it serves; meaningless for a serial peer

	cmd    *exec.Cmd
	stdin  io.WriteCloser
	ended  chan struct{}
	output *strings.Builder // what it wrote to standard error; complete after ended
	said   strings.Builder  // what it wrote to standard output after "ready", up to maxSaid; complete after ended
}

// Modbus starts modbus_server.py with more arguments, such as "--framer", "rtu", and waits until
// it is ready. It is stopped when the test ends.
func Modbus(t testing.TB, args ...string) *Process {
	t.Helper()
	script := filepath.Join(folder(), "modbus_server.py")
	return start(t, Python(t), append([]string{script}, args...))
}

func start(t testing.TB, program string, args []string) *Process {
	t.Helper()
	p := &Process{ended: make(chan struct{}), output: &strings.Builder{}}
	p.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), program, args...)
	p.cmd.Stderr = p.output
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatalf("open standard input of the peer: %v", err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatalf("open standard output of the peer: %v", err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("start the peer: %v", err)
	}
	p.stdin = stdin
	t.Cleanup(p.Stop)

	watchdog := time.AfterFunc(startLimit, func() { _ = p.cmd.Process.Kill() })
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	watchdog.Stop()
	go p.wait(lines)
	port, ready := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if err != nil || !ready {
		p.Kill()
		t.Fatalf("the peer did not get ready: %q, %v\n%s", line, err, p.output)
	}
	p.Addr = net.JoinHostPort("127.0.0.1", port)
	return p
}

// wait drains the peer's output until it ends.
func (p *Process) wait(stdout io.Reader) {
	defer close(p.ended)
	_, _ = io.CopyN(&p.said, stdout, maxSaid)
	_, _ = io.Copy(io.Discard, stdout)
	_ = p.cmd.Wait()
}

// maxSaid bounds what is kept of a peer's output.
const maxSaid = 1 << 20

// Lines waits until the peer ends by itself and returns what it printed after "ready". The test
// fails when it ends with an error.
func (p *Process) Lines(t testing.TB) []string {
	t.Helper()
	watchdog := time.AfterFunc(startLimit, func() { _ = p.cmd.Process.Kill() })
	defer watchdog.Stop()
	<-p.ended
	if !p.cmd.ProcessState.Success() {
		t.Errorf("the peer ended with %v\n%s", p.cmd.ProcessState, p.output)
	}
	return strings.Split(strings.TrimSpace(p.said.String()), "\n")
}

// Say writes a line to the standard input of the peer.
func (p *Process) Say(t testing.TB, line string) {
	t.Helper()
	if _, err := io.WriteString(p.stdin, line+"\n"); err != nil {
		t.Errorf("tell the peer %q: %v", line, err)
	}
}

// Stop asks the peer to end by closing its standard input and waits; a peer that does not end
// within some seconds is killed. It may be called twice.
func (p *Process) Stop() {
	_ = p.stdin.Close()
	watchdog := time.AfterFunc(5*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer watchdog.Stop()
	<-p.ended
}

// Kill ends the peer at once, as a power cut would, and waits. It may be called twice.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// Port returns the port of Addr, to start a peer again on the same one.
func (p *Process) Port() string {
	_, port, err := net.SplitHostPort(p.Addr)
	if err != nil {
		return fmt.Sprintf("no port in %q", p.Addr)
	}
	return port
}
