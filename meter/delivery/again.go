package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/concentrator"
	"voltbus/meter/message"
	"voltbus/point"
	"voltbus/wire"
)

// Span is readings of the log that are sent again.
type Span struct {
	From, To time.Time // intervals that end after From, and not after To
	After    uint64    // the sequence in the log behind which to begin; 0 for all
	System   string    // the only address to send to; "" for all in turn
}

// Again says what came of sending readings again.
type Again struct {
	Sent     uint64 // readings that a system took, or had
	Refused  uint64
	Refusals []Refused // the first of them
	Oldest   time.Time // when the oldest block behind Span.After was written; zero if there is none: what came before is not in the log
	Place    uint64    // the sequence up to which everything was sent
	More     bool      // there are blocks behind Place
	Trouble  string    // why it stopped there; "" if it was out of time
}

var (
	errEnough   = errors.New("all was read")
	errUnderWay = errors.New("readings are being sent again already: wait until that has ended")
	errTimes    = errors.New("the end is not after the beginning: write a later time")
)

// SendAgain sends the readings of a span that are still in the log and were sent before, beside those that wait. It returns what it did when
// ctx ends. Neither the place in the log nor its counts change.
func (d *Delivery) SendAgain(ctx context.Context, s Span) (Again, error) {
	const op = "delivery.SendAgain"
	only := -1
	for i := range d.clients {
		if d.clients[i].url == s.System {
			only = i
		}
	}
	switch {
	case !s.To.After(s.From):
		return Again{}, fault.E(op, fault.Invalid, "to", errTimes)
	case s.System != "" && only < 0:
		return Again{}, fault.E(op, fault.Invalid, "system", fmt.Errorf("%s is no system of this concentrator: write one of those that voltbus meter concentrators shows", s.System))
	case !d.repeating.TryLock():
		return Again{}, fault.E(op, fault.Conflict, "", errUnderWay)
	}
	defer d.repeating.Unlock()
	first, last, err := d.cfg.Blocks.Bounds(ctx)
	if err != nil {
		return Again{}, fault.E(op, fault.Unavailable, "", err)
	}
	d.mu.Lock()
	place, _ := d.progress.Place()
	d.mu.Unlock()
	r := &repeat{d: d, span: s, only: only, last: min(last, place.Sequence)}
	r.out.Place = s.After
	if from := max(first, s.After+1); from <= r.last {
		r.out.More = true
		err = d.cfg.Blocks.Read(ctx, from, func(sequence uint64, data []byte) error { return r.take(ctx, sequence, data) })
		err = r.ended(ctx, err)
	}
	return r.out, err
}

// repeat is readings being sent again.
type repeat struct {
	d       *Delivery
	span    Span
	only    int    // the system; -1 for all
	last    uint64 // the sequence with which it ends
	at      uint64 // the sequence of the block that is being read
	decoder wire.Decoder
	bulk    readings
	out     Again
}

// ended tells how it ended.
func (r *repeat) ended(ctx context.Context, err error) error {
	t, is := errors.AsType[*trouble](err)
	switch {
	case errors.Is(err, errEnough):
		r.out.More = false
	case is && ctx.Err() == nil:
		r.out.Trouble = t.why
	case err != nil && ctx.Err() == nil:
		return fault.E("delivery.SendAgain", fault.Unavailable, "", err)
	}
	return nil
}

// take takes a block of the log. The place moves when all of its readings are answered.
func (r *repeat) take(ctx context.Context, sequence uint64, data []byte) error {
	if sequence > r.last {
		return r.close(ctx, r.last, errEnough)
	}
	r.at = sequence
	b := new(point.Block)
	if err := r.decoder.DecodeBlock(data, b); err == nil {
		if r.out.Oldest.IsZero() {
			r.out.Oldest = b.Created
		}
		if hasReadings(b.Origin) {
			if err := r.d.readings(b, func(one *meter.Reading, _ int) error { return r.add(ctx, one) }); err != nil {
				return err
			}
		}
	}
	if sequence == r.last {
		return r.close(ctx, sequence, errEnough)
	}
	if len(r.bulk) == 0 {
		r.out.Place = sequence
	}
	return nil
}

// close sends what is left, and ends with an error.
func (r *repeat) close(ctx context.Context, place uint64, end error) error {
	if err := r.send(ctx); err != nil {
		return err
	}
	r.out.Place = place
	return end
}

func (r *repeat) add(ctx context.Context, one *meter.Reading) error {
	if one.Meter == "" || !one.End.After(r.span.From) || one.End.After(r.span.To) {
		return nil
	}
	r.bulk = append(r.bulk, *one)
	if len(r.bulk) < r.d.cfg.Section.Bulk {
		return nil
	}
	if err := r.send(ctx); err != nil {
		return err
	}
	r.out.Place = max(r.out.Place, r.at-1)
	return nil
}

// send sends the bulk to one system after another until one answers.
func (r *repeat) send(ctx context.Context) error {
	if len(r.bulk) == 0 {
		return nil
	}
	var last error = &trouble{why: "no system answers at present"}
	for range r.d.clients {
		at, trial := r.pick()
		if at < 0 {
			break
		}
		a, err := r.d.clients.attempt(ctx, at, trial, r.bulk)
		if err == nil {
			r.answered(at, a)
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		r.d.failed(ctx, at, err)
		last = err
		if r.only >= 0 {
			break
		}
	}
	return last
}

func (r *repeat) pick() (at int, trial bool) {
	if r.only >= 0 {
		return r.only, false
	}
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	at, trial, _ = r.d.targets.Pick(r.d.cfg.Now())
	return at, trial
}

// answered counts what a system said of the bulk, and empties it.
func (r *repeat) answered(at int, a *message.Answer) {
	now, url := r.d.cfg.Now(), r.d.clients[at].url
	r.d.mu.Lock()
	again := r.d.targets.Answered(at)
	r.d.systems[at].Requests++
	r.d.mu.Unlock()
	if again && r.d.cfg.Answers != nil {
		r.d.cfg.Answers(at)
	}
	counts := concentrator.Counts{Sent: uint64(a.Accepted), Refused: uint64(len(a.Refused))}
	r.out.Sent, r.out.Refused = r.out.Sent+counts.Sent, r.out.Refused+counts.Refused
	for _, one := range a.Refused {
		if len(r.out.Refusals) < mostRefused {
			r.out.Refusals = append(r.out.Refusals, refusal(&r.bulk[one.Index], one.Reason, url, now))
		}
	}
	r.bulk = r.bulk[:0]
}

// refusal is a reading that a system refused, for the list of them.
func refusal(one *meter.Reading, reason, system string, now time.Time) Refused {
	out := Refused{Meter: one.Meter, Channel: one.Channel, End: one.End, Value: one.Value, Reason: clip(reason), System: system, At: now}
	if one.Channel == 0 {
		out.Type = one.Type.String()
	}
	return out
}
