// Package memory is a metering store in memory: the reference for other engines.
package memory

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
)

// Options are the choices of a Store.
type Options struct {
	Zone *time.Location   // of the days
	Now  func() time.Time // the clock; time.Now if nil
}

// Store implements store.Store.
type Store struct {
	directory.Known
	now      func() time.Time
	calendar *store.Calendar
	dir      *directory.Directory

	judging sync.Mutex // held while a day is judged; taken before mu

	mu         sync.Mutex
	closed     bool
	newest     time.Time // moment of recording
	log        string
	sequence   uint64
	histories  map[uint32]*meter.History
	rows       uint64
	days       days
	strays     map[store.ChannelKey][]meter.Version
	places     map[string]string // premises of service points
	installed  meter.Installations
	points     map[string]bool
	exceptions []exception
	settled    []exception
	number     uint64
	events     events
}

type days map[store.Day]*day

// day is which channels wait to be judged, and which were.
type day struct {
	rows    uint64
	waiting map[uint32]uint64 // versions by channel, also of registers
	judged  map[uint32]bool
	redo    map[uint32]bool // channels that depend on other days which changed
	used    map[use]bool    // what was estimated of readings of this day
	sums    map[uint32]summary
}

// use is a channel of another day.
type use struct {
	day     store.Day
	channel uint32
}

type summary struct{ total, highest float64 }

type exception struct {
	store.Exception
	channel uint32
}

var _ store.Store = (*Store)(nil)

// New returns an empty store.
func New(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	c := store.NewCalendar(o.Zone)
	dir := directory.New(c)
	return &Store{
		Known: dir.Known(), now: o.Now, calendar: c, dir: dir, histories: map[uint32]*meter.History{}, days: days{},
		strays: map[store.ChannelKey][]meter.Version{}, places: map[string]string{}, points: map[string]bool{},
		events: events{keys: map[store.EventKey]bool{}},
	}
}

var errClosed = errors.New("the store is closed")

// begin takes the lock for a call. The caller unlocks when it returns nil.
func (s *Store) begin(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return fault.E(op, fault.KindOf(err), "", err)
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return fault.E(op, fault.Unavailable, "", errClosed)
	}
	return nil
}

// moment returns the moment of recording: whole seconds, never before one that was given.
func (s *Store) moment() time.Time {
	if t := store.Moment(s.now()); t.After(s.newest) {
		s.newest = t
	}
	return s.newest
}

// Append implements store.Keeper.
func (s *Store) Append(ctx context.Context, b *store.Batch) (store.Result, error) {
	const op = "memory.Append"
	if err := b.Check(); err != nil {
		return store.Result{}, fault.E(op, fault.Invalid, "", err)
	}
	if err := s.begin(ctx, op); err != nil {
		return store.Result{}, err
	}
	defer s.mu.Unlock()
	out := store.Result{Recorded: s.moment()}
	refs := s.dir.Refs(nil, b.Keys)
	for i, k := range b.Key {
		v := meter.Version{End: time.UnixMicro(b.End[i]).UTC(), Recorded: out.Recorded, Value: b.Value[i], Origin: meter.Origin{Who: b.Senders[b.Sender[i]]}}
		v.End = v.End.Truncate(time.Millisecond)
		switch {
		case math.IsNaN(v.Value) || math.IsInf(v.Value, 0):
			out.Left++
		case refs[k].Channel == nil:
			s.strays[b.Keys[k]] = append(s.strays[b.Keys[k]], v)
			out.Strays++
		default:
			if err := s.add(refs[k], v, true); err != nil {
				return store.Result{}, fault.E(op, fault.Internal, "", err)
			}
			out.Stored++
		}
	}
	if b.Log != "" {
		s.log, s.sequence = b.Log, b.Sequence
	}
	return out, nil
}

