package point

import "time"

// Scan is the result of one pass over a device: the unit of a live message.
type Scan struct {
	Device  Path
	Slot    time.Time // scheduled time, UTC; zero for unscheduled reports
	Time    time.Time // when the answers arrived, UTC
	Samples []Sample  // each with its full path, which begins with Device
}
