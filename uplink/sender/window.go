package sender

import (
	"time"

	"voltbus/uplink/window"
)

// answerWithin is how long answers to frames may take, on a link that is not far.
const answerWithin = time.Second

// laneWindow is how many bytes of a lane may be under way, and how large frames are with that.
type laneWindow struct{ window.Window }

// newWindow returns the window of a connection, of the bounds of both sides; 0 of the parent's is none.
// before is how far that of the last connection was open; 0 if there was none.
func newWindow(own, parents, before int64) laneWindow {
	most := own
	if parents > 0 {
		most = min(most, parents)
	}
	return laneWindow{window.New(most, before, answerWithin)}
}

// samples and text bound a frame: several must find place in the window.
func (w *laneWindow) samples(most int) int { return min(most, int(w.Open/16)) }

func (w *laneWindow) text() int { return min(maxText, int(w.Open/4)) }

// whole is how many bytes of a block go at once, and part how many if there are more.
func (w *laneWindow) whole() int { return int(min(w.Open/2, mostWhole)) }

func (w *laneWindow) part() int { return int(min(w.Open/4, mostPart)) }

const (
	mostWhole = 4 << 20 // what is around it must fit into a message of the bus too
	mostPart  = 1 << 20
)
