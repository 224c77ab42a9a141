package dispatch

import (
	"slices"

	"voltbus/audit"
	"voltbus/control"
	"voltbus/point"
)

// turn is a set of requests decided together.
type turn struct {
	now      control.Instant
	writes   []control.Write
	events   []control.Event
	entries  []audit.Entry
	jobs     []*job
	fresh    []point.Path // points that callers may wait for: those of new commands, and of outcomes
	outcomes bool         // it began with outcomes of writes
	last     bool         // the dispatcher is stopping: nothing new is sent
}

// expect reserves space for what so many commands or outcomes usually cause.
func (t *turn) expect(n int) {
	t.writes, t.events, t.entries = slices.Grow(t.writes, n), slices.Grow(t.events, n), slices.Grow(t.entries, n)
}

// add collects the effects of a request, or of the passing of time. said is the write that an entry already
// names; 0 if none does.
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
		case w.Again, w.Read && w.Cause == control.CauseCheck: // the retry was reported, and a read changes nothing
		case t.last:
			t.entries = append(t.entries, entryOfWrite(actor, w, "not sent: the node stops"))
		case w.ID != said:
			t.entries = append(t.entries, entryOfWrite(actor, w, "sent"))
		}
	}
}
