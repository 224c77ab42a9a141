package federation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/query"
)

// ask is what one child is asked, and what came of it.
type ask struct {
	child    Child
	points   []Wanted
	from, to time.Time
	reply    *Reply
	samples  [][]point.Sample // of the points
	given    int
	hasty    bool // it was late just before, and had little time
	err      error
}

// want adds a point, of which is asked what is not before from; newest is the time of the newest sample
// that is stored here, zero for none.
func (k *ask) want(p point.Path, from, newest time.Time) {
	k.points = append(k.points, Wanted{Point: p, From: micros(from), Have: micros(newest)})
}

// askAll asks the children, some at once, and waits for their answers as long as may be.
func (f *Federation) askAll(ctx context.Context, asks []*ask, patience time.Duration, q *Query) {
	if end, has := ctx.Deadline(); has {
		patience = min(patience, time.Duration(part*float64(time.Until(end))))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	free := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for _, k := range asks {
		if !k.child.Online || len(k.points) == 0 {
			continue
		}
		wg.Go(func() {
			select {
			case free <- struct{}{}:
				defer func() { <-free }()
				f.askPatiently(ctx, k, patience, *q)
			case <-ctx.Done():
				k.err = errors.Join(context.DeadlineExceeded, ctx.Err())
			}
		})
	}
	wg.Wait()
}

// askPatiently asks a child, and waits for it so long, or less if it was late just before.
func (f *Federation) askPatiently(ctx context.Context, k *ask, patience time.Duration, q Query) {
	given := f.late.patience(k.child.Name, patience)
	k.hasty = given < patience
	own, cancel := context.WithTimeout(ctx, given)
	defer cancel()
	k.err = f.ask(own, k, q)
	if k.err == nil || own.Err() == nil {
		return
	}
	k.err = errors.Join(context.DeadlineExceeded, k.err)
	if errors.Is(own.Err(), context.DeadlineExceeded) {
		f.late.note(k.child.Name, given)
	}
}

// ask asks a child for all its points, some at a time.
func (f *Federation) ask(ctx context.Context, k *ask, q Query) error {
	if len(k.points) > maxAsked {
		return errLong
	}
	all, left := &Reply{}, room{maxGiven, givenTexts}
	var samples [][]point.Sample
	for points := range slices.Chunk(k.points, maxPoints) {
		q.Points = points
		r, list, err := f.askPart(ctx, k.child.Name, q, &left)
		if err != nil {
			return err
		}
		all.Points, samples = append(all.Points, r.Points...), append(samples, list...)
		all.note(r)
	}
	k.reply, k.samples = all, samples
	return nil
}

// note takes over what a part of the answer says of the whole.
func (r *Reply) note(part *Reply) {
	if r.Missing == "" {
		r.Missing = part.Missing
	}
	r.Rough = r.Rough || part.Rough
	r.Sources = append(r.Sources, part.Sources...)
}

// askPart asks for some points. What is too much for one answer it asks for in halves. left is how much
// may still come.
func (f *Federation) askPart(ctx context.Context, child string, q Query, left *room) (*Reply, [][]point.Sample, error) {
	r, samples, err := f.askOnce(ctx, child, q)
	if err != nil {
		return nil, nil, err
	}
	if !r.Large {
		for i := range samples {
			if !left.take(samples[i]) {
				return nil, nil, fault.E("federation.Ask", fault.Invalid, child, errMuch)
			}
		}
		return r, samples, nil
	}
	first, second, ok := q.halves()
	if !ok {
		return nil, nil, fault.E("federation.Ask", fault.Invalid, child, errMuch)
	}
	r, samples, err = f.askPart(ctx, child, first, left)
	if err != nil {
		return nil, nil, err
	}
	other, more, err := f.askPart(ctx, child, second, left)
	if err != nil {
		return nil, nil, err
	}
	if len(first.Points) < len(q.Points) {
		r.Points, samples = append(r.Points, other.Points...), append(samples, more...)
	} else {
		for i := range samples {
			samples[i] = join(samples[i], more[i])
			r.Points[i].Unknown = r.Points[i].Unknown && other.Points[i].Unknown
		}
	}
	r.note(other)
	return r, samples, nil
}

// halves cuts a query: its points, or, if there is only one, its time.
func (q *Query) halves() (first, second Query, ok bool) {
	first, second = *q, *q
	if n := len(q.Points) / 2; n > 0 {
		first.Points, second.Points = q.Points[:n], q.Points[n:]
		return first, second, true
	}
	from := q.Points[0].From
	middle := from + (q.To-from)/2
	if middle <= from {
		return first, second, false
	}
	first.To, second.Before = middle, 0
	second.Points = slices.Clone(q.Points)
	second.Points[0].From = middle
	return first, second, true
}

func (f *Federation) askOnce(ctx context.Context, child string, q Query) (*Reply, [][]point.Sample, error) {
	end, _ := ctx.Deadline()
	q.Time = min(time.Until(end), MaxTime).Seconds()
	if q.Time <= 0 {
		return nil, nil, context.DeadlineExceeded
	}
	body, err := json.Marshal(q)
	if err != nil {
		return nil, nil, fmt.Errorf("write the query: %w", err)
	}
	data, err := f.cfg.Ask(ctx, child, body)
	if err != nil {
		return nil, nil, err
	}
	r := &Reply{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, nil, fault.E("federation.Ask", fault.Corrupt, child, fmt.Errorf("%w: %w", errAnswer, err))
	}
	if r.Large {
		return r, nil, nil
	}
	if slices.ContainsFunc(r.Sources, func(s query.Source) bool { return !identity.IsNodeName(s.Node) }) {
		return nil, nil, fault.E("federation.Ask", fault.Corrupt, child, errAnswer)
	}
	samples, err := r.unpack(q.Points)
	return r, samples, err
}

// sources says how it went: of the child, and of those below it that it asked.
func (k *ask) sources() []query.Source {
	s := query.Source{Node: k.child.Name, State: query.SourceAsked, Samples: k.given, Waiting: k.child.Waiting + k.child.Below, To: moment(k.to)}
	begin := int64(0) // of what is missing here, as far as is known
	for i, w := range k.points {
		if from := max(w.From, w.Have); i == 0 || from < begin {
			begin = from
		}
	}
	s.From = moment(instant(begin))
	k.judge(&s)
	if k.reply != nil {
		return append([]query.Source{s}, k.reply.Sources...)
	}
	return []query.Source{s}
}

func (k *ask) judge(s *query.Source) {
	switch {
	case len(k.points) == 0:
		s.State, s.From, s.Why = query.SourceStored, nil, "all that it has of this time is stored here"
	case !k.child.Online || fault.Is(k.err, fault.Unreachable):
		s.State, s.Since = query.SourceUnreachable, moment(k.child.Away)
		s.Why = "it is not connected: what it did not send yet is missing"
	case errors.Is(k.err, context.DeadlineExceeded) || fault.Is(k.err, fault.Timeout):
		s.State, s.Why = query.SourceLate, "its answer did not come in time: what it did not send yet is missing"
		if k.hasty {
			s.Why = fmt.Sprintf("it did not answer in time a moment ago, and not within %v now: what it did not send yet is missing; ask again in %v", brief, lateFor)
		}
	case fault.Is(k.err, fault.Refused):
		s.State, s.Missing, s.Why = query.SourceRefused, identity.MissingOf(k.err), k.err.Error()
	case k.err != nil:
		s.State, s.Why = query.SourceFailed, k.err.Error()
	case k.reply.Missing != "":
		s.State, s.Missing = query.SourceRefused, k.reply.Missing
		s.Why = "it does not let this node read some of the points: uplink.allow of its configuration says what it lets"
	case k.reply.Rough:
		s.Why = "it has much to send yet: samples that were recorded after newer ones may be missing"
	}
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
