package gate

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/point"
)

// EventConfig is what Events need.
type EventConfig struct {
	Origin  string                 // of the blocks: point.MeterEventOrigin of the node's
	Start   Position               // the last block of it
	Known   func(id string) bool   // whether a meter is registered
	Admit   func(id string) string // judges meters instead: why events of one are refused, "" if they are not; nil where meters are registered
	Forward Forward
	Bounds  point.Bounds     // of the times of events; what lies outside is refused
	Now     func() time.Time // the clock
}

// Events takes in events of meters, as Gate takes in readings. Its blocks have an origin of their own, which is urgent on every hop. It is safe
// for concurrent use.
type Events struct {
	cfg EventConfig

	mu      sync.Mutex
	waiting []*report // that nobody sent yet

	send sync.Mutex // held by who sends; taken before mu
	out  numbered
}

// NewEvents returns a gate for events.
func NewEvents(c EventConfig) *Events {
	return &Events{cfg: c, out: numbered{origin: c.Origin, forward: c.Forward, now: c.Now, last: c.Start}}
}

// Position returns the last block that was handed to the log.
func (g *Events) Position() Position {
	g.send.Lock()
	defer g.send.Unlock()
	return g.out.last
}

// MaxEvents is the most events of one call.
const MaxEvents = 100_000

// blockEvents is how many events a block holds at most: with the longest details it has some 1.2 MB.
const blockEvents = 4_000

// report is the events of one call that were accepted.
type report struct {
	sender string
	events []meter.Event
	sent   bool
	err    error
	waits  []func(context.Context) error
}

// TakeEvents judges events of a sender and makes those durable that are right, as Gate.Take does with readings. Under bounds which: events of
// meters below the path meters/<meter>; "" is all.
func (g *Events) TakeEvents(ctx context.Context, sender, under string, list []meter.Event) (Taken, error) {
	if len(list) > MaxEvents {
		return Taken{}, fault.E("meter.TakeEvents", fault.Invalid, "", fmt.Errorf("%d events: send at most %d at once", len(list), MaxEvents))
	}
	var out Taken
	r := &report{sender: sender, events: make([]meter.Event, 0, len(list))}
	now := g.cfg.Now()
	for i := range list {
		if why := cmp.Or(g.refuseMeter(list[i].Meter, under), refuseEvent(&list[i], g.cfg.Bounds, now)); why != "" {
			out.Refused = append(out.Refused, store.Refusal{Index: i, Reason: why})
			continue
		}
		r.events = append(r.events, list[i])
	}
	if out.Accepted = len(r.events); out.Accepted == 0 {
		return out, nil
	}
	if err := g.commit(ctx, r); err != nil {
		return Taken{}, err
	}
	return out, nil
}

// refuseMeter returns why events of a meter are refused; "" if they are not.
func (g *Events) refuseMeter(id, under string) string {
	switch {
	case id == "":
		return errMeter
	case under != "" && !within([]byte(store.EventPath(id)), under):
		return "this token may not record events of this meter"
	case g.cfg.Admit != nil:
		return g.cfg.Admit(id)
	case !g.cfg.Known(id):
		return "no meter is registered with this id: register it first"
	}
	return ""
}

// refuseEvent returns why an event is refused for what it says; "" if it is not.
func refuseEvent(e *meter.Event, bounds point.Bounds, now time.Time) string {
	switch {
	case e.At.IsZero():
		return "at: missing: give the time of the event"
	case bounds.Ahead > 0 && e.At.After(now.Add(bounds.Ahead)):
		return fmt.Sprintf("at: %s lies in the future: check the clock of the meter", e.At.UTC().Format(time.RFC3339))
	case !bounds.Hold(e.At, now): // too old, as it is not ahead
		return fmt.Sprintf("at: %s is older than this node takes: check the clock of the meter", e.At.UTC().Format(time.RFC3339))
	case len(e.Detail) > meter.MaxDetail:
		return fmt.Sprintf("detail: more than %d bytes", meter.MaxDetail)
	case strings.ContainsFunc(e.Detail, unicode.IsControl):
		return "detail: has a control character"
	}
	return ""
}

// commit sends what waits, and returns when the report is on disk. Who comes while another sends is sent by the next.
func (g *Events) commit(ctx context.Context, r *report) error {
	g.mu.Lock()
	g.waiting = append(g.waiting, r)
	g.mu.Unlock()
	g.send.Lock()
	if !r.sent {
		g.mu.Lock()
		list := g.waiting
		g.waiting = nil
		g.mu.Unlock()
		g.forward(context.WithoutCancel(ctx), list)
	}
	g.send.Unlock()
	for _, wait := range r.waits {
		if err := wait(ctx); err != nil {
			return err
		}
	}
	return r.err
}

// forward hands reports to the log in blocks. The caller holds send.
func (g *Events) forward(ctx context.Context, list []*report) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	block := &point.Block{}
	var of []*report
	flush := func() {
		if len(of) == 0 {
			return
		}
		wait, err := g.out.hand(ctx, block)
		for _, r := range of {
			if err != nil {
				r.err = err
			} else {
				r.waits = append(r.waits, wait)
			}
		}
		block, of = &point.Block{}, nil
	}
	for _, r := range list {
		r.sent = true
		for rest := r.events; len(rest) > 0; {
			if block.Len() >= blockEvents {
				flush()
			}
			n := min(len(rest), blockEvents-block.Len())
			r.write(block, rest[:n])
			of, rest = append(of, r), rest[n:]
		}
	}
	flush()
}

// write adds events to a block, behind who sent them.
func (r *report) write(block *point.Block, events []meter.Event) {
	add := func(path point.Path, at time.Time, text string) {
		if n := len(block.Points); n == 0 || block.Points[n-1] != path {
			block.Points = append(block.Points, path)
		}
		s := point.Sample{Point: path, Time: at, Value: point.TextOf(text)}
		block.Append(uint32(len(block.Points)-1), &s)
	}
	add(store.SenderPoint, events[0].At, r.sender)
	for i := range events {
		add(store.EventPath(events[i].Meter), events[i].At, events[i].Text())
	}
}
