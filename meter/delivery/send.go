package delivery

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"voltbus/meter"
	"voltbus/meter/concentrator"
	"voltbus/meter/message"
)

// job is a bulk to be sent.
type job struct {
	bulk   *concentrator.Bulk
	ticket *concentrator.Ticket
}

// linger is how long a bulk that is overdue waits for what stands behind it in the log.
const linger = 5 * time.Millisecond

// gather puts the readings of blocks into bulks, and hands these out, until the channel is closed.
func (d *Delivery) gather(ctx context.Context, in <-chan entry, out chan<- job) error {
	d.mu.Lock()
	place, _ := d.progress.Place()
	d.mu.Unlock()
	first, skip := place.Next()
	g := concentrator.NewGatherer(d.cfg.Section.Bulk, d.cfg.Section.Age)
	due := time.NewTimer(time.Hour)
	defer due.Stop()
	for {
		if at, open := g.Due(); open {
			due.Reset(max(at.Sub(d.cfg.Now()), linger))
		} else {
			due.Stop()
		}
		select {
		case e, open := <-in:
			if !open {
				return ctx.Err()
			}
			sent := 0
			if e.sequence == first {
				sent = skip
			}
			if err := d.take(ctx, g, &e, sent, out); err != nil {
				return err
			}
		case <-due.C:
			if err := d.hand(ctx, g.Take(), out); err != nil {
				return err
			}
		}
	}
}

// take puts the readings of a block into bulks, without those that were sent before.
func (d *Delivery) take(ctx context.Context, g *concentrator.Gatherer, e *entry, sent int, out chan<- job) error {
	if e.block != nil {
		err := d.readings(e.block, func(r *meter.Reading, n int) error {
			if n <= sent {
				return nil
			}
			return d.hand(ctx, g.Add(r, e.block.Created, concentrator.Place{Sequence: e.sequence, Readings: n}), out)
		})
		if err != nil {
			return err
		}
	}
	var passed []concentrator.Passed
	if b := e.block; b != nil {
		passed = []concentrator.Passed{{Origin: b.Origin, Samples: b.End(), Lost: e.lost}}
	}
	if end := concentrator.After(e.sequence); !g.Extend(end, passed) {
		d.mu.Lock()
		d.progress.Skip(end, passed)
		d.mu.Unlock()
		d.touch()
	}
	return nil
}

// hand hands a bulk to who sends it; nil is none.
func (d *Delivery) hand(ctx context.Context, b *concentrator.Bulk, out chan<- job) error {
	if b == nil {
		return nil
	}
	d.mu.Lock()
	j := job{b, d.progress.Begin(b)}
	d.mu.Unlock()
	select {
	case out <- j:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// longestWait is how long nobody looks whether a system answers again to which another bulk went.
const longestWait = 200 * time.Millisecond

// carry sends a bulk until a system has answered it, or ctx ends.
func (d *Delivery) carry(ctx context.Context, j job) {
	for ctx.Err() == nil {
		d.mu.Lock()
		at, trial, wait := d.targets.Pick(d.cfg.Now())
		d.mu.Unlock()
		if at < 0 {
			pause(ctx, min(wait, longestWait))
			continue
		}
		a, err := d.clients.attempt(ctx, at, trial, readings(j.bulk.Readings))
		if err == nil {
			d.settle(j, at, a)
			return
		}
		if ctx.Err() == nil {
			d.failed(ctx, at, err)
		}
	}
}

// trialTime bounds how long a system may take that failed before, while another one answers.
const trialTime = 5 * time.Second

// failed notes that a system gave no usable answer.
func (d *Delivery) failed(ctx context.Context, at int, err error) {
	asked := time.Duration(0)
	if t, is := errors.AsType[*trouble](err); is {
		asked = t.pause
	}
	d.mu.Lock()
	first := d.targets.Failed(at, d.cfg.Now(), err.Error(), asked)
	d.systems[at].Failed++
	url := d.systems[at].URL
	d.mu.Unlock()
	if first {
		d.cfg.Log.WarnContext(ctx, "a metering data system does not take readings", slog.String("system", url), slog.Any("err", err))
	}
}

// settle notes what a system answered to a bulk.
func (d *Delivery) settle(j job, at int, a *message.Answer) {
	now := d.cfg.Now()
	again := false
	defer func() {
		if again && d.cfg.Answers != nil {
			d.cfg.Answers(at)
		}
	}()
	d.mu.Lock()
	defer d.mu.Unlock()
	if again = d.targets.Answered(at); again {
		d.cfg.Log.Info("a metering data system takes readings again", slog.String("system", d.systems[at].URL))
	}
	s := &d.systems[at]
	s.Requests++
	s.Sent += uint64(a.Accepted)
	d.meter.add(now, a.Accepted)
	for _, r := range a.Refused {
		d.refused = append(d.refused, refusal(&j.bulk.Readings[r.Index], r.Reason, s.URL, now))
	}
	d.refused = d.refused[max(len(d.refused)-mostRefused, 0):]
	d.waiting -= int64(len(j.bulk.Readings))
	d.progress.Done(j.ticket, concentrator.Counts{Sent: uint64(a.Accepted), Refused: uint64(len(a.Refused))})
	d.touch()
}
