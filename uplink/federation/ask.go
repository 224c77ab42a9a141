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
	"voltbus/wire"
)

// ask is a query to one child, and its outcome.
type ask struct {
	child    Child
	points   []Wanted
	from, to time.Time
	reply    *Reply
	part     portion // portion of the points
	hold     *holding
	given    int
	hasty    bool // it was recently late, and had little time
	err      error
}

// portion is the data received for some points.
type portion struct {
	samples [][]point.Sample // per point; none if there was no room for them
	came    []weight         // per point, even if there was no room
	held    int64            // bytes
}

// weight is the size of samples.
type weight struct {
	samples int
	octets  int64
}

// lost reports whether data was received for which there was no room.
func (p *portion) lost() bool {
	for i := range p.came {
		if p.came[i].samples > len(p.samples[i]) {
			return true
		}
	}
	return false
}

// and appends the data of further points.
func (p *portion) and(more portion) {
	p.samples, p.came, p.held = append(p.samples, more.samples...), append(p.came, more.came...), p.held+more.held
}

// forget drops received samples, and releases their room.
func (k *ask) forget(p *portion) {
	clear(p.samples)
	k.hold.free(p.held)
	p.held = 0
}

// keep stores samples, or only weighs them if there is no room.
func (k *ask) keep(samples [][]point.Sample) portion {
	p := portion{samples: samples, came: make([]weight, len(samples))}
	for i, list := range samples {
		p.came[i] = weight{len(list), size(list)}
		p.held += p.came[i].octets
	}
	rise(&k.hold.held, &k.hold.most, p.held)
	if !k.hold.take(p.held) {
		k.hold.held.Add(-p.held)
		clear(p.samples)
		p.held = 0
	}
	return p
}

// want adds a point, requesting its samples not before from; newest is the time of the newest sample stored
// here, zero for none.
func (k *ask) want(p point.Path, from, newest time.Time) {
	k.points = append(k.points, Wanted{Point: p, From: micros(from), Have: micros(newest)})
}

// asker queries children, as many at a time as the budget permits, and remembers which were late.
type asker struct {
	send   func(ctx context.Context, child string, body []byte) ([]byte, error) // Config.Ask
	budget *budget
	late   lateness
}

