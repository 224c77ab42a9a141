// Package store is the contract of the metering store: meters with their channels and places, and readings with
// all their versions. A store is a sink of the node's log: readings and the place in the log are committed in one
// transaction, so that a crash neither loses nor repeats a reading.
//
// Readings lie by local days of one time zone, that of the bills: see Calendar.
package store

import (
	"context"
	"time"

	"voltbus/meter"
)

// Store keeps meters and readings. All methods are safe for concurrent use. They return fault.Invalid for
// what cannot be as asked, fault.NotFound for a meter that is not registered, fault.Conflict for a change that
// contradicts what is there, fault.Unavailable when the disk is full or the store is closed.
type Store interface {
	Registry
	Keeper
	Judged
	EventKeeper
	// Stats describes the store's state and size.
	Stats(ctx context.Context) (Stats, error)
	Close() error
}

// Registry keeps meters and where they are installed.
type Registry interface {
	// Register adds meters in one transaction. A meter that is there with the same channels is left as it is; one
	// with other channels is refused, as is one that is wrong by itself. The others are registered all the same.
	// Readings that came before their meter was registered are its readings from then on.
	Register(ctx context.Context, list []Registration) (Registered, error)
	// Meter returns a meter.
	Meter(ctx context.Context, id string) (meter.Meter, error)
	// Meters lists meters in the order in which they were registered, at most limit, behind the one with the id after; from
	// the first if it is empty.
	Meters(ctx context.Context, after string, limit int) ([]meter.Meter, error)
	// Exchange removes the meter of a service point at a moment and installs another, which is registered and not
	// installed elsewhere then.
	Exchange(ctx context.Context, servicePoint, id string, at time.Time) error
	// Installations returns which meters were at a service point, the first one first.
	Installations(ctx context.Context, servicePoint string) ([]meter.Installation, error)
	// Knows reports for each key whether its meter has such a channel. It does not touch the disk.
	Knows(dst []bool, keys []ChannelKey) []bool
	// KnowsMeter reports whether a meter is registered. It does not touch the disk.
	KnowsMeter(id string) bool
	// ChannelOf returns the number of the channel of a meter with a reading type; false if it has none. It does not
	// touch the disk.
	ChannelOf(id string, t meter.ReadingType) (int, bool)
}

// Keeper keeps readings.
type Keeper interface {
	// Append stores raw readings and the place behind them in the log in one transaction, durably. All are
	// recorded at one moment, which is not before that of any other call. Readings of channels that are not
	// registered are kept until they are. The batch belongs to the caller again when Append returns; with an error
	// nothing of it was stored.
	Append(ctx context.Context, b *Batch) (Result, error)
	// Cursor returns the place in the log of the last batch that had one; empty and 0 before the first.
	Cursor(ctx context.Context) (log string, sequence uint64, err error)
	// Waiting returns how many readings wait for their channel to be registered: all, and those in blocks of the origins that are meant.
	Waiting(meant func(origin string) bool) (of, all uint64)
	// Revise adds versions by people or rules, in one transaction, recorded now: after all that is there. Stage, Origin, Status, Value and End
	// of the versions count; Recorded does not. Raw versions are refused.
	Revise(ctx context.Context, key ChannelKey, versions []meter.Version) error
	// History returns all versions of a channel's intervals that end after from and not after to.
	History(ctx context.Context, key ChannelKey, from, to time.Time) (*meter.History, error)
	// Missing lists the intervals of a local day that have no raw reading, of channels with an interval whose meter
	// was expected that day: installed, or registered without a place.
	Missing(ctx context.Context, q MissingQuery) (Missing, error)
}

// Judged keeps what validation says.
type Judged interface {
	// Days lists the local days that have readings, the oldest first.
	Days(ctx context.Context) ([]DayState, error)
	// Judge calls judge for the channels of a day that have an interval and readings which are not judged yet, that are
	// expected and not judged at all, or that were judged by readings of other days which changed since. It goes through the
	// channels in slices, and stores what was said of a slice in one transaction; between them readings are taken in, and
	// those of the day that come meanwhile wait for the next call. The ChannelDay is valid until judge returns, which is called by one
	// goroutine at a time. An error of judge ends it: the slices before stay, the others are judged by the next call.
	Judge(ctx context.Context, d Day, judge func(*ChannelDay) error) (Judgement, error)
	// Exceptions lists what validation doubts and nobody dealt with, the newest day first.
	Exceptions(ctx context.Context, q ExceptionQuery) ([]Exception, error)
	// Settle takes an exception from the queue, with who did it and why.
	Settle(ctx context.Context, number uint64, who, why string) error
}

