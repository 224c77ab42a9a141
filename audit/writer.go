package audit

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"time"

	"voltbus/internal/atomicfile"
)

// writer writes entries to the file, and the end of the log to the anchor beside it. Its methods may be
// called by the holder of commit, except where they say otherwise.
type writer struct {
	db     *sql.DB
	puts   []put // for db
	file   string
	now    func() time.Time
	state  *state
	intake *intake

	commit chan struct{} // holds an element while a write is in progress
	anchor anchor        // as it is on disk
	wrote  bool          // entries have been written since Open
	buf    []byte
}

// run writes the entries of Offer, and records every second where the log ends.
func (w *writer) run(ctx context.Context) {
	tick := time.NewTicker(anchorEvery)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-ctx.Done():
			ended = true
		case <-w.intake.news:
		case <-tick.C:
		}
		w.intake.ripe(ended)
		w.commit <- struct{}{}
		_ = w.flush() //nolint:contextcheck // what is taken is written, also at the end; Status tells
		if w.wrote {
			w.state.stray(w.drop(false))
		}
		<-w.commit
	}
}

// flush writes all pending entries. The caller holds commit. The error is that of the last transaction.
func (w *writer) flush() error {
	var last error
	for {
		batch, dropped := w.intake.next()
		if len(batch) == 0 && dropped == 0 {
			return last
		}
		last = w.transact(batch, dropped)
		if last != nil && len(batch) == 0 {
			return last
		}
	}
}

// transact writes a batch in one transaction and gives all waiting callers its outcome.
func (w *writer) transact(batch []*item, dropped uint64) error {
	head, segment, anew := w.state.end()
	var entries []*Entry
	if anew != "" {
		segment++
		entries = append(entries, w.own(Segment, fmt.Sprintf("segment %d", segment), struct {
			Reason string `json:"reason"`
			After  Head   `json:"after"`
		}{anew, head}))
	}
	if dropped > 0 {
		entries = append(entries, w.own(Dropped, "", struct {
			Entries uint64 `json:"entries"`
		}{dropped}))
	}
	for _, it := range batch {
		for i := range it.entries {
			entries = append(entries, &it.entries[i])
		}
	}
	for i, e := range entries {
		before := head.Hash
		if anew != "" && i == 0 {
			before = Hash{}
		}
		e.Seq, e.Segment = head.Seq+1, segment
		e.Hash, w.buf = e.sum(w.buf, before)
		head = Head{Seq: e.Seq, Hash: e.Hash}
	}
	err := w.store(entries, batch)
	w.state.settle(head, segment, anew != "", err)
	w.intake.settle(batch, dropped, err)
	return err
}

// own returns an entry of the log itself.
func (w *writer) own(action, subject string, detail any) *Entry {
	e := &Entry{Actor: self, Action: action, Subject: subject, Outcome: "ok", Detail: mustJSON(detail)}
	e.tidy(w.now())
	return e
}

// store inserts entries into the file. Before the first one the anchor is marked open, so that entries after
// a closed end are detected.
func (w *writer) store(entries []*Entry, batch []*item) error {
	if w.anchor == (anchor{}) || w.anchor.Closed {
		if err := w.drop(false); err != nil {
			return err
		}
	}
	w.wrote = true
	return wrap("audit.Append", w.file, w.insert(entries, batch))
}

// drop records where the log now ends. The caller holds commit.
func (w *writer) drop(closed bool) error {
	head, segment, _ := w.state.end()
	a := anchor{Head: head, Segment: segment, Closed: closed}
	if a == w.anchor {
		return nil
	}
	file := filepath.Join(filepath.Dir(w.file), Anchor)
	err := atomicfile.Writer{}.Write(file, append(mustJSON(a), '\n'), 0o600)
	if err != nil {
		return wrap("audit.drop", file, err)
	}
	w.anchor = a
	return nil
}

// beginAnew begins the segment that the next entry would begin.
func (w *writer) beginAnew() error {
	w.commit <- struct{}{}
	defer func() { <-w.commit }()
	if err := w.flush(); err != nil {
		return err
	}
	if _, _, anew := w.state.end(); anew == "" {
		return nil
	}
	return w.transact(nil, 0)
}

// announce writes an entry about an archive, together with a change of the table of archives.
func (w *writer) announce(action string, a *Archive, change func(*sql.Tx) error) error {
	w.commit <- struct{}{}
	defer func() { <-w.commit }()
	if w.intake.isClosed() {
		return errClosed
	}
	it := &item{entries: []Entry{*w.own(action, a.File, a)}, change: change, done: make(chan struct{})}
	return w.transact([]*item{it}, 0)
}
