package mqtt

import (
	"context"
	"errors"
	"math"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/mqtt/client"
)

var (
	errName     = errors.New("the device has no such point")
	errReadOnly = errors.New("the point is read-only: it has no topic set")
	errFit      = errors.New("the value does not fit the type of the point")
)

// Write implements driver.Writer: the value counts as accepted when the broker has it; it returns what arrives on the
// point's topic within the time-out, none if nothing does.
func (s *session) Write(ctx context.Context, name string, v point.Value) (point.Value, error) {
	const op = "mqtt.Write"
	e := s.find(name)
	switch {
	case e == nil:
		return point.Value{}, fault.E(op, fault.NotFound, name, errName)
	case e.command == nil:
		return point.Value{}, fault.E(op, fault.Refused, name, errReadOnly)
	case !fits(e.command.Kind, v):
		return point.Value{}, fault.E(op, fault.Invalid, name, errFit)
	}
	payload, err := e.command.Payload(v)
	if err != nil {
		return point.Value{}, fault.E(op, fault.Invalid, name, err)
	}
	if err := s.line.conn.Err(); err != nil {
		return point.Value{}, lost(op, fault.Unreachable, name, err)
	}
	if ctx.Err() != nil {
		return point.Value{}, fault.E(op, fault.KindOf(ctx.Err()), name, ctx.Err())
	}
	limited, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	since := s.mark(name)
	err = s.line.conn.Publish(limited, &client.Message{Topic: e.command.Topic, Payload: payload, QoS: 1, Retain: e.retain})
	switch {
	case errors.Is(err, client.ErrLost):
		return point.Value{}, lost(op, fault.Timeout, name, err)
	case err != nil && ctx.Err() != nil:
		return point.Value{}, fault.E(op, fault.KindOf(ctx.Err()), name, err)
	case err != nil:
		return point.Value{}, fault.E(op, fault.Timeout, name, err)
	}
	return s.report(limited, name, since, v)
}

// fits reports whether a value is of a kind.
func fits(kind point.Kind, v point.Value) bool {
	n, number := v.Number()
	switch {
	case v.Kind() == point.None, number && (math.IsNaN(n) || math.IsInf(n, 0)):
		return false
	case kind == point.Text:
		return v.Kind() == point.Text
	case kind == point.Bool:
		return number && (n == 0 || n == 1)
	case kind == point.Int:
		return number && n == math.Trunc(n)
	}
	return number
}

// mark returns when the known value of a point arrived.
func (s *session) mark(name string) time.Time {
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	select {
	case <-s.fresh:
	default:
	}
	return s.values[name].came
}

// report waits for the device to report the written value, and otherwise returns its last report; none if there was none.
func (s *session) report(ctx context.Context, name string, since time.Time, wanted point.Value) (point.Value, error) {
	var got point.Value
	for {
		s.line.mu.Lock()
		sample := s.values[name]
		s.line.mu.Unlock()
		if sample.came.After(since) && !sample.Quality.IsBad() {
			if got = sample.Value; same(got, wanted) {
				return got, nil
			}
		}
		select {
		case <-s.fresh:
		case <-s.line.conn.Lost():
			return point.Value{}, lost("mqtt.Write", fault.Timeout, name, s.line.conn.Err())
		case <-ctx.Done():
			return got, nil
		}
	}
}

// same reports whether two values are equal for a device, apart from rounding.
func same(a, b point.Value) bool {
	x, isX := a.Number()
	y, isY := b.Number()
	if !isX || !isY {
		return a == b
	}
	return x == y || math.Abs(x-y) <= 1e-6*max(math.Abs(x), math.Abs(y))
}
