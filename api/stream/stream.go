package stream

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"voltbus/api/exchange"
	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/wire"
)

var errSlow = errors.New("this reader is too slow and was cut off; read faster, or ask for fewer points")

// stream sends live messages as server-sent events until the client disconnects, falls behind, or its login ends.
func (s *Streams) stream(w http.ResponseWriter, r *exchange.Request) error {
	key, from, err := s.source(r)
	if err != nil {
		return err
	}
	release, err := s.Reader(r)
	if err != nil {
		return err
	}
	defer release()
	l, leave, err := s.feeds.join(key, from)
	if err != nil {
		return err
	}
	defer leave()
	if err := l.feed.begun(r.Context()); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // proxies must not buffer it
	p := exchange.NewPatient(w, s.WriteTimeout)
	defer p.Limit() // for the server's final writes
	return s.relay(p, r, l)
}

// source returns the source of a stream's messages: this node, or the one named by node=.
func (s *Streams) source(r *exchange.Request) (key string, from source, err error) {
	if node, err := s.other(r); err != nil || node != "" {
		if err != nil {
			return "", nil, err
		}
		return s.farSource(r, node)
	}
	if s.Live == nil {
		return "", nil, exchange.Absent("live stream")
	}
	in := exchange.Read(r)
	commands := in.Truth("control")
	if in.Err != nil {
		return "", nil, in.Err
	}
	key, sel, err := s.liveSelection(r)
	from = func(f *feed) (func(), error) { return s.Live.Subscribe(sel, f.deliver) }
	if err != nil || !commands {
		return key, from, err
	}
	if s.Control == nil {
		return "", nil, exchange.Absent("control")
	}
	return key + " with control", s.withControl(sel, from), nil
}

const (
	maxPatterns = 32     // per stream
	maxFiltered = 10_000 // points that unit and tags may select for one stream
)

var (
	errPatterns = fmt.Errorf("may be given %d times", maxPatterns)
	errFiltered = fmt.Errorf("unit and tags select more than %d points here; give a pattern, too, or read all and filter them yourself", maxFiltered)
)

// liveSelection parses the selection of a stream. Streams with the same key have the same selection.
func (s *Streams) liveSelection(r *exchange.Request) (key string, sel wire.Selection, err error) {
	in := exchange.Read(r)
	unit, _ := in.Text("unit")
	tags, patterns := in.Tags(), slices.Compact(slices.Sorted(slices.Values(in.All("pattern"))))
	if len(patterns) > maxPatterns {
		in.Fail("pattern", errPatterns)
	}
	if in.Err != nil {
		return "", sel, in.Err
	}
	if !slices.Contains(patterns, "") { // which selects everything
		for _, p := range patterns {
			sel.Patterns = append(sel.Patterns, point.Pattern(p))
		}
	}
	if unit == "" && len(tags) == 0 {
		return fmt.Sprintf("patterns %q", sel.Patterns), sel, nil
	}
	points, err := s.described(r, sel.Patterns, catalog.Filter{Unit: unit, Tags: tags})
	sel.Keep = func(p point.Path) bool { return points[p] }
	// The catalogue may have changed since another client made the same selection: the points decide.
	return fmt.Sprintf("points %x", sha256.Sum256(fmt.Appendf(nil, "%q", slices.Sorted(maps.Keys(points))))), sel, err
}

// described returns the points that currently match the filter and one of the patterns.
func (s *Streams) described(r *exchange.Request, patterns []point.Pattern, f catalog.Filter) (map[point.Path]bool, error) {
	if s.Points == nil {
		return nil, exchange.Absent("points")
	}
	if len(patterns) == 0 {
		patterns = []point.Pattern{""}
	}
	points := make(map[point.Path]bool)
	f.Limit = maxFiltered + 1
	for _, f.Pattern = range patterns {
		page, err := s.Points.Search(r.Context(), f)
		if err != nil {
			return nil, err
		}
		for i := range page.Entries {
			points[page.Entries[i].Path] = true
		}
		if len(points) > maxFiltered {
			return nil, fault.E("api.stream", fault.Invalid, "pattern", errFiltered)
		}
	}
	return points, nil
}

// Reader takes a place for a reader of a stream; release returns it.
func (s *Streams) Reader(r *exchange.Request) (release func(), err error) {
	return s.Places.Take(r.User.Name, 1)
}

// relay sends events. Those that arrive within a moment are sent together, so that many small
// messages cost no more than a few large ones. Write errors end it silently: the client has
// disconnected.
func (s *Streams) relay(w *exchange.Patient, r *exchange.Request, l *listener) error {
	alive, pause := time.NewTicker(s.KeepAlive), time.NewTimer(0)
	defer alive.Stop()
	defer pause.Stop()
	parts := [][]byte{[]byte(": connected\n\n")}
	for {
		if len(parts) > 0 {
			if w.Send(parts...) != nil {
				return nil // the client has disconnected, which is how streams end
			}
			pause.Reset(s.Gather)
			select {
			case <-r.Context().Done():
				return s.LastEvent(w, r, r.Context().Err())
			case <-pause.C:
			}
		}
		clear(parts) // what was sent may be freed
		var news <-chan struct{}
		var err error
		if parts, news, err = l.take(parts[:0]); err != nil {
			return s.LastEvent(w, r, s.reason(err))
		}
		if len(parts) > 0 {
			continue
		}
		select {
		case <-r.Context().Done():
			return s.LastEvent(w, r, r.Context().Err())
		case <-news:
		case <-alive.C:
			parts = append(parts, []byte(": alive\n\n"))
		}
	}
}

// reason returns why a stream ends, and counts readers that are cut off.
func (s *Streams) reason(err error) error {
	if !errors.Is(err, errSlow) {
		return err
	}
	s.cut.Add(1)
	return fault.E("api.stream", fault.Unavailable, "stream", err)
}

// LastEvent sends the client the reason why the stream ends. A client that has disconnected gets nothing.
func (s *Streams) LastEvent(w *exchange.Patient, r *exchange.Request, err error) error {
	if r.Context().Err() != nil {
		if err = r.Ended(); err == nil {
			return nil
		}
	}
	s.LogProblem(r.Request, http.StatusOK, err)
	b, err := json.Marshal(exchange.ProblemOf(err, r.URL.Path))
	if err != nil {
		return nil //nolint:nilerr // a problem can always be written
	}
	_ = w.Send(exchange.AppendEvent(nil, "error", b)) // an error means that the client has disconnected
	return nil
}
