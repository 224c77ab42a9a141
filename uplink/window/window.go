// Package window decides how many blocks a sender may have in flight.
package window

import (
	"cmp"
	"time"
)

// Window is how many bytes may be under way on a link. What is under way cannot be overtaken: on a
// slow link megabytes of a backlog would stand before an alarm for minutes, and before the signs of
// life by which both sides know that the connection is there. So it is opened as far as answers
// come within a time, and no further.
type Window struct {
	Open   int64         // bytes that may be under way now
	Most   int64         // Open is never more
	Within time.Duration // how long answers may take, or twice what the fastest took, on a link that is far

	fastest time.Duration // answer on this connection
	shrunk  time.Time     // the last time that answers took too long
}

// The bounds of a window at its beginning.
const (
	First = 64 << 10
	Least = 16 << 10
)

// New returns the window of a connection. before is how far that of the last connection was open; 0 if
// there was none.
func New(most, before int64, within time.Duration) Window {
	return Window{Open: min(First, most, cmp.Or(before, First)), Most: most, Within: within}
}

// Lost learns from the end of a connection on which nothing came for so long of what was sent.
func (w *Window) Lost(since time.Duration) {
	if since > max(w.Within, 2*w.fastest) {
		w.Open = max(min(Least, w.Most), w.Open/4)
	}
}

// Answered learns from the answer to a frame of so many bytes that was sent at a time. under are all
// bytes that were under way with it.
func (w *Window) Answered(sent time.Time, octets, under int64, now time.Time) {
	took := now.Sub(sent)
	w.fastest = min(cmp.Or(w.fastest, took), took)
	within := max(w.Within, 2*w.fastest)
	switch {
	case took > within && sent.After(w.shrunk):
		w.Open = max(min(Least, w.Most), w.Open*max(int64(within), int64(took/2))/int64(took))
		w.shrunk = now
	case took <= within/2 && under >= w.Open/2: // it was needed
		w.Open = min(w.Most, w.Open+octets)
	}
}

// Overdue reports whether the answer to a frame that was sent at a time is late, so that it is better to wait
// for it than to send more.
func (w *Window) Overdue(sent, now time.Time) bool {
	return now.Sub(sent) > max(w.Within, 2*w.fastest)
}
