package federation

import (
	"sync"
	"time"
)

// Late nodes get less time in subsequent queries, so that a page with many charts does not wait for them with
// each chart.
const (
	lateFor = 5 * time.Second
	brief   = 250 * time.Millisecond
)

// lateness remembers which nodes did not answer in time. The zero value is empty.
type lateness struct {
	mu sync.Mutex
	of map[string]late
}

type late struct {
	at     time.Time
	waited time.Duration
}

func (l *late) counts() bool { return time.Since(l.at) < lateFor }

// patience returns how much of a time to wait for a child. If that time is longer than when the child was
// late, it is all of it.
func (l *lateness) patience(child string, whole time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if was := l.of[child]; whole <= was.waited && was.counts() {
		return min(whole, brief)
	}
	return whole
}

// note records that a child was late. The record of a longer wait stays.
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
