package judged

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"voltbus/fault"
	"voltbus/judge/aside"
	"voltbus/judge/setting"
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/wire"
)

// releasedBlock is how many released readings a block has at most.
const releasedBlock = 1000

// readDecided reads what persons decided, and forgets what the parent has. If that is not known, or of another data directory, what the parent may not
// have is numbered anew under an origin that it does not know.
func (l *Log) readDecided() error {
	l.change.Lock()
	defer l.change.Unlock()
	read(name(l.cfg.Dir, "json"), &l.decided, l.cfg.Log)
	list, err := l.kept.List(0, l.kept.Len())
	if err != nil {
		return err
	}
	d := l.decided
	known := strings.HasPrefix(d.Origin, point.ReleasedOrigin(l.cfg.Origin))
	l.origin = d.Origin
	rest := slices.DeleteFunc(list, func(r aside.Reading) bool { return known && r.Release > 0 && r.Release <= d.Last.Sequence })
	if !known {
		l.origin = point.ReleasedOrigin(l.cfg.Origin) + strconv.FormatInt(l.cfg.Now().UnixMilli(), 36)
		l.decided = decided{Origin: l.origin, Released: d.Released, Discarded: d.Discarded}
		var open []aside.Reading
		for i := range rest {
			if rest[i].Release > 0 {
				open = append(open, rest[i])
			}
		}
		rest = slices.DeleteFunc(rest, func(r aside.Reading) bool { return r.Release > 0 })
		rest = append(rest, number(open, uplink.Position{})...)
	}
	if err := l.kept.Replace(rest); err != nil {
		return err
	}
	if err := write(name(l.cfg.Dir, "json"), &l.decided); err != nil {
		return err
	}
	return l.recount()
}

// recount takes what is in the file. The caller holds change.
func (l *Log) recount() error {
	list, err := l.kept.List(0, l.kept.Len())
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending, l.held = nil, 0
	for i := range list {
		switch r := &list[i]; {
		case r.Release == 0:
			l.held++
		case r.Release > l.decided.Last.Sequence:
			l.pending = append(l.pending, *r)
		}
	}
	l.turn()
	return nil
}

// last returns how far the origin of what is released goes. The caller holds mu.
func (l *Log) last() uplink.Position {
	p := l.decided.Last
	for i := range l.pending {
		r := &l.pending[i]
		if r.Release > p.Sequence {
			p = uplink.Position{Sequence: r.Release, Samples: r.Before}
		}
		if r.Release == p.Sequence {
			p.Samples++
		}
	}
	return p
}

// number gives readings the blocks that they are sent in, after a position.
func number(list []aside.Reading, after uplink.Position) []aside.Reading {
	for i := range list {
		block := i / releasedBlock
		list[i].Release, list[i].Before = after.Sequence+1+uint64(block), after.Samples+uint64(block*releasedBlock)
	}
	return list
}

func (l *Log) knows(op, rule string) error {
	if l.broken != nil {
		return fault.E(op, fault.Unavailable, setting.Parent, l.broken)
	}
	if rule == "" || slices.ContainsFunc(l.cfg.Rules, func(r setting.Rule) bool { return r.Name == rule }) {
		return nil
	}
	if list, _, err := l.kept.Of(rule); err == nil && len(list) > 0 {
		return nil
	}
	return fault.E(op, fault.NotFound, rule, errors.New(
		"this rule neither holds for the parent, nor are readings kept that it withheld; voltbus judge list shows the rules"))
}

// Withheld returns readings that a rule withheld and that wait for a person, oldest first, after skipping some; of all rules for no rule.
func (l *Log) Withheld(rule string, skip, limit int) ([]aside.Reading, error) {
	if err := l.knows("judge.withheld", rule); err != nil {
		return nil, err
	}
	list, _, err := l.kept.Of(rule)
	list = slices.DeleteFunc(list, func(r aside.Reading) bool { return r.Release > 0 })
	list = list[min(skip, len(list)):]
	return list[:min(limit, len(list))], err
}

// Release has readings sent that a rule withheld, and returns how many. They are sent once, also if the parent is away or the node ends meanwhile.
func (l *Log) Release(rule string) (n int, err error) {
	return l.decide("judge.release", rule, func(chosen []aside.Reading) []aside.Reading {
		l.mu.Lock()
		defer l.mu.Unlock()
		return number(chosen, l.last())
	}, nil)
}

// Dismiss forgets readings that a rule withheld, and returns how many.
func (l *Log) Dismiss(rule string) (n int, err error) {
	return l.decide("judge.discard", rule, func([]aside.Reading) []aside.Reading { return nil }, func(d *decided, n int) { d.Discarded += uint64(n) })
}

