package store

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/point"
)

// EventKeeper keeps what meters report beside readings. Its place in the log is another one than that of readings, since events
// overtake readings.
type EventKeeper interface {
	// AppendEvents stores events and the place behind them in the log in one transaction, durably. All are recorded at one moment, which is
	// not before that of any other call. An event that is there already, by its Key, is left out, also if it is twice in the batch; the first
	// one counts. Events of meters that are not registered are stored too.
	AppendEvents(ctx context.Context, b *EventBatch) (EventResult, error)
	// EventCursor returns the place in the log of the last batch of events that had one; empty and 0 before the first.
	EventCursor(ctx context.Context) (log string, sequence uint64, err error)
	// Events lists events, the newest first by their time; of equal times the one that was recorded last. It fails with fault.NotFound if
	// no event has the number q.After.
	Events(ctx context.Context, q EventQuery) ([]Event, error)
}

// Event is an event as it is stored.
type Event struct {
	meter.Event           // At in whole milliseconds
	Number      uint64    // from 1, in the order of recording
	Recorded    time.Time // since when it is known
	Who         string    // who sent it
}

// EventKey tells events apart: two with the same are one event that came twice.
type EventKey struct {
	Meter string
	At    int64 // Unix milliseconds
	Kind  meter.EventKind
	Code  meter.EventCode
}

// Key returns the key of an event.
func (e *Event) Key() EventKey { return EventKey{e.Meter, e.At.UnixMilli(), e.Kind, e.Code} }

// EventBatch is events on their way into a store. Number and Recorded of the events do not count.
type EventBatch struct {
	Log      string // the log behind whose entry Sequence they stand; "" if they are of none
	Sequence uint64
	Events   []Event
}

// EventResult is what AppendEvents did.
type EventResult struct {
	Stored   int
	Repeated int       // were there already
	Recorded time.Time // the moment from which on they are known
}

// EventQuery asks for events. Zero values leave a condition out.
type EventQuery struct {
	Meter    string
	Kinds    []meter.EventKind
	From, To time.Time // events after From and not after To
	After    uint64    // the number of the event behind which the list begins
	Limit    int       // the most; 0 for 100
}

// Most is how many events are listed.
func (q *EventQuery) Most() int {
	if q.Limit <= 0 {
		return defaultExceptions
	}
	return q.Limit
}

// Wants reports whether an event meets the conditions, without After and Limit.
func (q *EventQuery) Wants(e *Event) bool {
	return (q.Meter == "" || e.Meter == q.Meter) && (len(q.Kinds) == 0 || slices.Contains(q.Kinds, e.Kind)) &&
		(q.From.IsZero() || e.At.After(q.From)) && (q.To.IsZero() || !e.At.After(q.To))
}

// NoEvent is the error of a query behind an event that is not there.
func NoEvent(op string, number uint64) error {
	return fault.E(op, fault.NotFound, strconv.FormatUint(number, 10), errors.New("no event has this number: list them anew"))
}

// Distinct returns the events of the batch of which none is there twice, the first of each, with their times in whole milliseconds.
func (b *EventBatch) Distinct() []Event {
	seen := make(map[EventKey]bool, len(b.Events))
	out := make([]Event, 0, len(b.Events))
	for i := range b.Events {
		e := b.Events[i]
		e.At = e.At.UTC().Truncate(time.Millisecond)
		if key := e.Key(); !seen[key] {
			seen[key] = true
			out = append(out, e)
		}
	}
	return out
}

// eventMark ends the points of events in blocks of the log: meters/<meter>/event.
const eventMark = "/event"

// EventPath returns the point of a meter's events.
func EventPath(id string) point.Path { return point.Path(Branch + id + eventMark) }

// MeterOf is the inverse of EventPath; false for a point that is none of events.
func MeterOf(p point.Path) (id string, ok bool) {
	rest, ok := strings.CutPrefix(string(p), Branch)
	if !ok {
		return "", false
	}
	id, ok = strings.CutSuffix(rest, eventMark)
	return id, ok && id != ""
}

// Take adds the events of a block of the log, and its place. Samples that are no events are left out; their number is returned. Senders and
// times are believed as Batch.Take does.
func (b *EventBatch) Take(block *point.Block, own string, now time.Time) (left int) {
	from := NodeSender(block.Origin)
	who := from
	for i, p := range block.Point {
		if block.Kind[i] != point.Text {
			left++
			continue
		}
		text := strings.Clone(block.Texts[block.Bits[i]])
		if block.Points[p] == SenderPoint {
			if who = text; block.Origin != own {
				who = from + "/" + text
			}
			continue
		}
		e := Event{Who: who}
		id, is := MeterOf(block.Points[p])
		if !is || e.SetText(text) != nil || (block.Origin != own && !Plausible(block.Time[i], now)) {
			left++
			continue
		}
		e.Meter, e.At = strings.Clone(id), time.UnixMicro(block.Time[i]).UTC()
		b.Events = append(b.Events, e)
	}
	b.Log, b.Sequence = block.Log, block.LogSequence
	return left
}
