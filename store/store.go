// Package store is the contract of the history: how samples are stored and queried. A store is a sink of the log with its own position;
// samples and position are committed in one transaction, so that a crash neither loses nor repeats a sample.
package store

import (
	"context"
	"time"

	"voltbus/point"
)

// Store keeps samples. All methods are safe for concurrent use; Append is called by one goroutine at a time.
// Methods return fault.Unavailable when the disk is full, fault.Corrupt when stored data is damaged,
// fault.Invalid for a query that cannot be answered as requested.
type Store interface {
	// Append durably commits blocks and the positions after them in one transaction. Blocks whose sequence
	// number is not above the origin's position are repeats: dropped and counted. A block that spans the
	// position is stored again as a whole, and its part below is counted as repeated. A jump in the sequence
	// is recorded as a Gap. The caller owns the blocks again when Append returns; after an error none of them
	// was stored.
	Append(ctx context.Context, blocks []*point.Block) (Result, error)

	// Cursor returns how far a log is stored: the Log and LogSequence of the last block given
	// to Append (repeats count too), committed in the same transaction as its samples. Blocks
	// whose Log is empty leave it as it is. Empty and 0 before the first.
	Cursor(ctx context.Context) (log string, sequence uint64, err error)

	// Positions returns, per origin, the last block stored.
	Positions(ctx context.Context) (map[string]Position, error)

	// Gaps lists what is known to be missing, newest first, at most limit.
	Gaps(ctx context.Context, limit int) ([]Gap, error)

	// Points lists the paths that have or had samples, in path order.
	Points(ctx context.Context) ([]point.Path, error)

	// Latest returns the newest sample (by time) of each point, in the order requested; a point without any
	// has the zero Sample. It does not access the disk.
	Latest(ctx context.Context, paths []point.Path) ([]point.Sample, error)

	// Read calls emit with runs of samples ordered by point (in the order requested), then time. Of several
	// samples of a point with the same time the one stored last is returned. The slice is reused after emit
	// returns. An error from emit ends the read and is returned.
	Read(ctx context.Context, r Range, emit func([]point.Sample) error) error

	// Aggregate returns one Series per point, in the order requested, with one Bucket for each step that
	// contains samples. Quantiles that need too much memory give fault.Invalid.
	Aggregate(ctx context.Context, q Query) ([]Series, error)

	// Count returns, for each point in the order requested, the number of samples in each step that are not
	// bad: one figure per step from From on, including empty steps; nil for a point without any. Limit,
	// Newest and Edges do not apply. Steps of whole hours that begin on the hour are fast however long the
	// range is.
	Count(ctx context.Context, q Query) ([][]uint32, error)

	// Maintain closes ended days, merges late samples, and drops days beyond the retention. It is called
	// every few minutes and returns when nothing is left to do.
	Maintain(ctx context.Context, now time.Time) error

	// Stats describes the store's state and size.
	Stats(ctx context.Context) (Stats, error)

	Close() error
}

// Position is how far an origin's blocks are stored.
type Position struct {
	Sequence uint64    // of the last block stored
	Samples  uint64    // Block.End of it: everything the origin ever acknowledged = Stored + Missing + Left
	Stored   uint64    // samples of the origin that were stored
	Repeated uint64    // samples of the origin dropped as repeats
	Missing  uint64    // samples of the origin in gaps
	Left     uint64    // samples of the origin left out on the way here
	Refused  uint64    // Block.Refused of it
	Time     time.Time // Block.Created of it
}

// Gap is a run of blocks that never arrived.
type Gap struct {
	Origin  string
	First   uint64 // first missing sequence
	Last    uint64 // last missing sequence
	Samples uint64 // samples in them
	Reason  string // Block.Lost of the block after the gap: "dropped" (by the log's size limit) or "corrupt"; "unknown" if empty
	Noticed time.Time
}

// Result is the result of Append.
type Result struct {
	Stored   int // samples stored
	Repeated int // samples dropped as repeats
	Missing  uint64
}

// Range selects samples of points with From ≤ time < To.
type Range struct {
	Points   []point.Path
	From     time.Time
	To       time.Time
	Limit    int  // maximum samples per point; 0 for all
	Newest   bool // with Limit: the newest ones instead of the oldest
	GoodOnly bool // leave out samples of bad quality
}

// Query is an aggregation: each point's samples in the Range, except bad ones, in buckets of Step that start
// at From + n·Step, or, if Edges are given, in buckets from each edge to the next, whatever their length.
type Query struct {
	Range
	Step   time.Duration
	Edges  []time.Time // two or more, ascending, with microsecond resolution at most; From and To lie between the first and the last
	Extras Extras
}

// Bucket summarises the numeric samples of one step. Text has only Count, First and Last times.
type Bucket struct {
	Start     time.Time
	Count     uint64 // samples that are not bad
	Bad       uint64 // samples of bad quality
	Mean      float64
	Min       float64
	Max       float64
	Sum       float64
	First     float64
	Last      float64
	FirstTime time.Time
	LastTime  time.Time
	MinTime   time.Time
	MaxTime   time.Time
	Extra     *Extra // nil unless the query requests Extras
}

// Series is the answer for one point.
type Series struct {
	Point   point.Path
	Buckets []Bucket
}

// Stats describes a store.
type Stats struct {
	Points   int       // points that have samples
	Samples  uint64    // samples kept, in open and closed days
	Bytes    int64     // on disk
	Oldest   time.Time // first day kept; zero if empty
	Newest   time.Time // newest sample
	Open     int       // days in the table
	Closed   int       // days in files
	Damaged  []Damage  // files or blocks set aside, with the reason
	Replaced uint64    // samples superseded by a newer one with the same point and time
	Expired  uint64    // samples dropped by the retention
	// Overwritten counts those of Replaced that differed in value or quality. The others are repeats. For samples
	// older than others of their point, a store may find this out only when their day is closed.
	Overwritten uint64
}

// Damage is a part of the history that cannot be read. The rest is served.
type Damage struct {
	File    string
	From    time.Time
	To      time.Time
	Reason  string
	Noticed time.Time
}

// SQL is a Store that answers read-only SQL.
type SQL interface {
	// SQL runs one read-only statement and calls columns once, then row for each row, with
	// values of type nil, bool, int64, float64, string or time.Time. A statement that would
	// change anything, read other files or use the network gives fault.Refused; one that
	// runs longer than ctx allows fault.Timeout.
	SQL(ctx context.Context, statement string, columns func([]string) error, row func([]any) error) error
}

// Exporter is a Store that itself writes samples of a range to a Parquet file, with the columns point, time,
// value, exact, text, kind and quality: day by day in UTC, within a day by point and then time.
type Exporter interface {
	// ExportParquet writes the file and returns the number of samples.
	ExportParquet(ctx context.Context, r Range, file string) (int64, error)
}

// MixedExporter is an Exporter that can include samples that it does not contain.
type MixedExporter interface {
	Exporter
	// ExportMixed writes the file as if the added samples were stored after all others: they take precedence
	// at equal times. They must lie in the range, by point in time order and one for each time. Points
	// unknown to the store come after the others of their day, in path order.
	ExportMixed(ctx context.Context, r Range, added map[point.Path][]point.Sample, file string) (int64, error)
}
