package sender

import (
	"cmp"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/uplink"
)

// monitor tracks the state of the connection to the parent, and counts what the lanes have sent since the start.
type monitor struct {
	log *slog.Logger

	mu     sync.Mutex
	status Status // without the origins
	gained uint64 // times that the parent had more than before
	counts map[string]*Origin
	opened map[uplink.Lane]int64 // window sizes when the last connection ended
}

func newMonitor(log *slog.Logger) *monitor {
	return &monitor{log: log, status: Status{State: Connecting}, counts: map[string]*Origin{}, opened: map[uplink.Lane]int64{}}
}

func (m *monitor) snapshot() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.status
	out.Lanes = slices.Clone(out.Lanes)
	for _, o := range m.counts {
		out.Origins = append(out.Origins, *o)
	}
	slices.SortFunc(out.Origins, func(a, b Origin) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func (m *monitor) state() (State, time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.status.State, m.status.Since
}

// parent returns the prefix of points at the parent, and whether both nodes store into one database.
func (m *monitor) parent() (prefix point.Path, shared bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.status.Prefix, m.status.Shared
}

// ahead returns the positions of the origins of which the parent has more than given.
func (m *monitor) ahead(of map[string]uplink.Position) map[string]uplink.Position {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string]uplink.Position{}
	for name, o := range m.counts {
		if o.Position.Sequence > of[name].Sequence {
			out[name] = o.Position
		}
	}
	return out
}

func (m *monitor) setState(state State, err error) (changed bool) {
	changed = m.status.State != state || (m.status.Err == nil) != (err == nil)
	if m.status.State != state {
		m.status.Since = time.Now()
	}
	m.status.State, m.status.Err = state, err
	return changed
}

// report records why there is no connection, and logs a new reason.
func (m *monitor) report(err error) {
	if errors.Is(err, errRenewed) {
		m.log.Info("the connection to the parent is made anew", slog.Any("because", err))
	}
	if errors.Is(err, errRedial) || errors.Is(err, errRenewed) {
		err = nil
	}
	state := Connecting
	if fault.Is(err, fault.Refused) || fault.Is(err, fault.Conflict) {
		state = Refused
	}
	m.mu.Lock()
	changed := m.setState(state, err)
	m.mu.Unlock()
	if changed && err != nil {
		m.log.Warn("no connection to the parent", slog.Any("err", err))
	}
}

// greeted records the parent's greeting; shared means that both nodes store into one database.
func (m *monitor) greeted(w *uplink.Welcome, asked time.Time, shared bool) {
	now := time.Now()
	m.mu.Lock()
	changed := m.setState(Connected, nil)
	m.status.Parent, m.status.Prefix = w.Name, w.Prefix
	m.status.Shared = shared
	m.status.RTT = now.Sub(asked)
	if m.status.Offset = 0; !w.Time.IsZero() { // it was reported
		m.status.Offset = w.Time.Sub(asked.Add(m.status.RTT / 2))
	}
	for _, o := range m.counts {
		o.Err = nil
	}
	for origin, p := range w.Positions {
		m.origin(origin).Position = p
	}
	m.mu.Unlock()
	if changed {
		m.log.Info("connected to the parent", slog.String("parent", w.Name))
	}
}

// origin returns the counts of an origin. The caller holds mu.
func (m *monitor) origin(name string) *Origin {
	o := m.counts[name]
	if o == nil {
		o = &Origin{Name: name}
		m.counts[name] = o
	}
	return o
}

// went records sent bytes.
func (m *monitor) went(origin string, octets int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.origin(origin).Bytes += uint64(octets)
	m.lane(uplink.LaneOf(origin)).Sent += uint64(octets)
}

// count records a sent block.
func (m *monitor) count(b *point.Block) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, n := m.origin(b.Origin), uint64(b.Len())
	if b.Sequence <= o.high {
		o.Repeated += n
		return
	}
	o.high = b.Sequence
	o.Sent += n
	o.Left += b.Left
}

// lost records samples that cannot be sent.
func (m *monitor) lost(origin string, missing gap, reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.origin(origin)
	samples := missing.new(o.gap)
	o.gap = missing
	if o.Dropped == 0 && samples > 0 {
		m.log.Warn("samples cannot be sent to the parent any more",
			slog.String("origin", origin), slog.Uint64("samples", samples), slog.String("reason", reason))
	}
	o.Dropped += samples
}

// acknowledged records that the parent's position of an origin has advanced.
func (m *monitor) acknowledged(origin string, to, from uplink.Position) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.origin(origin)
	o.Position, o.Err = to, nil
	if to.Sequence > from.Sequence {
		m.gained++
	}
	o.Acknowledged += to.Samples - min(to.Samples, from.Samples)
}

// gain records that the parent has more than before: so many origins, or another part of a block.
func (m *monitor) gain(n uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gained += n
}

// opens records the window of a lane at the end of its connection.
func (m *monitor) opens(name uplink.Lane, octets int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opened[name] = octets
}

func (m *monitor) openedBefore(name uplink.Lane) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.opened[name]
}

// progress counts the times that the parent had more than before.
func (m *monitor) progress() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gained
}

// trouble records why an origin is refused.
func (m *monitor) trouble(origin string, err error) {
	m.mu.Lock()
	o := m.origin(origin)
	first := o.Err == nil
	o.Err = err
	m.mu.Unlock()
	if first {
		m.log.Warn("the parent does not take blocks", slog.String("origin", origin), slog.Any("err", err))
	}
}

// moved records the position of a lane.
func (m *monitor) moved(name uplink.Lane, place uint64, oldest time.Time, frames int, octets int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.lane(name)
	l.Place, l.Oldest, l.Frames, l.Bytes = place, oldest, frames, octets
}

func (m *monitor) wentBack(name uplink.Lane) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lane(name).Back++
}

// lane returns the counts of a lane. The caller holds mu.
func (m *monitor) lane(name uplink.Lane) *Lane {
	for i := range m.status.Lanes {
		if m.status.Lanes[i].Name == name {
			return &m.status.Lanes[i]
		}
	}
	m.status.Lanes = append(m.status.Lanes, Lane{Name: name})
	return &m.status.Lanes[len(m.status.Lanes)-1]
}
