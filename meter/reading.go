package meter

import "time"

// Reading is a reading on its way in.
type Reading struct {
	Meter   string
	Channel int         // 0: that of the reading type
	Type    ReadingType // if the channel is 0
	End     time.Time   // of the interval
	Value   float64     // in the unit of the channel
	Sender  string      // who sent it to another node that passes it on; "" for who sends it here
}
