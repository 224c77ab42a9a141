// Package window decides how many blocks a sender may have in flight.
package window

import (
	"cmp"
	"time"
)

// Window is how many bytes may be in flight on a link. Data in flight cannot be overtaken: on a slow link
// megabytes of a backlog would delay an alarm for minutes, and also the keep-alives by which both sides know
// that the connection is alive. So it opens only as far as answers come within a given time.
type Window struct {
	Open   int64         // bytes that may now be in flight
	Most   int64         // Open is never more
	Within time.Duration // how long answers may take, or twice the fastest one on a link with a long round trip

	fastest time.Duration // fastest answer on this connection
	shrunk  time.Time     // the last time that answers took too long
}

// Initial bounds of a window.
const (
	First = 64 << 10
	Least = 16 << 10
)

// New returns the window of a connection. before is the size at the end of the last connection; 0 if there
// was none.
func New(most, before int64, within time.Duration) Window {
	return Window{Open: min(First, most, cmp.Or(before, First)), Most: most, Within: within}
}

// Lost adjusts the window at the end of a connection on which data in flight went unanswered for so long.
func (w *Window) Lost(since time.Duration) {
	if since > max(w.Within, 2*w.fastest) {
		w.Open = max(min(Least, w.Most), w.Open/4)
	}
}

// Answered adjusts the window on the answer to a frame of so many bytes sent at a given time. under is the
// number of bytes in flight with it.
func (w *Window) Answered(sent time.Time, octets, under int64, now time.Time) {
	took := now.Sub(sent)
	w.fastest = min(cmp.Or(w.fastest, took), took)
	within := max(w.Within, 2*w.fastest)
	switch {
	case took > within && sent.After(w.shrunk):
		w.Open = max(min(Least, w.Most), w.Open*max(int64(within), int64(took/2))/int64(took))
		w.shrunk = now
	case took <= within/2 && under >= w.Open/2: // the window was used
		w.Open = min(w.Most, w.Open+octets)
	}
}

// Overdue reports whether the answer to a frame sent at a given time is late, so that it is better to wait
// for it than to send more.
func (w *Window) Overdue(sent, now time.Time) bool {
	return now.Sub(sent) > max(w.Within, 2*w.fastest)
}
