//go:build faketime

package clock

import (
	"time"
	_ "unsafe" // for the name below
)

// Simulated reports whether this program has the simulated time of Go's runtime: it is built with the tag faketime and without C.
const Simulated = true

// now is the clock of the runtime, in nanoseconds since 1970. The linker lets it through with -checklinkname=0.
//
//go:linkname now runtime.faketime
var now int64

// Begin sets the time, before anything waits. Otherwise it begins in 2009, and whatever repeats would do so from then on.
func Begin(at time.Time) { now = at.UnixNano() }
