//go:build !faketime

package clock

import "time"

// Simulated reports whether this program has the simulated time of Go's runtime: it is built with the tag faketime and without C.
const Simulated = false

// Begin does nothing: the time is that of the machine.
func Begin(time.Time) {}
