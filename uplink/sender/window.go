package sender

import (
	"cmp"
	"time"
)

// window is how many octets of a lane may be under way. What is under way cannot be overtaken: on a
// slow link megabytes of a backlog would stand before an alarm for minutes, and before the signs of
// life by which both sides know that the connection is there. So it is opened as far as the parent
// answers within a second or so, and no further.
type window struct {
	open    int64 // octets that may be under way now
	most    int64
	fastest time.Duration // answer on this connection
	shrunk  time.Time     // the last time that answers took too long
}

const (
	firstWindow  = 64 << 10
	leastWindow  = 16 << 10
	answerWithin = time.Second // or twice what the fastest answer took, on a link that is far
)

// newWindow returns the window of a connection, of the bounds of both sides; 0 of the parent's is none.
// before is how far that of the last connection was open; 0 if there was none.
func newWindow(own, parents, before int64) window {
	most := own
	if parents > 0 {
		most = min(most, parents)
	}
	return window{open: min(firstWindow, most, cmp.Or(before, firstWindow)), most: most}
}

// lost learns from the end of a connection on which nothing came of what was sent.
func (w *window) lost(since time.Duration) {
	if since > max(answerWithin, 2*w.fastest) {
		w.open = max(min(leastWindow, w.most), w.open/4)
	}
}

// answered learns from the answer to a frame. octets are all that were under way with it.
func (w *window) answered(f *flying, octets int64, now time.Time) {
	took := now.Sub(f.sent)
	w.fastest = min(cmp.Or(w.fastest, took), took)
	within := max(answerWithin, 2*w.fastest)
	switch {
	case took > within && f.sent.After(w.shrunk):
		w.open = max(min(leastWindow, w.most), w.open*max(int64(within), int64(took/2))/int64(took))
		w.shrunk = now
	case took <= within/2 && octets >= w.open/2: // it was needed
		w.open = min(w.most, w.open+f.octets)
	}
}

// samples and text bound a frame: several must find place in the window.
func (w *window) samples(most int) int { return min(most, int(w.open/16)) }

func (w *window) text() int { return min(maxText, int(w.open/4)) }

// whole is how many octets of a block go at once, and part how many if there are more.
func (w *window) whole() int { return int(min(w.open/2, mostWhole)) }

func (w *window) part() int { return int(min(w.open/4, mostPart)) }

const (
	mostWhole = 4 << 20 // what is around it must fit into a message of the bus too
	mostPart  = 1 << 20
)
