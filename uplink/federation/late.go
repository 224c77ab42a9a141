package federation

import (
	"sync"
	"time"
)

// Who was late is given less time by the questions that follow, so that a page with many charts does
// not wait for it with each of them.
const (
	lateFor = 5 * time.Second
	brief   = 250 * time.Millisecond
)

// lateness remembers who did not answer in time. The zero value knows of nobody.
type lateness struct {
	mu sync.Mutex
	of map[string]late
}

type late struct {
	at     time.Time
	waited time.Duration
}

func (l *late) counts() bool { return time.Since(l.at) < lateFor }

// patience returns how long a child is waited for, of a time. One that may have longer than it had
// when it was late has all of it.
func (l *lateness) patience(child string, whole time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if was := l.of[child]; whole <= was.waited && was.counts() {
		return min(whole, brief)
	}
	return whole
}

// note takes down that a child was late. What is remembered of a longer wait stays.
func (l *lateness) note(child string, waited time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if was := l.of[child]; waited < was.waited && was.counts() {
		return
	}
	if l.of == nil {
		l.of = map[string]late{}
	}
	l.of[child] = late{time.Now(), waited}
}
