package bacnet

import (
	"context"
	"errors"
	"time"

	"voltbus/driver"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/driver/bacnet/trend"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/bacnet/encoding"
)

// logs are the trend logs of the device of a session.
type logs struct {
	session *session
	known   *knownLogs // nil: not looked for yet
}

// knownLogs are those that were found.
type knownLogs struct {
	of    map[int]encoding.ObjectID // by item
	clock trend.Clock
}

// strayClock is from how much on the clock of a device is so wrong that the times of its records are in doubt.
const strayClock = time.Minute

var errNoLog = errors.New("the device does not log the point; name its log as trend_log in the registry if it does")

var _ driver.LogReader = (*session)(nil)

// LoggedPoints implements driver.LogReader: those whose trend log the registry names, and those that a trend log of the device
// refers to.
func (l *logs) LoggedPoints(ctx context.Context) ([]string, error) {
	const op = "bacnet.LoggedPoints"
	s := l.session
	remote, err := s.reach(ctx)
	if err != nil {
		return nil, s.fail(op, err)
	}
	found, err := trend.Find(ctx, remote)
	if err != nil && !declined(err) {
		return nil, s.fail(op, err)
	}
	k := &knownLogs{of: make(map[int]encoding.ObjectID)}
	var names []string
	for i := range s.items {
		t := &s.items[i]
		log, is := found[trend.Target{Object: t.Object, Property: t.Property, Index: t.Index}]
		if t.TrendLog != nil {
			log, is = *t.TrendLog, true
		}
		if is {
			k.of[i] = log
			names = append(names, t.Name)
		}
	}
	if len(names) > 0 {
		if k.clock, err = trend.AskClock(ctx, remote); err != nil {
			return nil, s.fail(op, err)
		}
	}
	l.known = k
	return names, nil
}

// ReadLog implements driver.LogReader.
func (l *logs) ReadLog(ctx context.Context, name string, after, before time.Time) (driver.LogPart, error) {
	const op = "bacnet.ReadLog"
	s := l.session
	if l.known == nil {
		if _, err := l.LoggedPoints(ctx); err != nil {
			return driver.LogPart{}, err
		}
	}
	i := s.place(name)
	log, is := l.known.of[i]
	if !is {
		return driver.LogPart{}, fault.E(op, fault.NotFound, name, errNoLog)
	}
	remote, err := s.reach(ctx)
	if err != nil {
		return driver.LogPart{}, s.fail(op, err)
	}
	part, err := trend.Log{Remote: remote, ID: log, Zone: l.known.clock.Zone}.Read(ctx, after, before)
	if err != nil {
		return driver.LogPart{}, s.fail(op, err)
	}
	out := driver.LogPart{More: part.More, Next: part.Next}
	for k := range part.Records {
		out.Samples = append(out.Samples, l.sample(&s.items[i], &part.Records[k]))
	}
	return out, nil
}

// sample makes a sample of a record.
func (l *logs) sample(t *pointlist.Item, r *trend.Record) point.Sample {
	x := point.Sample{Point: point.Path(t.Name), Time: r.Time, Quality: qualityOfFlags(r.Status)}
	v, ok := t.Decode(r.Value)
	switch {
	case !ok:
		x.Quality = point.BadValue
	case x.Quality.IsBad():
	case l.known.clock.Error.Abs() > strayClock:
		x.Value, x.Quality = v, point.UncertainClock
	case x.Quality == point.Good:
		x.Value, x.Quality = v, point.Backfilled
	default:
		x.Value = v
	}
	return x
}
