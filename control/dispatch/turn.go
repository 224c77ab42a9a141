package dispatch

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"voltbus/audit"
	"voltbus/control"
	"voltbus/fault"
	"voltbus/point"
)

// turn is what is decided together.
type turn struct {
	now      control.Instant
	writes   []control.Write
	events   []control.Event
	entries  []audit.Entry
	jobs     []*job
	fresh    []point.Path // points that callers may wait for: of new commands, and of outcomes
	outcomes bool         // it began with outcomes of writes
	last     bool         // the dispatcher stops: nothing new is sent
}

// expect makes room for what so many commands or outcomes usually lead to.
func (t *turn) expect(n int) {
	t.writes, t.events, t.entries = slices.Grow(t.writes, n), slices.Grow(t.events, n), slices.Grow(t.entries, n)
}

// add takes effects over that somebody, or the course of time, caused. said is the write that an entry
// names already; 0 if none does.
func (t *turn) add(actor string, e control.Effects, said uint64) {
	t.writes = append(t.writes, e.Writes...)
	t.events = append(t.events, e.Events...)
	for i := range e.Events {
		if entry, ok := entryOf(actor, &e.Events[i]); ok {
			t.entries = append(t.entries, entry)
		}
	}
	for i := range e.Writes {
		w := &e.Writes[i]
		switch {
		case w.Again, w.Read && w.Cause == control.CauseCheck: // that it is tried again was told, and a look changes nothing
		case t.last:
			t.entries = append(t.entries, entryOfWrite(actor, w, "not sent: the node stops"))
		case w.ID != said:
			t.entries = append(t.entries, entryOfWrite(actor, w, "sent"))
		}
	}
}

// gather decides a request and those that wait behind it.
func (d *Dispatcher) gather(t *turn, first *job) {
	d.enter(t)
	t.expect(min(len(d.jobs), together) + first.size)
	for j, size := first, 0; ; {
		d.do(t, j)
		if size += j.size; size >= together {
			return
		}
		select {
		case j = <-d.jobs:
		default:
			return
		}
	}
}

// do decides one request.
func (d *Dispatcher) do(t *turn, j *job) {
	switch {
	case !j.take():
		return // nobody waits any more, and nothing was done
	case j.makes && d.trouble != nil:
		j.answer(d.trouble)
		return
	}
	j.do(t)
	t.jobs = append(t.jobs, j)
}

// finish keeps what was decided, sends what is to be written, and answers.
func (d *Dispatcher) finish(writing context.Context, t *turn) {
	err := d.keep(t) //nolint:contextcheck // what was decided is kept, whoever waits
	d.survey(t)
	d.follow(t)
	d.watchers.tell(t.events)
	d.recorder.note(d, t)
	for _, j := range t.jobs {
		if j.changes {
			j.answer(err)
		} else {
			j.answer(nil)
		}
	}
	d.send(writing, t, err)
}

// keep stores the changes and writes the audit log, beside each other.
func (d *Dispatcher) keep(t *turn) error {
	d.waiting = behind(d.waiting, t.entries)
	var records []control.Record
	var entries []audit.Entry
	if d.canWait(t) {
		d.keepBy, d.tellBy = cmp.Or(d.keepBy, t.now.Steady+retryKeep), cmp.Or(d.tellBy, t.now.Steady+tellSoon)
	} else {
		d.keepBy = 0
		records = d.withUnsaved(d.model.Changes())
	}
	if late := d.tellBy > 0 && t.now.Steady >= d.tellBy; late || d.keepBy == 0 || len(d.waiting) > maxWaiting {
		entries, d.waiting, d.tellBy = behind(d.untold, d.waiting), nil, 0
	}
	ctx := context.Background() // what was decided is kept, whoever waits
	var kept, told error
	var both sync.WaitGroup
	if len(records) > 0 {
		both.Go(func() { kept = d.cfg.Journal.Keep(ctx, records) })
	}
	if len(entries) > 0 {
		told = d.cfg.Audit.Append(ctx, entries...)
	}
	both.Wait()
	if len(records) > 0 {
		clear(d.unsaved)
	}
	if kept != nil {
		for _, r := range records {
			d.unsaved[[2]string{r.Kind, r.Key}] = r
		}
	}
	if len(entries) > 0 {
		d.untold = nil
	}
	if told != nil {
		d.untold = slices.Clone(entries[:min(len(entries), maxUntold)])
	}
	return d.note(errors.Join(kept, told))
}

// behind returns entries with more behind them, which is not copied if there is nothing else.
func behind(entries, more []audit.Entry) []audit.Entry {
	if len(entries) == 0 {
		return more
	}
	return append(entries, more...)
}

// canWait reports whether nothing happened but outcomes of writes, which lead to nothing new. They are
// kept and told a moment later, with what follows: a node that is killed meanwhile finds those writes
// under way, says so in the audit log, and reads the points.
func (d *Dispatcher) canWait(t *turn) bool {
	due := d.keepBy > 0 && t.now.Steady >= d.keepBy
	idle := t.outcomes || d.keepBy > 0 && len(t.entries) == 0
	return idle && len(t.jobs)+len(t.writes)+len(d.unsaved)+len(d.untold) == 0 && !t.last && !due
}

// withUnsaved puts what could not be kept before under what changed since.
func (d *Dispatcher) withUnsaved(records []control.Record) []control.Record {
	if len(d.unsaved) == 0 {
		return records
	}
	for _, r := range records {
		d.unsaved[[2]string{r.Kind, r.Key}] = r
	}
	records = make([]control.Record, 0, len(d.unsaved))
	for _, r := range d.unsaved {
		records = append(records, r)
	}
	return records
}

// note remembers whether things can be kept.
func (d *Dispatcher) note(err error) error {
	before := d.trouble
	if err != nil {
		err = fault.E("dispatch.keep", fault.Unavailable, "", &unkept{err})
	}
	d.mu.Lock()
	d.trouble = err
	d.mu.Unlock()
	switch {
	case err != nil && before == nil:
		d.cfg.Log.Error("control cannot keep what it decides, and refuses commands", slog.Any("err", err))
	case err == nil && before != nil:
		d.cfg.Log.Info("control keeps what it decides again")
	}
	return err
}

// unkept says that what was decided is not on disk.
type unkept struct{ err error }

// Error implements error.
func (u *unkept) Error() string {
	return "what was decided cannot be kept: " + u.err.Error() + "; nothing new is written to devices until it can; see the node's health"
}

// Unwrap returns the cause.
func (u *unkept) Unwrap() error { return u.err }
