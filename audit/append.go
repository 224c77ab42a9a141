package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/fault"
)

const (
	maxBatch   = 4096 // entries of one transaction, unless one Append has more
	maxOffered = 4096 // entries of Offer that may wait

	anchorEvery = time.Second
	verifyFirst = time.Minute // so that a start is not slowed
	verifyEvery = 24 * time.Hour
	verifyAgain = time.Minute // where the log could not be read
)

// item is what one caller wants written, all of it in one transaction.
type item struct {
	entries []Entry
	offered bool
	change  func(*sql.Tx) error // of the same transaction; nil for none
	done    chan struct{}       // closed when err says how it ended
	err     error
}

var errClosed = errors.New("the audit log is closed")

// Append writes entries, all or none, and returns when the disk has them. Many callers share one
// transaction. If ctx ends first the entries are written all the same, unless the disk fails.
func (l *Log) Append(ctx context.Context, entries ...Entry) error {
	if len(entries) == 0 {
		return nil
	}
	it := &item{entries: append([]Entry(nil), entries...), done: make(chan struct{})}
	for i := range it.entries {
		if it.entries[i].Actor == "" || it.entries[i].Action == "" {
			return fault.E("audit.Append", fault.Invalid, it.entries[i].Subject, errNameless)
		}
		it.entries[i].tidy(l.now())
	}
	if err := l.put(it); err != nil {
		return err
	}
	for {
		select {
		case <-it.done:
			return it.err
		case l.commit <- struct{}{}: // nobody writes: this caller does, for all who wait
			_ = l.flush() //nolint:contextcheck // what is taken is written, whoever waits; the items know how it ended
			<-l.commit
		case <-ctx.Done():
			return fault.E("audit.Append", fault.KindOf(ctx.Err()), File, ctx.Err())
		}
	}
}

func (l *Log) put(it *item) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fault.E("audit.Append", fault.Unavailable, File, errClosed)
	}
	l.queue = append(l.queue, it)
	return nil
}

// Offer hands over an entry that Run writes soon. It never waits. An actor that offers more than its
// allowance (200 entries or 256 KiB at once, then one entry or 1 KiB a second), and whoever finds no room, is
// counted as Gather counts: one entry a minute for each of its actions, with the number and the last of them.
// Entries are lost only when the disk fails: an entry "audit.dropped" says how many.
func (l *Log) Offer(e Entry) {
	e.name()
	e.tidy(l.now())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.offer(e)
}

// offer is Offer for an entry that is tidy. The caller holds mu.
func (l *Log) offer(e Entry) {
	switch {
	case l.closed:
		l.dropped++
		l.lost++
	case !l.allow(&e, l.now()):
		l.hold(e)
	case l.waiting >= maxOffered, l.waiting >= maxOffered/2 && e.Actor != self && !strings.HasPrefix(e.Actor, "person:"):
		l.hold(e)
	default:
		l.enqueue(e)
	}
}

// enqueue lets Run write an entry. The caller holds mu.
func (l *Log) enqueue(e Entry) {
	l.waiting++
	l.queue = append(l.queue, &item{entries: []Entry{e}, offered: true, done: make(chan struct{})})
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// Run writes what Offer hands over, notes each second where the log ends, and follows the whole
// chain once a day, writes the sums of Gather and keeps the file in its Bound. It returns nil when ctx ends and everything is written.
func (l *Log) Run(ctx context.Context) error {
	var g errgroup.Group
	g.Go(func() error { l.write(ctx); return nil })
	g.Go(func() error { l.watch(ctx); return nil })
	g.Go(func() error { l.shrink(ctx); return nil })
	return g.Wait()
}

func (l *Log) write(ctx context.Context) {
	tick := time.NewTicker(anchorEvery)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-ctx.Done():
			ended = true
		case <-l.news:
		case <-tick.C:
		}
		l.ripe(ended)
		l.commit <- struct{}{}
		_ = l.flush() //nolint:contextcheck // what is taken is written, also at the end; Status tells
		if l.wrote {
			l.stray(l.drop(false))
		}
		<-l.commit
	}
}

func (l *Log) watch(ctx context.Context) {
	timer := time.NewTimer(verifyFirst)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		next := verifyEvery
		if _, err := l.Verify(ctx, nil); err != nil { // it could not be read; Status tells of what is wrong with it
			next = verifyAgain
		}
		timer.Reset(next)
	}
}

// flush writes all that waits. The caller holds commit. The error is that of the last transaction.
func (l *Log) flush() error {
	var last error
	for {
		batch, dropped, anew := l.next()
		if len(batch) == 0 && dropped == 0 {
			return last
		}
		last = l.transact(batch, dropped, anew)
		if last != nil && len(batch) == 0 {
			return last
		}
	}
}

// next takes the next items off the queue, and what the log itself has to say.
func (l *Log) next() (batch []*item, dropped uint64, anew string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	entries, n := 0, 0
	for n < len(l.queue) && entries < maxBatch {
		entries += len(l.queue[n].entries)
		if l.queue[n].offered {
			l.waiting--
		}
		n++
	}
	batch = l.queue[:n:n]
	if l.queue = l.queue[n:]; len(l.queue) == 0 {
		l.queue = nil
	}
	return batch, l.dropped, l.anew
}

// transact writes a batch in one transaction and tells everybody how it ended.
func (l *Log) transact(batch []*item, dropped uint64, anew string) error {
	head, segment := l.head, l.segment
	var entries []*Entry
	if anew != "" {
		segment++
		entries = append(entries, l.own(Segment, fmt.Sprintf("segment %d", segment), struct {
			Reason string `json:"reason"`
			After  Head   `json:"after"`
		}{anew, head}))
	}
	if dropped > 0 {
		entries = append(entries, l.own(Dropped, "", struct {
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
		e.Hash, l.buf = e.sum(l.buf, before)
		head = Head{Seq: e.Seq, Hash: e.Hash}
	}
	err := l.store(entries, batch)
	l.settle(batch, dropped, err, func() {
		l.head, l.segment = head, segment
		if anew != "" {
			l.anew = ""
		}
	})
	return err
}

// own makes an entry of the log itself.
func (l *Log) own(action, subject string, detail any) *Entry {
	e := &Entry{Actor: self, Action: action, Subject: subject, Outcome: "ok", Detail: mustJSON(detail)}
	e.tidy(l.now())
	return e
}

// settle tells those of a batch how it ended; done changes the log's state after a success.
func (l *Log) settle(batch []*item, dropped uint64, err error, done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = err
	if err == nil {
		l.dropped -= dropped
		done()
	}
	for _, it := range batch {
		if err != nil && it.offered {
			l.dropped++
			l.lost++
		}
		it.err = err
		close(it.done)
	}
}

// stray remembers why the anchor could not be written, nil when it could.
func (l *Log) stray(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.astray = err
}

// store puts entries into the file. Before the first one the anchor says that the log is open, so
// that entries behind a closed one show.
func (l *Log) store(entries []*Entry, batch []*item) error {
	if l.anchor == (anchor{}) || l.anchor.Closed {
		if err := l.drop(false); err != nil {
			return err
		}
	}
	l.wrote = true
	return wrap("audit.Append", l.file, l.insert(entries, batch))
}
