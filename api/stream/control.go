package stream

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"voltbus/api/answer"
	"voltbus/api/exchange"
	"voltbus/control/access"
	"voltbus/fault"
	"voltbus/point"
)

var errStopping = errors.New("the node is stopping; connect again when it runs")

// controlEvents sends events of control as server-sent events, until the client disconnects, falls behind, or its login ends.
func (s *Streams) controlEvents(w http.ResponseWriter, r *exchange.Request) error {
	if s.Control == nil {
		return exchange.Absent("control")
	}
	in := exchange.Read(r)
	pattern, _ := in.Text("pattern")
	if in.Err != nil {
		return in.Err
	}
	release, err := s.Reader(r)
	if err != nil {
		return err
	}
	defer release()
	watcher := s.Control.Watch()
	defer watcher.Close()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not buffer it
	p := exchange.NewPatient(w, s.WriteTimeout)
	defer p.Limit() // for the server's final writes
	if p.Send([]byte(": connected\n\n")) != nil {
		return nil // the client has disconnected
	}
	for {
		part, err := s.nextEvents(r, watcher, point.Pattern(pattern))
		switch {
		case r.Context().Err() != nil || err != nil:
			return s.LastEvent(p, r, err)
		case len(part) > 0 && p.Send(part) != nil:
			return nil // the client has disconnected
		}
	}
}

// nextEvents waits for the next events, or for the time to send a keep-alive.
func (s *Streams) nextEvents(r *exchange.Request, watcher *access.Watcher, pattern point.Pattern) ([]byte, error) {
	ctx, cancel := context.WithTimeout(r.Context(), s.KeepAlive)
	defer cancel()
	events, open := watcher.Next(ctx)
	switch {
	case ctx.Err() != nil && events == nil:
		return []byte(": alive\n\n"), nil
	case !open:
		return nil, fault.E("api.controlEvents", fault.Unavailable, "events", errStopping)
	case watcher.Dropped() > 0:
		s.cut.Add(1)
		return nil, fault.E("api.controlEvents", fault.Unavailable, "events", errSlow)
	}
	list, err := controlOf(events, pattern.Match)
	var part []byte
	for _, e := range list {
		part = exchange.AppendEvent(part, "control", e)
	}
	return part, err
}

// controlOf encodes as JSON the events of control for the selected points, and always those of
// reservations and overrides: they may concern a branch or pattern around the points.
func controlOf(events []answer.ControlEvent, selects func(point.Path) bool) (list []json.RawMessage, err error) {
	for i := range events {
		e := &events[i]
		if ofPoint := e.Level > 0 || e.Write > 0; ofPoint && !selects(point.Path(e.Path)) {
			continue
		}
		b, err := json.Marshal(e)
		if err != nil {
			return nil, fault.E("api.controlEvents", fault.Internal, "", err)
		}
		list = append(list, b)
	}
	return list, nil
}
