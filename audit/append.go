package audit

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/fault"
)

const (
	anchorEvery = time.Second
	verifyFirst = time.Minute // so that it does not slow the start
	verifyEvery = 24 * time.Hour
	verifyAgain = time.Minute // if the log could not be read
)

// Append writes entries, all or none, and returns when they are on disk. Concurrent callers share one
// transaction. If ctx ends first the entries are written anyway, unless the disk fails.
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
		case l.writer.commit <- struct{}{}: // no write in progress: this caller writes for all that wait
			_ = l.writer.flush() //nolint:contextcheck // what is taken is written, whoever waits; the items know how it ended
			<-l.writer.commit
		case <-ctx.Done():
			return fault.E("audit.Append", fault.KindOf(ctx.Err()), File, ctx.Err())
		}
	}
}

// Run writes the entries of Offer, records every second where the log ends, verifies the whole chain once a day, writes the sums of
// Gather and keeps the file within its Bound. It returns nil when ctx ends and everything is written.
func (l *Log) Run(ctx context.Context) error {
	var g errgroup.Group
	g.Go(func() error { l.writer.run(ctx); return nil })
	g.Go(func() error { l.watch(ctx); return nil })
	g.Go(func() error { l.shrink(ctx); return nil })
	return g.Wait()
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
		if _, err := l.Verify(ctx, nil); err != nil { // it could not be read; Status reports what is wrong with the chain
			next = verifyAgain
		}
		timer.Reset(next)
	}
}