// ChannelKey names a channel.
type ChannelKey struct {
	Meter   string
	Channel int
}

// Registration is a meter with where it is.
type Registration struct {
	Meter        meter.Meter
	ServicePoint string    // "" if it is installed nowhere
	Premises     string    // of the service point; "" if unknown
	From         time.Time // since when it is installed, or expected to deliver; zero: always
}

// Registered is what Register did.
type Registered struct {
	Added   int // meters that are new
	Known   int // meters that were there with the same channels
	Adopted int // readings that came before their meter
	Refused []Refusal
}

// Refusal says why an entry of a list was refused.
type Refusal struct {
	Index  int
	Reason string
}

// Result is what Append did.
type Result struct {
	Stored   int       // readings of registered channels
	Strays   int       // readings that wait for their channel
	Left     int       // readings that are not finite numbers: left out
	Recorded time.Time // the moment from which on they are known
}

// MissingQuery asks for what is missing of a day.
type MissingQuery struct {
	Day   Day
	After string // the meter behind which the list begins; "" for the first
	Limit int    // most channels in the list; 0 for only the counts
	Brief bool   // the list has no Ends
	// Meant reports which meters are asked for; nil for all.
	Meant func(meter string) bool
}

// Missing is what is missing of a day. The counts are of all channels, the list is a page of them.
type Missing struct {
	Expected uint64 // intervals
	Received uint64 // of them those with a raw reading
	Channels uint64 // with an interval without one
	List     []MissingChannel
	More     bool // there are more behind the list
}

// MissingChannel is a channel with the intervals of the day that it lacks, as ends.
type MissingChannel struct {
	ChannelKey
	First time.Time // the end of the first
	Count int
	Ends  []time.Time // of all; nil in a brief list
}

// DayState is how far a day is.
type DayState struct {
	Day     Day
	Judged  bool   // it was judged, and nothing waits
	Rows    uint64 // versions that are stored, with those that wait to be judged
	Waiting uint64 // versions, and channels that depend on other days, that wait to be judged
}

// ChannelDay is the intervals of one local day of a channel, in columns, for validation.
type ChannelDay struct {
	Key       ChannelKey
	Commodity meter.Commodity
	Channel   *meter.Channel // as it is registered
	Day       Day
	Ends      []int64   // of the intervals, Unix microseconds
	Values    []float64 // the newest raw readings; NaN where there is none
	Again     bool      // the channel was judged before: late or corrected readings came, of this day or of others
	OffGrid   int       // readings of the day that end where no interval of the channel does

	// Before and After are the last values of the day before and the first of the day behind, as many as Around says;
	// NaN where there is none, or it is doubted.
	Before, After []float64
	Advances      []Advance // of the register of the same quantity; none if it was not read
	UsualSum      float64   // mean of the sums of like days; NaN when unknown
	HighestValue  float64   // of the PastDays before that nothing was found about; NaN when unknown
	// Past returns the values that count of the intervals of an earlier day, NaN where there is none; nil if nothing is
	// known of that day.
	Past func(Day) []float64

	// What judge says.
	Status    []uint32  // of each interval, as package vee defines
	Estimates []float64 // in place of what is missing or doubted; NaN for none
	Rules     []string  // that estimated them
	Rule      string    // the set of rules, with its version
	Exception bool      // somebody should look at it
	Uses      []Day     // other days whose readings the estimates were made of, or would be
}

// Judgement is what Judge did.
type Judgement struct {
	Channels, Validated, Doubted, Estimated, Exceptions int
}

// ExceptionQuery asks for exceptions.
type ExceptionQuery struct {
	Meter string // "" for all
	Limit int    // the most; 0 for 100
	// Meant reports of which meters; nil for all.
	Meant func(meter string) bool
}

// Exception is a day of a channel that validation doubts.
type Exception struct {
	Number  uint64 // of the exception, from 1
	Key     ChannelKey
	Day     Day
	Status  uint32 // the bits of all its intervals
	Count   int    // intervals with a bit
	Noticed time.Time
}

// Stats describes a store.
type Stats struct {
	Meters   int
	Channels int
	Rows     uint64 // versions stored; a raw reading that passed validation unchanged counts once
	Strays   uint64 // readings of channels that are not registered
	Bytes    int64  // on disk
	Days     int
}
