package sender

import (
	"maps"
	"time"

	"voltbus/point"
	"voltbus/uplink"
)

// State is the state of the uplink.
type State string

// The states.
const (
	Connecting State = "connecting" // there is no connection; Err says why, once it is known
	Connected  State = "connected"
	Refused    State = "refused" // the parent refuses this node; it is retried from time to time
)

// Status describes a sender.
type Status struct {
	State  State
	Since  time.Time     // of the state
	Err    error         // why there is no connection
	Parent string        // name of the parent, as last reported
	Prefix point.Path    // of all points there
	Shared bool          // the parent stores into the same database as this node: points have the same names there
	RTT    time.Duration // of the greeting
	Offset time.Duration // the parent's clock minus this one, corrected by half the round-trip time; 0 if not reported
	Lanes  []Lane
	// Origins are those sent or queried since the start, by name.
	Origins []Origin
}

// Lane describes a lane.
type Lane struct {
	Name   uplink.Lane
	Place  uint64    // log sequence number up to which everything is acknowledged
	Frames int       // in flight
	Bytes  int64     // in flight
	Oldest time.Time // when the oldest unacknowledged block that was read was closed; zero if there is none
	Sent   uint64    // bytes since the start
	Back   uint64    // times that the lane went back because the parent lacked something
}

// Origin counts samples of an origin since the start.
type Origin struct {
	Name         string
	Position     uplink.Position // what the parent has
	Sent         uint64
	Bytes        uint64
	Acknowledged uint64 // as counted by the origin's blocks, including those left out
	Left         uint64 // left out by the selection, here or before
	Repeated     uint64 // sent again
	Dropped      uint64 // could not be sent: dropped by the log's size limit, or damaged
	Err          error  // why the parent refuses it; nil in normal operation

	high uint64
	gap  gap // last counted in Dropped
}

// gap is a range of missing samples of an origin: after from, up to to.
type gap struct{ from, to uint64 }

// new returns how many samples of a gap are not in the previous one: the same gap recurs at each pass until the
// parent has what follows it.
func (g gap) new(before gap) uint64 {
	both := min(g.to, before.to)
	return g.to - g.from - (both - min(both, max(g.from, before.from)))
}

// Status returns the current status.
func (s *Sender) Status() Status { return s.monitor.snapshot() }

// Shared reports whether the parent stores into the same database as this node, as far as known.
func (s *Sender) Shared() bool {
	_, shared := s.monitor.parent()
	return shared
}

// State returns the state of the connection to the parent, and since when.
func (s *Sender) State() (State, time.Time) { return s.monitor.state() }

// Place returns the log sequence number up to which all lanes are acknowledged: later entries are still
// pending.
func (s *Sender) Place() uint64 { return s.checkpoint.place(s.log.ID()) }

// Acknowledged returns how far the parent has each origin, as far as this node knows.
func (s *Sender) Acknowledged() map[string]uplink.Position {
	out := s.checkpoint.origins()
	maps.Copy(out, s.monitor.ahead(out))
	return out
}
