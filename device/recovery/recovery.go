package recovery

import (
	"context"
	"log/slog"
	"time"

	"voltbus/device/acquisition"
	"voltbus/point"
)

// History is where samples are kept.
type History struct {
	// Read calls emit with the recorded samples of a point that are not bad, in the order of their times; nil for a node that
	// stores none itself.
	Read func(ctx context.Context, p point.Path, from, to time.Time, emit func([]point.Sample) error) error
	// Record stores samples, and returns when they are on disk.
	Record func(ctx context.Context, samples []point.Sample) error
}

// Options configure a Recovery.
type Options struct {
	History

	Fleet Fleet
	Log   *slog.Logger
	Now   func() time.Time
}

// New returns a part that fills the gaps of devices that were away. It does nothing before Run.
func New(o Options) *Watch {
	return &Watch{
		Fleet: o.Fleet, Log: o.Log, Now: o.Now, Task: "fill gaps from the log of the device",
		Do: func(ctx context.Context, c acquisition.Config, away Absence) error {
			f := fill{Options: &o, device: c, lost: away.Lost, back: away.Back}
			return f.run(ctx)
		},
	}
}
