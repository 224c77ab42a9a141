package peers

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// Conversation commands a peer line by line, and reads what it says. It is used by one goroutine.
type Conversation struct {
	process *Process
	control net.Conn
	lines   *bufio.Scanner
}

// longestLine is the longest line that a peer may say.
const longestLine = 64 << 20

// converse starts a peer of Python that takes commands at the port that it announces. It is stopped when the test ends.
func converse(t testing.TB, script string, args ...string) *Conversation {
	t.Helper()
	process := start(t, Python(t), append([]string{script}, args...))
	control, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", process.Addr)
	if err != nil {
		t.Fatalf("connect to the peer: %v", err)
	}
	t.Cleanup(func() { _ = control.Close() })
	lines := bufio.NewScanner(control)
	lines.Buffer(nil, longestLine)
	return &Conversation{process: process, control: control, lines: lines}
}

// Do sends a command.
func (c *Conversation) Do(t testing.TB, format string, args ...any) {
	t.Helper()
	if _, err := fmt.Fprintf(c.control, format+"\n", args...); err != nil {
		t.Fatalf("command the peer: %v", err)
	}
}

// Await reads lines until one begins with prefix, and returns what follows. The test
// fails if none comes.
func (c *Conversation) Await(t testing.TB, prefix string) string {
	t.Helper()
	if err := c.control.SetReadDeadline(time.Now().Add(startLimit)); err != nil {
		t.Fatal(err)
	}
	var others []string
	for c.lines.Scan() {
		line := c.lines.Text()
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			return strings.TrimSpace(rest)
		}
		others = append(others, line)
	}
	t.Fatalf("the peer never said %q, but:\n%s", prefix, strings.Join(others, "\n"))
	return ""
}
