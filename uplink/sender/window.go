package sender

import (
	"time"

	"voltbus/uplink/window"
)

// answerWithin is how long answers to frames may take, on a link with a short round trip.
const answerWithin = time.Second

// laneWindow is how many bytes of a lane may be in flight, and how large frames are accordingly.
type laneWindow struct{ window.Window }

// newWindow returns the window of a connection, with the bounds of both sides; 0 means no bound at the
// parent. before is the size at the end of the last connection; 0 if there was none.
func newWindow(own, parents, before int64) laneWindow {
	most := own
	if parents > 0 {
		most = min(most, parents)
	}
	return laneWindow{window.New(most, before, answerWithin)}
}

// samples and text bound a frame: several must fit into the window.
func (w *laneWindow) samples(most int) int { return min(most, int(w.Open/16)) }

func (w *laneWindow) text() int { return min(maxText, int(w.Open/4)) }

// whole is the largest block sent at once, and part the size of parts of larger ones, in bytes.
func (w *laneWindow) whole() int { return int(min(w.Open/2, mostWhole)) }

func (w *laneWindow) part() int { return int(min(w.Open/4, mostPart)) }

const (
	mostWhole = 4 << 20 // its envelope must also fit into a bus message
	mostPart  = 1 << 20
)
