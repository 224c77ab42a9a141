package rig

import (
	"bytes"
	"strings"
	"sync"
)

// LastWords keeps the last bytes that a process wrote, to explain why it ended. The zero value is
// ready; it is safe for concurrent use.
type LastWords struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

const mostWords = 2000

// Write implements io.Writer.
func (w *LastWords) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Write(b)
	if over := w.buf.Len() - mostWords; over > 0 {
		w.buf.Next(over)
	}
	return len(b), nil
}

// String returns what is kept.
func (w *LastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.TrimSpace(w.buf.String())
}
