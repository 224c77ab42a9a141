package bacnet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"voltbus/driver"
	"voltbus/driver/bacnet/network"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/point"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/transaction"
)

// retryAbsent is when a property that the device does not have is asked for again.
const retryAbsent = 10 * time.Minute

// session is one device of the configuration.
type session struct {
	logs   // what the device logs by itself
	alarms // and what it tells of

	line    *line
	station station
	config  *Config
	items   []pointlist.Item
	byName  map[string]int
	states  []state // by item
	changes *changes
	closed  bool

	unlisten func() // ends to be told of a lost hub

	diagnosis error // of the last read, for Diagnose
}

// state is what is known of a point.
type state struct {
	absent  time.Time // the device has not got it: it is not asked for before
	noFlags bool      // its object has no status flags
	like    encoding.Kind
}

func newSession(l *line, c *Config) (*session, error) {
	s := &session{line: l, config: c, items: c.items, byName: make(map[string]int, len(c.items)), states: make([]state, len(c.items))}
	s.station = station{config: c, socket: l.socket}
	s.logs.session, s.alarms.session = s, s
	if c.Address != "" {
		at, err := network.ParseStation(c.Address)
		if err != nil {
			return nil, err
		}
		s.station.at = at
	}
	for i := range c.items {
		s.byName[c.items[i].Name] = i
	}
	s.changes = newChanges(c)
	s.unlisten = l.socket.OnLoss(s.changes.cut)
	return s, nil
}

// Close implements driver.Session. The line stays open.
func (s *session) Close() error {
	if !s.closed {
		s.closed = true
		s.unlisten()
		s.changes.stop()
		s.alarms.end()
		s.station.end()
		delete(s.line.sessions, s)
	}
	return nil
}

// Diagnose implements driver.Diagnoser.
func (s *session) Diagnose() error { return s.diagnosis }

// ready reports why nothing can be asked now.
func (s *session) ready(ctx context.Context) error {
	if s.closed || s.line.closed {
		return fmt.Errorf("%w: %w", driver.ErrNotConnected, errClosed)
	}
	return ctx.Err()
}

// Read implements driver.Session.
func (s *session) Read(ctx context.Context, names []string) ([]point.Sample, error) {
	const op = "bacnet.Read"
	remote, err := s.reach(ctx)
	if err != nil {
		return nil, s.fail(op, err)
	}
	scan := s.plan(names)
	results, err := remote.Read(ctx, scan.properties)
	cut := errors.Is(err, context.DeadlineExceeded) && scan.answered(results)
	if err != nil && !cut {
		if errors.Is(err, transaction.ErrTimeout) {
			s.station.lose()
		}
		return nil, s.fail(op, err)
	}
	samples := s.answer(names, &scan, results)
	s.diagnosis = s.diagnose(names, samples, cut)
	s.changes.compare(samples, func(name string) int { return s.place(name) })
	return samples, nil
}

func (s *session) place(name string) int {
	if i, known := s.byName[name]; known {
		return i
	}
	return -1
}

// reach returns the device.
func (s *session) reach(ctx context.Context) (client.Remote, error) {
	if err := s.ready(ctx); err != nil {
		return client.Remote{}, err
	}
	remote, err := s.station.reach(ctx)
	if err == nil {
		s.changes.follow(remote)
	}
	return remote, err
}

// scan is what is asked for in a read, and where the answers are.
type scan struct {
	properties []client.Property
	value      map[int]int // by item: the place of its value
	flags      map[int]int // by item: the place of its status flags
}

// answered reports whether anything was answered.
func (x *scan) answered(results []client.Result) bool {
	for i := range results {
		if results[i].Err == nil {
			return true
		}
	}
	return false
}

// plan lists the properties to be read: values with their status flags, so that those of an object are neighbours.
func (s *session) plan(names []string) scan {
	x := scan{value: make(map[int]int, len(names)), flags: make(map[int]int, len(names))}
	now := time.Now()
	for _, name := range names {
		i, known := s.byName[name]
		if _, twice := x.value[i]; !known || twice || now.Before(s.states[i].absent) {
			continue
		}
		t := &s.items[i]
		x.value[i] = len(x.properties)
		x.properties = append(x.properties, client.Property{Object: t.Object, Property: t.Property, Index: t.Index})
		if s.config.StatusFlags && t.IsPresentValue() && !s.states[i].noFlags {
			x.flags[i] = len(x.properties)
			x.properties = append(x.properties, client.Property{Object: t.Object, Property: enum.PropertyStatusFlags})
		}
	}
	return x
}

// answer makes the samples of a read.
func (s *session) answer(names []string, x *scan, results []client.Result) []point.Sample {
	samples := make([]point.Sample, len(names))
	now := time.Now().UTC().Truncate(time.Microsecond)
	for k, name := range names {
		samples[k] = point.Sample{Point: point.Path(name), Time: now, Quality: point.BadConfig}
		i, known := s.byName[name]
		if !known {
			continue
		}
		if at, asked := x.value[i]; asked {
			s.sample(i, &results[at], &samples[k])
		}
		if at, asked := x.flags[i]; asked && samples[k].Quality == point.Good {
			if r := &results[at]; r.Err == nil {
				samples[k].Quality = flagged(r.Value)
			} else if isAbsent(r.Err) {
				s.states[i].noFlags = true
			}
		}
		if samples[k].Quality.IsBad() {
			samples[k].Value = point.Value{}
		}
	}
	return samples
}

// sample fills in one value.
func (s *session) sample(i int, r *client.Result, into *point.Sample) {
	if r.Err != nil {
		into.Quality = qualityOf(r.Err)
		if into.Quality == point.BadConfig {
			s.states[i].absent = time.Now().Add(retryAbsent)
		}
		return
	}
	if v, err := r.Value.One(); err == nil {
		s.states[i].like = v.Kind()
	}
	v, ok := s.items[i].Decode(r.Value)
	if !ok {
		into.Quality = point.BadValue
		return
	}
	into.Value, into.Quality = v, point.Good
}

// flagged returns the quality that status flags mean (clause 12.2.7).
func flagged(data encoding.Any) point.Quality {
	v, err := data.One()
	if err != nil {
		return point.Good
	}
	return qualityOfFlags(constructed.StatusFlagsOf(v.Bits()))
}

func qualityOfFlags(f constructed.StatusFlags) point.Quality {
	switch {
	case f.Fault:
		return point.BadSensor
	case f.OutOfService: // the value does not follow the input, or the output does not follow the value
		return point.Uncertain
	case f.Overridden:
		return point.Override
	}
	return point.Good
}
