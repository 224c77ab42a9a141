package service

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/wire"
)

// Live delivers what devices report as it happens, as package bus does.
type Live interface {
	Subscribe(sel wire.Selection, deliver func(message json.RawMessage)) (stop func(), err error)
}

// Bounds of listeners at another node.
const (
	earLease    = time.Minute      // a listener that is silent this long ends
	earMessages = 4096             // pending; older ones are dropped and counted
	earBytes    = 2 << 20          // pending bytes
	earsEach    = 32               // listeners per neighbour
	maxListen   = 20 * time.Second // longest wait of an answer for a message
	usualListen = 10 * time.Second
)

var (
	errEars   = fmt.Errorf("%d others listen already for this neighbour; end one", earsEach)
	errListen = fmt.Errorf("is a number of seconds from 0 to %g", maxListen.Seconds())
	errDeaf   = errors.New("write a pattern of points, such as campus/**; ** for everything")
)

// listen are the arguments of the method.
type listen struct {
	Pattern string   `json:"pattern"`
	Cursor  string   `json:"cursor"`
	Wait    *float64 `json:"wait"`
}

// heard is the answer.
type heard struct {
	Cursor   string            `json:"cursor"`
	Messages []json.RawMessage `json:"messages"`
	Dropped  uint64            `json:"dropped"` // since the last answer, because more arrived than was fetched
	Begun    bool              `json:"begun"`   // it has just begun to listen; earlier messages are unknown
}

// ears holds the listeners, by cursor.
type ears struct {
	mu   sync.Mutex
	list map[string]*ear
}

// ear listens for a caller, as long as the caller keeps asking.
type ear struct {
	neighbour, who, pattern string
	stop                    func()
	lease                   *time.Timer

	mu      sync.Mutex
	grants  identity.Grants
	wait    []json.RawMessage
	bytes   int
	first   uint64 // the number of wait[0]
	dropped uint64
	news    chan struct{} // holds one entry when something has arrived
}

func (e *ear) hear(message json.RawMessage) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wait = append(e.wait, append(json.RawMessage(nil), message...))
	e.bytes += len(message)
	for len(e.wait) > earMessages || e.bytes > earBytes {
		e.bytes -= len(e.wait[0])
		e.wait = e.wait[1:]
		e.first++
		e.dropped++
	}
	select {
	case e.news <- struct{}{}:
	default:
	}
}

// keep filters by the current rights of the neighbour.
func (e *ear) keep(path point.Path) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.grants.MaySubscribe(path) == nil
}

// take drops what arrived before a number, and returns the rest.
func (e *ear) take(from uint64) (messages []json.RawMessage, next, dropped uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.wait) > 0 && e.first < from {
		e.bytes -= len(e.wait[0])
		e.wait = e.wait[1:]
		e.first++
	}
	dropped, e.dropped = e.dropped, 0
	return append([]json.RawMessage{}, e.wait...), e.first + uint64(len(e.wait)), dropped
}

// listen answers with the live messages since the last answer, and waits for some. The listener is kept as long as the caller keeps asking.
func (s *Service) listen(ctx context.Context, r *request) ([]byte, error) {
	const op = "service.listen"
	if s.cfg.Live == nil {
		return nil, absent("live messages")
	}
	var in listen
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	wait := usualListen
	if in.Wait != nil {
		if !(*in.Wait >= 0 && *in.Wait <= maxListen.Seconds()) {
			return nil, fault.E(op, fault.Invalid, "wait", errListen)
		}
		wait = time.Duration(*in.Wait * float64(time.Second))
	}
	if in.Pattern == "" || point.Path(in.Pattern).Validate() != nil {
		return nil, fault.E(op, fault.Invalid, "pattern", errDeaf)
	}
	id, place, _ := strings.Cut(in.Cursor, ".")
	from, _ := strconv.ParseUint(place, 10, 64)
	e, begun := s.ears.find(id, r, in.Pattern), false
	if e == nil {
		var err error
		if id, e, err = s.hearFor(r, in.Pattern); err != nil {
			return nil, err
		}
		from, begun, wait = 0, true, 0
	}
	return e.answer(ctx, id, from, begun, wait)
}

// answer waits until there is something to report.
func (e *ear) answer(ctx context.Context, id string, from uint64, begun bool, wait time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		messages, next, dropped := e.take(from)
		if len(messages) > 0 || dropped > 0 || begun || ctx.Err() != nil {
			return encode(heard{Cursor: id + "." + strconv.FormatUint(next, 10), Messages: messages, Dropped: dropped, Begun: begun})
		}
		select {
		case <-e.news:
		case <-ctx.Done():
		}
	}
}

// find returns the listener of a caller, with a new lease.
func (l *ears) find(id string, r *request, pattern string) *ear {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.list[id]
	if e == nil || e.neighbour != r.agent.Name || e.who != r.requester() || e.pattern != pattern {
		return nil
	}
	e.lease.Reset(earLease)
	e.mu.Lock()
	e.grants = r.grants
	e.mu.Unlock()
	return e
}

// hearFor begins to listen on behalf of a caller.
func (s *Service) hearFor(r *request, pattern string) (id string, e *ear, err error) {
	l := &s.ears
	l.mu.Lock()
	defer l.mu.Unlock()
	others := 0
	for _, o := range l.list {
		if o.neighbour == r.agent.Name {
			others++
		}
	}
	if others >= earsEach {
		return "", nil, fault.E("service.listen", fault.Unavailable, r.agent.Name, errEars)
	}
	e = &ear{neighbour: r.agent.Name, who: r.requester(), pattern: pattern, grants: r.grants, news: make(chan struct{}, 1)}
	e.stop, err = s.cfg.Live.Subscribe(wire.Selection{Patterns: []point.Pattern{point.Pattern(pattern)}, Keep: e.keep}, e.hear)
	if err != nil {
		return "", nil, err
	}
	id = rand.Text()
	e.lease = time.AfterFunc(earLease, func() { l.drop(id) })
	if l.list == nil {
		l.list = map[string]*ear{}
	}
	l.list[id] = e
	return id, e, nil
}

// drop ends the listeners that are no longer polled.
func (l *ears) drop(id string) {
	l.mu.Lock()
	e := l.list[id]
	delete(l.list, id)
	l.mu.Unlock()
	if e != nil {
		e.stop()
	}
}

// Close ends all listeners.
func (s *Service) Close() {
	s.ears.mu.Lock()
	list := s.ears.list
	s.ears.list = nil
	s.ears.mu.Unlock()
	for _, e := range list {
		e.lease.Stop()
		e.stop()
	}
}
