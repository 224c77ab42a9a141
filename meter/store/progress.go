package store

import (
	"context"
	"time"
)

// Progressive is what an engine is that can tell how far a day is, hour by hour, without reading each history.
type Progressive interface {
	Progress(ctx context.Context, d Day) (Progress, error)
}

// Progress is how far a day is.
type Progress struct {
	Hours []Hour // of the local day: 23 or 25 when the clock changes
	// Within is how many raw readings came within each of Delays after the end of their interval.
	Within []uint64
}

// Hour is the intervals that begin in one hour. An interval counts for what is known of it now: edited, else estimated, validated or doubted.
type Hour struct {
	From                                  time.Time
	Expected                              uint64
	Received                              uint64 // have a raw reading
	Validated, Doubted, Estimated, Edited uint64
}

// Delays are the times after the end of an interval for which Progress tells how many readings came.
func Delays() []time.Duration {
	return []time.Duration{
		15 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour, 72 * time.Hour,
	}
}