// decide puts what become returns in the place of readings that wait, and counts them.
func (l *Log) decide(op, rule string, become func([]aside.Reading) []aside.Reading, count func(*decided, int)) (n int, err error) {
	if err := l.knows(op, rule); err != nil {
		return 0, err
	}
	l.change.Lock()
	defer l.change.Unlock()
	list, rest, err := l.kept.Of(rule)
	if err != nil {
		return 0, err
	}
	var chosen []aside.Reading
	for i := range list {
		if list[i].Release == 0 {
			chosen = append(chosen, list[i])
		} else {
			rest = append(rest, list[i])
		}
	}
	if n = len(chosen); n == 0 {
		return 0, nil
	}
	l.mu.Lock()
	d := l.decided
	l.mu.Unlock()
	rest = slices.DeleteFunc(rest, func(r aside.Reading) bool { return r.Release > 0 && r.Release <= d.Last.Sequence })
	if err := l.kept.Replace(append(rest, become(chosen)...)); err != nil {
		return 0, err
	}
	if count != nil {
		count(&d, n)
		if err := l.writeDecided(&d); err != nil {
			return n, err
		}
	}
	return n, l.recount()
}

func (l *Log) writeDecided(d *decided) error {
	if err := write(name(l.cfg.Dir, "json"), d); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.decided = *d
	return nil
}

// Released is the log of the readings that persons released, with an origin of its own, so that they go to the parent beside what is recorded: once each,
// with their own times. Its positions are the numbers of the blocks.
type Released struct{ *Log }

// Origin returns the origin of its blocks.
func (r *Released) Origin() string { return r.origin }

// ID implements sender.Log.
func (r *Released) ID() string { return r.origin }

// Bounds implements sender.Log.
func (r *Released) Bounds(context.Context) (first, last uint64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.decided.Last.Sequence + 1, r.last().Sequence, nil
}

// Read implements sender.Log.
func (r *Released) Read(ctx context.Context, from uint64, deliver func(sequence uint64, data []byte) error) error {
	var encoder wire.Encoder
	for {
		r.mu.Lock()
		pending, turned := r.pending, r.turned
		r.mu.Unlock()
		for len(pending) > 0 {
			n := slices.IndexFunc(pending, func(one aside.Reading) bool { return one.Release != pending[0].Release })
			if n < 0 {
				n = len(pending)
			}
			if sequence := pending[0].Release; sequence >= from {
				data, err := r.encode(&encoder, pending[:n])
				if err == nil {
					err = deliver(sequence, data)
				}
				if err != nil {
					return err
				}
				from = sequence + 1
			}
			pending = pending[n:]
		}
		select {
		case <-turned:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// encode returns readings as a block.
func (r *Released) encode(encoder *wire.Encoder, list []aside.Reading) ([]byte, error) {
	b := &point.Block{Origin: r.origin, Sequence: list[0].Release, Before: list[0].Before, Created: r.cfg.Now().UTC()}
	index := map[string]uint32{}
	for i := range list {
		one := &list[i]
		value, quality, err := one.Sample()
		if err != nil {
			return nil, fault.E("judged.Read", fault.Corrupt, one.Point, fmt.Errorf("what was released cannot be read: %w", err))
		}
		at, known := index[one.Point]
		if !known {
			at = uint32(len(b.Points))
			index[one.Point] = at
			b.Points = append(b.Points, point.Path(one.Point))
		}
		b.Append(at, &point.Sample{Point: point.Path(one.Point), Time: one.Time, Value: value, Quality: quality})
	}
	return encoder.AppendBlock(nil, b)
}

// Acknowledged is called when the parent has the blocks up to a position. They are forgotten in the file when all are there, or something else is decided.
func (r *Released) Acknowledged(p uplink.Position) error {
	r.change.Lock()
	defer r.change.Unlock()
	r.mu.Lock()
	d := r.decided
	r.mu.Unlock()
	if p.Sequence <= d.Last.Sequence {
		return nil
	}
	d.Released += p.Samples - min(p.Samples, d.Last.Samples)
	d.Last = p
	if err := r.writeDecided(&d); err != nil {
		return err
	}
	if err := r.recount(); err != nil {
		return err
	}
	r.mu.Lock()
	all := len(r.pending) == 0
	r.mu.Unlock()
	if !all {
		return nil
	}
	list, err := r.kept.List(0, r.kept.Len())
	if err != nil {
		return err
	}
	return r.kept.Replace(slices.DeleteFunc(list, func(one aside.Reading) bool { return one.Release > 0 }))
}