// all queries the children, several at once, and waits for their answers within the limit.
func (a *asker) all(ctx context.Context, asks []*ask, patience time.Duration, q *Query) {
	if end, has := ctx.Deadline(); has {
		patience = min(patience, time.Duration(part*float64(time.Until(end))))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	next := make(chan *ask)
	var wg sync.WaitGroup
	for range min(atOnce, len(asks)) {
		wg.Go(func() {
			rise(&a.budget.asking, &a.budget.asked, 1)
			defer a.budget.asking.Add(-1)
			for k := range next {
				a.inTurn(ctx, k, patience, *q)
			}
		})
	}
	for _, k := range asks {
		if k.child.Online && len(k.points) > 0 && k.err == nil {
			next <- k
		}
	}
	close(next)
	wg.Wait()
}

// inTurn queries a child when the number of pending answers permits.
func (a *asker) inTurn(ctx context.Context, k *ask, patience time.Duration, q Query) {
	if err := a.budget.flights.Acquire(ctx, 1); err != nil {
		k.err = errors.Join(context.DeadlineExceeded, err)
		return
	}
	defer a.budget.flights.Release(1)
	a.patiently(ctx, k, patience, q)
}

// patiently queries a child, and waits for it the given time, or less if it was recently late.
func (a *asker) patiently(ctx context.Context, k *ask, patience time.Duration, q Query) {
	given := a.late.patience(k.child.Name, patience)
	k.hasty = given < patience
	own, cancel := context.WithTimeout(ctx, given)
	defer cancel()
	k.err = a.inParts(own, k, q)
	if k.err == nil || own.Err() == nil {
		return
	}
	k.err = errors.Join(context.DeadlineExceeded, k.err)
	if errors.Is(own.Err(), context.DeadlineExceeded) {
		a.late.note(k.child.Name, given)
	}
}

// inParts queries a child for all its points, some at a time.
func (a *asker) inParts(ctx context.Context, k *ask, q Query) error {
	all, left, got := &Reply{}, room{maxGiven, givenTexts}, portion{}
	for points := range slices.Chunk(k.points, maxPoints) {
		q.Points = points
		r, more, err := a.inHalves(ctx, k, q, &left)
		if err != nil {
			k.forget(&got)
			return err
		}
		all.Points = append(all.Points, r.Points...)
		got.and(more)
		all.note(r)
		if k.hold.full() {
			k.forget(&got)
		}
	}
	k.reply, k.part = all, got
	return nil
}

// note merges what a part of the answer says about the whole.
func (r *Reply) note(part *Reply) {
	if r.Missing == "" {
		r.Missing = part.Missing
	}
	r.Rough = r.Rough || part.Rough
	r.Sources = append(r.Sources, part.Sources...)
}

// inHalves queries some points, and splits a query that is too much for one answer in halves. left is how
// much may still be received.
func (a *asker) inHalves(ctx context.Context, k *ask, q Query, left *room) (*Reply, portion, error) {
	r, got, err := a.once(ctx, k, q, left)
	if err != nil || !r.Large {
		return r, got, err
	}
	first, second, ok := q.halves()
	if !ok {
		return nil, portion{}, fault.E("federation.Ask", fault.Invalid, k.child.Name, errMuch)
	}
	r, got, err = a.inHalves(ctx, k, first, left)
	if err != nil {
		return nil, portion{}, err
	}
	other, more, err := a.inHalves(ctx, k, second, left)
	if err != nil {
		k.forget(&got)
		return nil, portion{}, err
	}
	if len(first.Points) < len(q.Points) {
		r.Points = append(r.Points, other.Points...)
		got.and(more)
	} else {
		got.held += more.held
		for i := range got.samples {
			got.samples[i] = join(got.samples[i], more.samples[i])
			got.came[i] = weight{got.came[i].samples + more.came[i].samples, got.came[i].octets + more.came[i].octets}
			r.Points[i].Unknown = r.Points[i].Unknown && other.Points[i].Unknown
		}
	}
	r.note(other)
	return r, got, nil
}

// halves splits a query by its points or, if there is only one, by its period.
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

// once asks with one message.
func (a *asker) once(ctx context.Context, k *ask, q Query, left *room) (*Reply, portion, error) {
	end, _ := ctx.Deadline()
	q.Time = min(time.Until(end), MaxTime).Seconds()
	if q.Time <= 0 {
		return nil, portion{}, context.DeadlineExceeded
	}
	body, err := json.Marshal(q)
	if err != nil {
		return nil, portion{}, fmt.Errorf("write the query: %w", err)
	}
	data, err := a.send(ctx, k.child.Name, body)
	if err != nil {
		return nil, portion{}, err
	}
	if err := a.budget.decoder.Acquire(ctx, 1); err != nil {
		return nil, portion{}, err
	}
	defer a.budget.decoder.Release(1)
	return k.read(data, q.Points, left)
}

// read decodes an answer, and stores it.
func (k *ask) read(data []byte, points []Wanted, left *room) (*Reply, portion, error) {
	const op = "federation.Ask"
	r := &Reply{}
	if err := wire.Readable(k.child.Name, data); err != nil {
		return nil, portion{}, fault.E(op, fault.Corrupt, k.child.Name, err)
	}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, portion{}, fault.E(op, fault.Corrupt, k.child.Name, fmt.Errorf("%w: %w", errAnswer, err))
	}
	if r.Large {
		return r, portion{}, nil
	}
	if slices.ContainsFunc(r.Sources, func(s query.Source) bool { return !identity.IsNodeName(s.Node) }) {
		return nil, portion{}, fault.E(op, fault.Corrupt, k.child.Name, errAnswer)
	}
	samples, err := r.unpack(points)
	if err != nil {
		return nil, portion{}, err
	}
	r.Block = nil
	for i := range samples {
		if !left.take(samples[i]) {
			return nil, portion{}, fault.E(op, fault.Invalid, k.child.Name, errMuch)
		}
	}
	return r, k.keep(samples), nil
}

// sources reports the outcome for the child, and for those of its descendants that were asked.
func (k *ask) sources() []query.Source {
	s := query.Source{Node: k.child.Name, State: query.SourceAsked, Samples: k.given, Waiting: k.child.Waiting + k.child.Below, To: moment(k.to)}
	begin := int64(0) // of what is missing here, if known
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
	case len(k.points) == 0 && k.err == nil:
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
