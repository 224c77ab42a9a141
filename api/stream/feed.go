package stream

import (
	"context"
	"encoding/json"
	"sync"

	"voltbus/api/exchange"
)

// feeds holds the live messages being read: those of one selection are requested, filtered and
// encoded as events once, however many clients read them. It is safe for concurrent use.
type feeds struct {
	most int // bytes of events that may be pending for a reader

	mu   sync.Mutex
	list map[string]*feed
}

func newFeeds(most int) *feeds {
	return &feeds{most: most, list: make(map[string]*feed)}
}

// source begins to fill a feed, and returns the function that ends it.
type source func(*feed) (stop func(), err error)

// join adds a reader of a source's events; sources with the same key are equal. leave removes the reader, and ends the feed with its last one.
func (s *feeds) join(key string, from source) (l *listener, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.list[key]
	if f == nil || f.ended() {
		f = &feed{most: int64(s.most), readers: make(map[*listener]struct{}), news: make(chan struct{})}
		l = f.join() // before the first message
		if f.stop, err = from(f); err != nil {
			return nil, nil, err
		}
		s.list[key] = f
	} else {
		l = f.join()
	}
	return l, func() { s.leave(key, f, l) }, nil
}

func (s *feeds) leave(key string, f *feed, l *listener) {
	s.mu.Lock()
	last := f.leave(l) == 0
	if last && s.list[key] == f {
		delete(s.list, key)
	}
	s.mu.Unlock()
	if last {
		f.stop()
	}
}

// pieceSize is the unit in which a feed is allocated and dropped.
const pieceSize = 16 << 10

// feed holds the latest events of one selection, as they are sent. Appended data never changes, so readers send it without a copy.
type feed struct {
	most int64
	stop func()
	open chan struct{} // closed when the source listens or failed to; nil for one that listens at once

	mu      sync.Mutex
	pieces  []piece
	end     int64 // end of the last piece: bytes since the feed began
	err     error // why the feed has ended
	readers map[*listener]struct{}
	waiting bool          // a reader waits for news
	news    chan struct{} // closed by the next event if a reader waits
}

// piece is a chunk of a feed.
type piece struct {
	start int64 // offset of data in the feed
	data  []byte
}

// listener is a reader's place in a feed. One goroutine uses it.
type listener struct {
	feed *feed
	at   int64 // end of what it took last; guarded by the feed
}

func (f *feed) join() *listener {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := &listener{feed: f, at: f.end}
	f.readers[l] = struct{}{}
	return l
}

// leave returns how many readers remain.
func (f *feed) leave(l *listener) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.readers, l)
	return len(f.readers)
}

// begun waits until the source listens, and returns why it does not.
func (f *feed) begun(ctx context.Context) error {
	if f.open == nil {
		return nil
	}
	select {
	case <-f.open:
	case <-ctx.Done():
		return ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// ended reports whether the feed has ended.
func (f *feed) ended() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err != nil
}

// fail ends the feed; readers get the reason after the remaining items.
func (f *feed) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
	f.tell()
}

// deliver appends a live message as an event. It never waits for a reader.
func (f *feed) deliver(message json.RawMessage) { f.put("scan", message) }

func (f *feed) put(event string, message json.RawMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.append(event, message)
	f.tell()
}

// tell wakes the waiting readers. The caller holds mu.
func (f *feed) tell() {
	if f.waiting {
		f.waiting = false
		close(f.news)
		f.news = make(chan struct{})
	}
}

// append appends an event to the last piece, or to a new one if that is full.
func (f *feed) append(event string, message json.RawMessage) {
	last := len(f.pieces) - 1
	if need := len(message) + len(event) + exchange.EventFrame; last < 0 || cap(f.pieces[last].data)-len(f.pieces[last].data) < need {
		f.forget()
		f.pieces = append(f.pieces, piece{start: f.end, data: make([]byte, 0, max(pieceSize, need))})
		last = len(f.pieces) - 1
	}
	p := &f.pieces[last]
	p.data = exchange.AppendEvent(p.data, event, message)
	f.end = p.start + int64(len(p.data))
}

// forget drops the pieces that no reader needs: all have read them, or are cut off.
func (f *feed) forget() {
	needed := f.end
	for l := range f.readers {
		needed = min(needed, max(l.at, f.end-f.most))
	}
	n := 0
	for n < len(f.pieces) && f.pieces[n].start+int64(len(f.pieces[n].data)) <= needed {
		n++
	}
	kept := copy(f.pieces, f.pieces[n:])
	clear(f.pieces[kept:])
	f.pieces = f.pieces[:kept]
}

// take appends to parts the events that the reader has not taken yet. If there are none, news is closed
// when there are. errSlow means that too many were pending; another error tells why the feed ended.
// parts must not be modified.
func (l *listener) take(parts [][]byte) (_ [][]byte, news <-chan struct{}, err error) {
	f := l.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.end-l.at > f.most:
		return parts, nil, errSlow
	case f.end == l.at && f.err != nil:
		return parts, nil, f.err
	case f.end == l.at:
		f.waiting = true
		return parts, f.news, nil
	}
	for _, p := range f.pieces {
		if from := max(0, l.at-p.start); from < int64(len(p.data)) {
			parts = append(parts, p.data[from:len(p.data):len(p.data)])
		}
	}
	l.at = f.end
	return parts, nil, nil
}
