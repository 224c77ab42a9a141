// Package destination sends the readings of the log to systems of others: chosen ones, in the shape that the configuration says, each
// destination with a position of its own, so that one that is away loses nothing and slows nothing down. What it refuses for good is
// kept in a file, to be looked at and sent again. A Writer speaks the protocol of one kind of destination.
//
// A destination gets every reading at least once: after a crash or a lost connection the last ones are sent again. Those that keep one
// value for each point and time then hold each once.
package destination

import (
	"context"
	"time"

	"voltbus/point"
	"voltbus/sink/setting"
)

// Writer sends readings to one destination. Its methods are called by several goroutines at a time if it allows more than one request at a time.
type Writer interface {
	// Write returns when the destination confirmed that it has the rows, but for those that it refused for good: these are returned
	// with its reasons. After an error some of the rows may be there, and all are sent again. The rows are the caller's again when it
	// returns. It does not wait longer than ctx.
	Write(ctx context.Context, rows []Row) ([]Refusal, error)
	// Close ends connections. Write opens new ones.
	Close() error
}

// Maker makes the Writer of an entry. It does not connect.
type Maker func(s *setting.Sink, e Environment) (Writer, error)

// Environment is what a Writer may know of its node.
type Environment struct {
	Node string // its name
	Dir  string // its data directory
}

// Kind is a kind of destination.
type Kind struct {
	Make     Maker
	Batch    int // rows in a request, unless the configuration says otherwise
	Parallel int // requests at a time
	// Files is true for a destination that keeps each Write as a file: the position is stored after each, and rows tell their Part, so that a
	// file that is written again has the name that it had.
	Files bool
	Every time.Duration // how long rows wait for others, unless the configuration says otherwise; 0 for no longer than needed
}

// Row is a reading on its way.
type Row struct {
	*Shape

	Time    int64 // microseconds since 1970 UTC
	Value   point.Value
	Quality point.Quality
	// Part names the block of the log, or the piece of the history, that the row comes from, in letters, digits and -. Only for Files.
	Part string
}

// Shape is what the rows of a point have in common.
type Shape struct {
	Point point.Path
	Name  string // what it is called at the destination
	Unit  string // after the conversion, "" if unknown
	Tags  []Tag  // by name

	factor, offset float64 // factor 0 for no conversion
}

// Tag is sent with each reading of a point.
type Tag struct{ Name, Text string }

// Refusal is a row that a destination does not accept, whenever it is sent.
type Refusal struct {
	Row    int // index
	Reason string
}
