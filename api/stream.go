package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// listener holds the messages that one reader has not taken yet. offer may be called by any
// goroutine and never blocks.
type listener struct {
	most  int           // bytes that may wait
	ready chan struct{} // holds an entry if there is something to take

	mu      sync.Mutex
	waiting []json.RawMessage
	bytes   int
	over    bool // more came than could wait
}

func newListener(most int) *listener {
	return &listener{most: most, ready: make(chan struct{}, 1)}
}

// offer queues a message. If the reader is too far behind, all that waits is dropped and
// nothing is queued any more.
func (l *listener) offer(message json.RawMessage) {
	l.mu.Lock()
	switch {
	case l.over:
	case l.bytes+len(message) > l.most:
		l.over, l.waiting, l.bytes = true, nil, 0
	default:
		l.waiting = append(l.waiting, message)
		l.bytes += len(message)
	}
	l.mu.Unlock()
	select {
	case l.ready <- struct{}{}:
	default:
	}
}

// take returns what waits and whether the reader is too far behind.
func (l *listener) take() (messages []json.RawMessage, over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	messages, l.waiting, l.bytes = l.waiting, nil, 0
	return messages, l.over
}

var (
	errReaders = errors.New("too many readers of live streams; close one, or try again later")
	errSlow    = errors.New("this reader is too slow and was cut off; read faster, or ask for fewer points")
)

// stream sends live messages as server-sent events until the reader goes, falls behind, or its
// login ends.
func (s *server) stream(w http.ResponseWriter, r *request) error {
	if s.cfg.Live == nil {
		return absent("live stream")
	}
	in := s.read(r)
	pattern, _ := in.text("pattern")
	if in.err != nil {
		return in.err
	}
	release, err := s.reader()
	if err != nil {
		return err
	}
	defer release()
	l := newListener(s.cfg.StreamBuffer)
	stop, err := s.cfg.Live.Subscribe(point.Pattern(pattern), l.offer)
	if err != nil {
		return err
	}
	defer stop()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // proxies must not collect it
	p := s.patient(w)
	defer p.limit() // for what the server writes at the end
	return s.relay(p, r, l)
}

// reader takes a place of a reader of a stream; release gives it back.
func (s *server) reader() (release func(), err error) {
	if s.readers.Add(1) > int64(s.cfg.MaxReaders) {
		s.readers.Add(-1)
		return nil, fault.E("api.stream", fault.Unavailable, "stream", errReaders)
	}
	return func() { s.readers.Add(-1) }, nil
}

// relay writes events. Errors of writing end it silently: the reader has gone.
func (s *server) relay(w *patient, r *request, l *listener) error {
	tick := time.NewTicker(s.cfg.KeepAlive)
	defer tick.Stop()
	buf := append(make([]byte, 0, chunk), ": connected\n\n"...)
	for {
		if w.send(buf) != nil {
			return nil // the reader has gone, which is how streams end
		}
		buf = buf[:0]
		select {
		case <-r.Context().Done():
			return nil
		case <-tick.C:
			if _, err := s.user(r.Request); err != nil {
				return s.lastEvent(w, r, err)
			}
			buf = append(buf, ": alive\n\n"...)
		case <-l.ready:
			messages, over := l.take()
			if over {
				s.cut.Add(1)
				return s.lastEvent(w, r, fault.E("api.stream", fault.Unavailable, "stream", errSlow))
			}
			var err error
			if buf, err = w.events(buf, messages); err != nil {
				return nil // as above
			}
		}
	}
}

// events appends messages as events, and sends chunks while there are many. It returns what is
// left to send.
func (p *patient) events(buf []byte, messages []json.RawMessage) ([]byte, error) {
	for _, m := range messages {
		buf = appendEvent(buf, "scan", m)
		if len(buf) < chunk {
			continue
		}
		if err := p.send(buf); err != nil {
			return nil, err
		}
		buf = buf[:0]
	}
	return buf, nil
}

// lastEvent tells the reader why the stream ends.
func (s *server) lastEvent(w *patient, r *request, err error) error {
	s.logProblem(r.Request, http.StatusOK, err)
	b, err := json.Marshal(problem(err, r.URL.Path))
	if err != nil {
		return nil //nolint:nilerr // a problem can always be written
	}
	_ = w.send(appendEvent(nil, "error", b)) // nobody to tell if the reader has gone
	return nil
}

// appendEvent appends an event whose data is JSON. Line breaks between its tokens are taken out:
// they would end the data.
func appendEvent(dst []byte, event string, data json.RawMessage) []byte {
	if bytes.ContainsAny(data, "\r\n") {
		var compact bytes.Buffer
		if err := json.Compact(&compact, data); err != nil {
			return fmt.Appendf(dst, ": a message that is not JSON was left out\n\n")
		}
		data = compact.Bytes()
	}
	dst = append(dst, "event: "...)
	dst = append(dst, event...)
	dst = append(dst, "\ndata: "...)
	dst = append(dst, data...)
	return append(dst, "\n\n"...)
}
