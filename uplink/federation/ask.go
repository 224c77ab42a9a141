package federation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/query"
)

// ask is what one child is asked, and what came of it.
type ask struct {
	child   Child
	points  []Wanted
	places  []int // of the points in the answer
	to      time.Time
	reply   *Reply
	samples [][]point.Sample // of the points
	added   int              // samples that were not stored here
	err     error
}

// want adds a point, of which is asked what is not before from.
func (k *ask) want(p point.Path, from time.Time, at int) {
	w := Wanted{Point: p}
	if !from.IsZero() {
		w.From = from.UnixMicro()
	}
	k.points, k.places = append(k.points, w), append(k.places, at)
}

// askAll asks the children, some at once, and waits for their answers as long as may be.
func (f *Federation) askAll(ctx context.Context, asks []*ask, q Query) {
	limit := MaxTime
	if end, has := ctx.Deadline(); has {
		limit = min(limit, time.Duration(part*float64(time.Until(end))))
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	free := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for _, k := range asks {
		if !k.child.Online || len(k.points) == 0 {
			continue
		}
		if len(k.points) > maxPoints {
			k.err = errLong
			continue
		}
		wg.Go(func() {
			select {
			case free <- struct{}{}:
				defer func() { <-free }()
				k.err = f.ask(ctx, k, q)
			case <-ctx.Done():
				k.err = ctx.Err()
			}
			if k.err != nil && ctx.Err() != nil {
				k.err = errors.Join(context.DeadlineExceeded, k.err)
			}
		})
	}
	wg.Wait()
}

func (f *Federation) ask(ctx context.Context, k *ask, q Query) error {
	end, _ := ctx.Deadline()
	q.Points, q.Time = k.points, time.Until(end).Seconds()
	body, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("write the query: %w", err)
	}
	data, err := f.cfg.Ask(ctx, k.child.Name, body)
	if err != nil {
		return err
	}
	r := &Reply{}
	if err := json.Unmarshal(data, r); err != nil {
		return fault.E("federation.Ask", fault.Corrupt, k.child.Name, fmt.Errorf("%w: %w", errAnswer, err))
	}
	if k.samples, err = r.unpack(k.points); err != nil {
		return err
	}
	k.reply = r
	return nil
}

// sources says how it went: of the child, and of those below it that it asked.
func (k *ask) sources() []query.Source {
	s := query.Source{Node: k.child.Name, State: query.SourceAsked, Samples: k.added, Waiting: k.child.Waiting, To: moment(k.to)}
	for i, w := range k.points {
		if from := time.UnixMicro(w.From).UTC(); w.From != 0 && (i == 0 || s.From != nil && from.Before(*s.From)) {
			s.From = &from
		} else if w.From == 0 {
			s.From = nil
		}
	}
	k.judge(&s)
	if k.reply != nil {
		return append([]query.Source{s}, k.reply.Sources...)
	}
	return []query.Source{s}
}

func (k *ask) judge(s *query.Source) {
	switch {
	case len(k.points) == 0:
		s.State, s.From, s.Why = query.SourceStored, nil, "all that it has of this time, or as much as was asked for, is stored here"
	case !k.child.Online || fault.Is(k.err, fault.Unreachable):
		s.State, s.Since = query.SourceUnreachable, moment(k.child.Away)
		s.Why = "it is not connected: what it did not send yet is missing"
	case errors.Is(k.err, context.DeadlineExceeded) || fault.Is(k.err, fault.Timeout):
		s.State, s.Why = query.SourceLate, "its answer did not come in time: what it did not send yet is missing"
	case fault.Is(k.err, fault.Refused):
		s.State, s.Missing, s.Why = query.SourceRefused, identity.MissingOf(k.err), k.err.Error()
	case k.err != nil:
		s.State, s.Why = query.SourceFailed, k.err.Error()
	case k.reply.Missing != "":
		s.State, s.Missing = query.SourceRefused, k.reply.Missing
		s.Why = "it does not let this node read some of the points: uplink.allow of its configuration says what it lets"
	}
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
