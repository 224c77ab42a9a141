package journal

import (
	"strings"
	"time"
)

// raisedFor is how long exceptions count after the last one.
const raisedFor = 10 * time.Minute

// maxRaised bounds the length of an exception's text.
const maxRaised = 200

// Raised counts exceptions that a process logged, until ten minutes pass without one.
type Raised struct {
	Count       int
	First, Last time.Time
	Text        string // the last line of the newest; untrusted
}

// Raised returns the recent exceptions; the zero Raised if there were none.
func (j *Journal) Raised() Raised {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.cfg.Now().Sub(j.raised.Last) > raisedFor {
		return Raised{}
	}
	return j.raised
}

// notice counts an entry that holds a traceback, as the SDK writes it or as Python prints it. The caller holds mu.
func (j *Journal) notice(e *Entry) {
	trace, _ := e.Extra["trace"].(string)
	if trace == "" && !strings.HasPrefix(e.Message, "Traceback (most recent call last)") {
		return
	}
	now := j.cfg.Now().UTC()
	if now.Sub(j.raised.Last) > raisedFor {
		j.raised = Raised{First: now}
	}
	j.raised.Count++
	j.raised.Last, j.raised.Text = now, e.Message
	if lines := strings.Split(strings.TrimSpace(trace), "\n"); trace != "" {
		j.raised.Text = lines[len(lines)-1]
	}
	if r := []rune(j.raised.Text); len(r) > maxRaised {
		j.raised.Text = string(r[:maxRaised]) + "…"
	}
}
