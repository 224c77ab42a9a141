package point

import "time"

// Scan is what one pass over a device gave: the unit of a live message.
type Scan struct {
	Device  Path
	Slot    time.Time // when the schedule wanted it, UTC; zero for reports that no schedule asked for
	Time    time.Time // when the answers came, UTC
	Samples []Sample  // each with its full path, which begins with Device
}
