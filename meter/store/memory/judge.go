package memory

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
)

// Judge implements store.Judged.
func (s *Store) Judge(ctx context.Context, d store.Day, judge func(*store.ChannelDay) error) (store.Judgement, error) {
	const op = "memory.Judge"
	if err := s.begin(ctx, op); err != nil {
		return store.Judgement{}, err
	}
	defer s.mu.Unlock()
	var out store.Judgement
	var todo []uint32
	of := s.days.of(d)
	s.dir.Expected(d, 0, func(_, channel uint32, _ *meter.Channel) bool {
		if !of.judged[channel] {
			todo = append(todo, channel)
		}
		return true
	})
	for channel := range of.waiting {
		todo = append(todo, channel)
	}
	slices.Sort(todo)
	judged := make([]*store.ChannelDay, 0, len(todo))
	todo = slices.Compact(todo)
	for _, channel := range todo {
		c := s.channelDay(d, channel, of.judged[channel])
		if err := judge(c); err != nil {
			return store.Judgement{}, fault.E(op, fault.KindOf(err), c.Key.Meter, err)
		}
		judged = append(judged, c)
	}
	recorded := s.moment()
	for i, c := range judged {
		if err := s.verdict(&out, c, todo[i], recorded); err != nil {
			return store.Judgement{}, fault.E(op, fault.Internal, c.Key.Meter, err)
		}
		of.judged[todo[i]] = true
	}
	clear(of.waiting)
	return out, nil
}

// channelDay gathers the newest raw readings of a day.
func (s *Store) channelDay(d store.Day, channel uint32, again bool) *store.ChannelDay {
	key, c := s.dir.Key(channel)
	out := &store.ChannelDay{Key: key, Channel: c, Day: d, Again: again, Ends: s.calendar.Ends(nil, d, c.Interval)}
	n := len(out.Ends)
	out.Values, out.Status, out.Estimates, out.Rules = make([]float64, n), make([]uint32, n), make([]float64, n), make([]string, n)
	for i := range out.Values {
		out.Values[i], out.Estimates[i] = math.NaN(), math.NaN()
	}
	for _, v := range s.versions(d, channel) {
		if i, ok := slices.BinarySearch(out.Ends, v.End.UnixMicro()); ok && v.Stage == meter.Raw {
			out.Values[i] = v.Value
		}
	}
	return out
}

func (s *Store) versions(d store.Day, channel uint32) []meter.Version {
	h := s.histories[channel]
	if h == nil {
		return nil
	}
	b := s.calendar.Bounds(d)
	return h.Versions(nil, time.UnixMicro(b.Start), time.UnixMicro(b.End))
}

// verdict stores what was said of a day of a channel.
func (s *Store) verdict(out *store.Judgement, c *store.ChannelDay, channel uint32, recorded time.Time) error {
	out.Channels++
	ref := directory.Ref{Number: channel, Channel: c.Channel}
	for i, end := range c.Ends {
		v := meter.Version{End: time.UnixMicro(end).UTC(), Recorded: recorded, Value: c.Values[i], Status: c.Status[i], Origin: meter.Origin{Rule: c.Rule}}
		if !math.IsNaN(v.Value) {
			v.Stage = meter.Validated
			if v.Status != 0 {
				v.Stage = meter.Raw
				out.Doubted++
			} else {
				out.Validated++
			}
			if err := s.add(ref, v); err != nil {
				return err
			}
		}
		if !math.IsNaN(c.Estimates[i]) {
			v.Stage, v.Value, v.Origin.Rule = meter.Estimated, c.Estimates[i], c.Rules[i]
			out.Estimated++
			if err := s.add(ref, v); err != nil {
				return err
			}
		}
	}
	s.exceptions = slices.DeleteFunc(s.exceptions, func(e exception) bool { return e.channel == channel && e.Day == c.Day })
	if c.Exception {
		s.number++
		out.Exceptions++
		e := store.NewException(s.number, c, recorded)
		s.exceptions = append(s.exceptions, exception{e, channel})
	}
	return nil
}

// Exceptions implements store.Judged.
func (s *Store) Exceptions(ctx context.Context, q store.ExceptionQuery) ([]store.Exception, error) {
	if err := s.begin(ctx, "memory.Exceptions"); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []store.Exception
	for _, e := range s.exceptions {
		if q.Meter == "" || q.Meter == e.Key.Meter {
			out = append(out, e.Exception)
		}
	}
	store.SortExceptions(out)
	return out[:min(len(out), q.Most())], nil
}

// Settle implements store.Judged.
func (s *Store) Settle(ctx context.Context, number uint64, who, why string) error {
	const op = "memory.Settle"
	if err := s.begin(ctx, op); err != nil {
		return err
	}
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.exceptions, func(e exception) bool { return e.Number == number })
	if err := store.CheckSettle(op, number, at >= 0, who, why); err != nil {
		return err
	}
	s.exceptions = slices.Delete(s.exceptions, at, at+1)
	return nil
}

// Missing implements store.Keeper.
func (s *Store) Missing(ctx context.Context, q store.MissingQuery) (store.Missing, error) {
	if err := s.begin(ctx, "memory.Missing"); err != nil {
		return store.Missing{}, err
	}
	defer s.mu.Unlock()
	received := map[uint32]map[int64]bool{}
	for _, channel := range slices.Sorted(maps.Keys(s.histories)) {
		have := map[int64]bool{}
		for _, v := range s.versions(q.Day, channel) {
			if v.Stage == meter.Raw {
				have[v.End.UnixMicro()] = true
			}
		}
		received[channel] = have
	}
	return s.dir.Missing(q, func(channel uint32, _ int, end int64) bool { return received[channel][end] })
}
