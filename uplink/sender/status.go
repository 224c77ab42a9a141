package sender

import (
	"maps"
	"time"

	"voltbus/point"
	"voltbus/uplink"
)

// State is how the way up is.
type State string

// The states.
const (
	Connecting State = "connecting" // there is no connection; Err says why, once it is known
	Connected  State = "connected"
	Refused    State = "refused" // the parent does not want this node; it is asked again from time to time
)

// Status describes a sender.
type Status struct {
	State  State
	Since  time.Time     // of the state
	Err    error         // why there is no connection
	Parent string        // name of the parent, as it said last
	Prefix point.Path    // below which all points stand there
	Shared bool          // the parent stores into the same database as this node: points have the same names there
	RTT    time.Duration // of the greeting
	Offset time.Duration // the parent's clock less this one, half the way back taken into account; 0 if it did not say it
	Lanes  []Lane
	// Origins are those that were sent or asked about since the start, by name.
	Origins []Origin
}

// Lane describes a lane.
type Lane struct {
	Name   uplink.Lane
	Place  uint64    // sequence of the log up to which all is acknowledged
	Frames int       // under way
	Bytes  int64     // of them
	Oldest time.Time // when the oldest block that was read and is not acknowledged was closed; zero if there is none
	Sent   uint64    // bytes since the start
	Back   uint64    // times that the lane went back, since the parent missed something
}

// Origin counts samples of an origin since the start.
type Origin struct {
	Name         string
	Position     uplink.Position // what the parent has
	Sent         uint64
	Bytes        uint64
	Acknowledged uint64 // as blocks of the origin count, with those left out
	Left         uint64 // left out by the selection, here or before
	Repeated     uint64 // sent once more
	Dropped      uint64 // could not be sent: the log's bound had dropped them, or they were damaged
	Err          error  // why the parent does not take it; nil in normal operation

	high uint64
	gap  gap // that was counted last in Dropped
}

// gap is which samples of an origin are missing: behind from, up to to.
type gap struct{ from, to uint64 }

// new returns how many samples of a gap are not in the one before: the same is met at each pass until the parent has
// what stands behind it.
func (g gap) new(before gap) uint64 {
	both := min(g.to, before.to)
	return g.to - g.from - (both - min(both, max(g.from, before.from)))
}

// Status returns how it is now.
func (s *Sender) Status() Status { return s.monitor.snapshot() }

// State returns how the connection to the parent is, and since when.
func (s *Sender) State() (State, time.Time) { return s.monitor.state() }

// Place returns the sequence of the log up to which all lanes are acknowledged: what lies above
// still waits.
func (s *Sender) Place() uint64 { return s.checkpoint.place(s.log.ID()) }

// Acknowledged returns how far the parent has each origin, as far as this node remembers.
func (s *Sender) Acknowledged() map[string]uplink.Position {
	out := s.checkpoint.origins()
	maps.Copy(out, s.monitor.ahead(out))
	return out
}
