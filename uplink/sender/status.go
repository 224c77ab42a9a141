package sender

import (
	"cmp"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"voltbus/fault"
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
	Octets int64     // of them
	Oldest time.Time // when the oldest block that was read and is not acknowledged was closed; zero if there is none
	Sent   uint64    // octets since the start
	Back   uint64    // times that the lane went back, since the parent missed something
}

// Origin counts samples of an origin since the start.
type Origin struct {
	Name         string
	Position     uplink.Position // what the parent has
	Sent         uint64
	Octets       uint64
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
func (s *Sender) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.status
	out.Lanes = slices.Clone(out.Lanes)
	for _, o := range s.counts {
		out.Origins = append(out.Origins, *o)
	}
	slices.SortFunc(out.Origins, func(a, b Origin) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Place returns the sequence of the log up to which all lanes are acknowledged: what lies above
// still waits.
func (s *Sender) Place() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory.Log != s.log.ID() || len(s.memory.Lanes) < 2 {
		return 0
	}
	return min(s.memory.Lanes[uplink.Normal], s.memory.Lanes[uplink.Urgent])
}

// Acknowledged returns how far the parent has each origin, as far as this node remembers.
func (s *Sender) Acknowledged() map[string]uplink.Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := maps.Clone(s.memory.Origins)
	for name, o := range s.counts {
		if o.Position.Sequence > out[name].Sequence {
			out[name] = o.Position
		}
	}
	return out
}

func (s *Sender) setState(state State, err error) (changed bool) {
	changed = s.status.State != state || (s.status.Err == nil) != (err == nil)
	if s.status.State != state {
		s.status.Since = time.Now()
	}
	s.status.State, s.status.Err = state, err
	return changed
}

// report keeps why there is no connection, and logs it when it is new.
func (s *Sender) report(err error) {
	if errors.Is(err, errRenewed) {
		s.cfg.Log.Info("the connection to the parent is made anew", slog.Any("because", err))
	}
	if errors.Is(err, errRedial) || errors.Is(err, errRenewed) {
		err = nil
	}
	state := Connecting
	if fault.Is(err, fault.Refused) || fault.Is(err, fault.Conflict) {
		state = Refused
	}
	s.mu.Lock()
	changed := s.setState(state, err)
	s.mu.Unlock()
	if changed && err != nil {
		s.cfg.Log.Warn("no connection to the parent", slog.Any("err", err))
	}
}

func (s *Sender) greeted(w *uplink.Welcome, asked time.Time) {
	now := time.Now()
	s.mu.Lock()
	changed := s.setState(Connected, nil)
	s.status.Parent, s.status.Prefix = w.Name, w.Prefix
	s.status.Shared, _ = s.shares(w) // judged before
	s.status.RTT = now.Sub(asked)
	if s.status.Offset = 0; !w.Time.IsZero() { // it said it
		s.status.Offset = w.Time.Sub(asked.Add(s.status.RTT / 2))
	}
	for _, o := range s.counts {
		o.Err = nil
	}
	for origin, p := range w.Positions {
		s.origin(origin).Position = p
	}
	s.mu.Unlock()
	if changed {
		s.cfg.Log.Info("connected to the parent", slog.String("parent", w.Name))
	}
}

// origin returns the counts of an origin. The caller holds mu.
func (s *Sender) origin(name string) *Origin {
	o := s.counts[name]
	if o == nil {
		o = &Origin{Name: name}
		s.counts[name] = o
	}
	return o
}

// went notes octets that were sent.
func (s *Sender) went(origin string, octets int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.origin(origin).Octets += uint64(octets)
	s.lane(uplink.LaneOf(origin)).Sent += uint64(octets)
}

// count notes a block that is sent.
func (s *Sender) count(b *point.Block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, n := s.origin(b.Origin), uint64(b.Len())
	if b.Sequence <= o.high {
		o.Repeated += n
		return
	}
	o.high = b.Sequence
	o.Sent += n
	o.Left += b.Left
}

// lost notes samples that cannot be sent.
func (s *Sender) lost(origin string, missing gap, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.origin(origin)
	samples := missing.new(o.gap)
	o.gap = missing
	if o.Dropped == 0 && samples > 0 {
		s.cfg.Log.Warn("samples cannot be sent to the parent any more",
			slog.String("origin", origin), slog.Uint64("samples", samples), slog.String("reason", reason))
	}
	o.Dropped += samples
}

func (s *Sender) acknowledged(origin string, to, from uplink.Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.origin(origin)
	o.Position, o.Err = to, nil
	s.memory.Origins[origin] = to
	if to.Sequence > from.Sequence {
		s.gained++
	}
	o.Acknowledged += to.Samples - min(to.Samples, from.Samples)
}

// came notes that the parent has another part of a block.
func (s *Sender) came() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gained++
}

// opens notes how far the window of a lane is open when its connection ends.
func (s *Sender) opens(name uplink.Lane, octets int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened[name] = octets
}

func (s *Sender) openedBefore(name uplink.Lane) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened[name]
}

// progress counts the times that the parent had more than before.
func (s *Sender) progress() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gained
}

// trouble notes why an origin is not taken.
func (s *Sender) trouble(origin string, err error) {
	s.mu.Lock()
	o := s.origin(origin)
	first := o.Err == nil
	o.Err = err
	s.mu.Unlock()
	if first {
		s.cfg.Log.Warn("the parent does not take blocks", slog.String("origin", origin), slog.Any("err", err))
	}
}

// moved notes how far a lane is.
func (s *Sender) moved(name uplink.Lane, place uint64, oldest time.Time, frames int, octets int64) {
	s.remember(name, place)
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lane(name)
	l.Place, l.Oldest, l.Frames, l.Octets = place, oldest, frames, octets
}

func (s *Sender) wentBack(name uplink.Lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lane(name).Back++
}

// lane returns the counts of a lane. The caller holds mu.
func (s *Sender) lane(name uplink.Lane) *Lane {
	for i := range s.status.Lanes {
		if s.status.Lanes[i].Name == name {
			return &s.status.Lanes[i]
		}
	}
	s.status.Lanes = append(s.status.Lanes, Lane{Name: name})
	return &s.status.Lanes[len(s.status.Lanes)-1]
}
