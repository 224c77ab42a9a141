package dispatch

import (
	"slices"

	"voltbus/audit"
	"voltbus/control"
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

// add takes over the effects of a request, or of time passing. said is the write that an entry
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
