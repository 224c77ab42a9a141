package peers

import (
	"bufio"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// DNP3 is a master or an outstation made of opendnp3, which a test commands; the commands
// and what it answers stand in dnp3_peer.py. It is used by one goroutine.
type DNP3 struct {
	process *Process
	control net.Conn
	lines   *bufio.Scanner
}

// StartDNP3 starts dnp3_peer.py. It is stopped when the test ends.
func StartDNP3(t testing.TB) *DNP3 {
	t.Helper()
	process := start(t, Python(t), []string{filepath.Join(folder(), "dnp3_peer.py")})
	control, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", process.Addr)
	if err != nil {
		t.Fatalf("connect to the peer: %v", err)
	}
	t.Cleanup(func() { _ = control.Close() })
	return &DNP3{process: process, control: control, lines: bufio.NewScanner(control)}
}

// Do sends a command.
func (d *DNP3) Do(t testing.TB, format string, args ...any) {
	t.Helper()
	if _, err := fmt.Fprintf(d.control, format+"\n", args...); err != nil {
		t.Fatalf("command the peer: %v", err)
	}
}

// Await reads lines until one begins with prefix, and returns what follows. The test
// fails if none comes.
func (d *DNP3) Await(t testing.TB, prefix string) string {
	t.Helper()
	if err := d.control.SetReadDeadline(time.Now().Add(startLimit)); err != nil {
		t.Fatal(err)
	}
	var others []string
	for d.lines.Scan() {
		line := d.lines.Text()
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			return strings.TrimSpace(rest)
		}
		others = append(others, line)
	}
	t.Fatalf("the peer never said %q, but:\n%s", prefix, strings.Join(others, "\n"))
	return ""
}
