package opcua

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gopcua/opcua/ua"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/internal/plural"
	"voltbus/point"
)

// maxReports bounds the reports of a session that nobody has taken yet.
const maxReports = 100_000

// monitored is what makes a monitored item: points that differ in nothing of it share one.
type monitored struct {
	node     *node
	sampling time.Duration
	deadband float64
	percent  bool
}

// Subscribe implements driver.Subscriber: each node is a monitored item in the subscription of its sampling.
func (s *session) Subscribe(ctx context.Context, names []string, news func()) error {
	const op = "opcua.Subscribe"
	if err := s.line.conn.Err(); err != nil {
		return s.fail(op, ctx, err)
	}
	s.unmonitor(ctx)
	groups := make(map[time.Duration][]*watch)
	byKey := make(map[monitored]*watch)
	s.line.mu.Lock()
	s.wanted, s.refused, s.news = make(map[int]bool), make(map[*node]error), news
	for _, name := range names {
		i, known := s.byName[name]
		if !known || s.wanted[i] || s.at[i].id == nil {
			continue
		}
		s.wanted[i] = true
		t := &s.items[i]
		key := monitored{s.at[i], t.Sampling, t.Deadband.Value, t.Deadband.Percent}
		if key.sampling == 0 {
			key.sampling = s.cfg.Sampling
		}
		if w := byKey[key]; w != nil {
			w.items = append(w.items, i)
			continue
		}
		w := &watch{session: s, key: key, items: []int{i}}
		byKey[key] = w
		groups[key.sampling] = append(groups[key.sampling], w)
	}
	s.line.mu.Unlock()
	for sampling, list := range groups {
		if err := s.line.hub.monitor(ctx, sampling, list); err != nil {
			if !declined(err) {
				return s.fail(op, ctx, err)
			}
			s.refuse(list, err)
		}
	}
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	if len(s.queue) > 0 || s.line.conn.Err() != nil || len(s.refused) > 0 {
		s.news()
	}
	return nil
}

// refuse notes why items are not monitored.
func (s *session) refuse(list []*watch, why error) {
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	for _, w := range list {
		s.refused[w.key.node] = why
	}
}

// unmonitor ends what the session monitors.
func (s *session) unmonitor(ctx context.Context) {
	s.line.mu.Lock()
	handles := s.handles
	s.handles = nil
	s.line.mu.Unlock()
	s.line.hub.forget(ctx, handles)
}

// report takes a value of a monitored item. The lock of the line is held.
func (s *session) report(w *watch, v *ua.DataValue, now time.Time) {
	for _, i := range w.items {
		if !s.wanted[i] {
			continue
		}
		if len(s.queue) >= maxReports {
			s.queue = append(s.queue[:0], s.queue[maxReports/10:]...)
			s.lost += maxReports / 10
		}
		s.queue = append(s.queue, s.sample(i, v, now, w.last))
	}
	if v.Status&overflow == overflow {
		s.lost++
	}
	w.last = v.SourceTimestamp
}

// overflow says that a value was dropped from the queue of a monitored item (Part 4, clause 7.39.1).
const overflow ua.StatusCode = 0x0480

// Take implements driver.Subscriber.
func (s *session) Take(ctx context.Context, emit func(point.Sample)) error {
	s.line.mu.Lock()
	queue := s.queue
	s.queue = nil
	s.line.mu.Unlock()
	for i := range queue {
		emit(queue[i])
	}
	if err := s.line.conn.Err(); err != nil {
		return s.fail("opcua.Take", ctx, err)
	}
	return nil
}

// Lost implements driver.Lossy.
func (s *session) Lost() uint64 {
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	n := s.lost
	s.lost = 0
	return n
}

// Lacks implements driver.Lacking.
func (s *session) Lacks() (known bool, why error) {
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	var names []string
	var reason error
	for n, err := range s.refused {
		reason = err
		for _, i := range n.items {
			names = append(names, s.items[i].Describe())
		}
	}
	for _, n := range s.nodes {
		if n.missing != nil {
			reason = n.missing
			for _, i := range n.items {
				names = append(names, s.items[i].Describe())
			}
		}
	}
	if len(names) == 0 {
		return true, nil
	}
	return true, fault.E("", fault.Invalid, "", fmt.Errorf("the server does not report changes of %s: %s (%w); check their nodes, or give the device an interval, so that they are read",
		plural.Of(len(names), "point"), firstOf(names), explain(reason)))
}

var (
	_ driver.Subscriber = (*session)(nil)
	_ driver.Lossy      = (*session)(nil)
	_ driver.Lacking    = (*session)(nil)
)

// declined reports whether a server answered with a status code that concerns the request, not the session.
func declined(err error) bool {
	var code ua.StatusCode
	return errors.As(err, &code) && !sessionOver(err)
}