// add adds one version to the history of a channel. Waits says that the day must be judged because of it.
func (s *Store) add(ref directory.Ref, v meter.Version, waits bool) error {
	h := s.histories[ref.Number]
	if h == nil {
		h = &meter.History{}
		s.histories[ref.Number] = h
	}
	n, err := h.Add([]meter.Version{v})
	if err != nil || n == 0 {
		return err
	}
	s.rows++
	d := s.days.of(s.calendar.Of(v.End.UnixMicro()))
	d.rows++
	if waits {
		d.waiting[ref.Number]++
	}
	return nil
}

// of returns a day, which it adds if need be.
func (m days) of(d store.Day) *day {
	if m[d] == nil {
		m[d] = &day{waiting: map[uint32]uint64{}, judged: map[uint32]bool{}, redo: map[uint32]bool{}, used: map[use]bool{}, sums: map[uint32]summary{}}
	}
	return m[d]
}

// Cursor implements store.Keeper.
func (s *Store) Cursor(ctx context.Context) (log string, sequence uint64, err error) {
	if err := s.begin(ctx, "memory.Cursor"); err != nil {
		return "", 0, err
	}
	defer s.mu.Unlock()
	return s.log, s.sequence, nil
}

// Revise implements store.Keeper.
func (s *Store) Revise(ctx context.Context, key store.ChannelKey, versions []meter.Version) error {
	const op = "memory.Revise"
	if err := s.begin(ctx, op); err != nil {
		return err
	}
	defer s.mu.Unlock()
	ref := s.dir.Refs(nil, []store.ChannelKey{key})[0]
	if err := store.CheckRevision(op, ref.Channel, key, versions); err != nil {
		return err
	}
	recorded := s.moment()
	for _, v := range versions {
		v.Recorded = recorded
		if err := s.add(ref, v, true); err != nil {
			return fault.E(op, fault.Internal, key.Meter, err)
		}
	}
	return nil
}

// History implements store.Keeper.
func (s *Store) History(ctx context.Context, key store.ChannelKey, from, to time.Time) (*meter.History, error) {
	const op = "memory.History"
	if err := s.begin(ctx, op); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	ref := s.dir.Refs(nil, []store.ChannelKey{key})[0]
	if ref.Channel == nil {
		return nil, store.Unknown(op, key)
	}
	out := &meter.History{}
	if h := s.histories[ref.Number]; h != nil {
		if _, err := out.Add(h.Versions(nil, from, to)); err != nil {
			return nil, fault.E(op, fault.Internal, key.Meter, err)
		}
	}
	return out, nil
}

// Stats implements store.Store.
func (s *Store) Stats(ctx context.Context) (store.Stats, error) {
	if err := s.begin(ctx, "memory.Stats"); err != nil {
		return store.Stats{}, err
	}
	defer s.mu.Unlock()
	out := store.Stats{Rows: s.rows, Days: len(s.days)}
	out.Meters, out.Channels = s.dir.Len()
	for _, list := range s.strays {
		out.Strays += uint64(len(list))
	}
	return out, nil
}

// Waiting implements store.Keeper.
func (s *Store) Waiting(meant func(origin string) bool) (of, all uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, list := range s.strays {
		all += uint64(len(list))
		for i := range list {
			if meant(store.OriginOf(list[i].Origin.Who)) {
				of++
			}
		}
	}
	return of, all
}

// Days implements store.Judged.
func (s *Store) Days(ctx context.Context) ([]store.DayState, error) {
	if err := s.begin(ctx, "memory.Days"); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []store.DayState
	for key, d := range s.days {
		state := store.DayState{Day: key, Rows: d.rows}
		state.Waiting = uint64(len(d.redo))
		for channel, n := range d.waiting {
			if _, c := s.dir.Key(channel); c.Interval > 0 {
				state.Waiting += n
			}
		}
		state.Judged = state.Waiting == 0 && len(d.judged) > 0
		if d.rows > 0 || len(d.judged) > 0 {
			out = append(out, state)
		}
	}
	slices.SortFunc(out, func(a, b store.DayState) int { return int(a.Day) - int(b.Day) })
	return out, nil
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}
