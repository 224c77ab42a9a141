package memory

import (
	"cmp"
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

// Judge implements store.Judged. Readings are taken in while it asks judge.
func (s *Store) Judge(ctx context.Context, d store.Day, judge func(*store.ChannelDay) error) (store.Judgement, error) {
	const op = "memory.Judge"
	s.judging.Lock()
	defer s.judging.Unlock()
	j := judging{s}
	var out store.Judgement
	if err := s.begin(ctx, op); err != nil {
		return out, err
	}
	todo := j.due(d)
	s.mu.Unlock()
	for _, channel := range todo {
		if err := s.begin(ctx, op); err != nil {
			return out, err
		}
		c := j.channelDay(d, channel)
		seen := s.days.of(d).waiting[channel]
		s.mu.Unlock()
		if err := judge(c); err != nil {
			return out, fault.E(op, fault.KindOf(err), c.Key.Meter, err)
		}
		if err := s.begin(ctx, op); err != nil {
			return out, err
		}
		err := j.verdict(&out, c, channel, s.moment())
		j.judged(c, channel, seen)
		s.mu.Unlock()
		if err != nil {
			return out, fault.E(op, fault.Internal, c.Key.Meter, err)
		}
	}
	if err := s.begin(ctx, op); err != nil {
		return out, err
	}
	defer s.mu.Unlock()
	j.registersJudged(d, todo)
	return out, nil
}

// judging is the store while a day is judged. Its methods are called with mu held.
type judging struct{ *Store }

// due lists the channels of a day that are to be judged.
func (s judging) due(d store.Day) []uint32 {
	of := s.days.of(d)
	var todo []uint32
	s.dir.Expected(d, 0, func(_, channel uint32, _ *meter.Channel) bool {
		if !of.judged[channel] {
			todo = append(todo, channel)
		}
		return true
	})
	for channel := range of.waiting {
		todo = append(s.dir.Profiles(todo, channel), channel)
	}
	todo = slices.AppendSeq(todo, maps.Keys(of.redo))
	todo = slices.DeleteFunc(todo, func(channel uint32) bool {
		_, c := s.dir.Key(channel)
		return c.Interval == 0
	})
	slices.Sort(todo)
	return slices.Compact(todo)
}

// registersJudged notes that the reads of registers count in what was judged.
func (s judging) registersJudged(d store.Day, todo []uint32) {
	of := s.days.of(d)
	for channel := range of.waiting {
		for _, profile := range s.dir.Profiles(nil, channel) {
			if _, ok := slices.BinarySearch(todo, profile); ok {
				s.changed(d, profile)
				delete(of.waiting, channel)
			}
		}
	}
}

// judged notes that a channel of a day was judged, and which others depend on what came. Seen is how many versions waited.
func (s judging) judged(c *store.ChannelDay, channel uint32, seen uint64) {
	of := s.days.of(c.Day)
	of.judged[channel] = true
	delete(of.redo, channel)
	if seen > 0 {
		s.changed(c.Day, channel)
		if of.waiting[channel] -= seen; of.waiting[channel] == 0 {
			delete(of.waiting, channel)
		}
	}
	for _, d := range c.Uses {
		s.days.of(d).used[use{c.Day, channel}] = true
	}
	total, highest := c.Summary()
	of.sums[channel] = summary{total, highest}
}

// changed has those judged anew that depend on a day of a channel.
func (s judging) changed(d store.Day, channel uint32) {
	if next := s.days.of(d + 1); next.judged[channel] {
		next.redo[channel] = true
	}
	for u := range s.days.of(d).used {
		if of := s.days.of(u.day); u.channel == channel && u.day != d && of.judged[channel] {
			of.redo[channel] = true
		}
	}
}

// channelDay gathers the newest raw readings of a day, and what stands around them.
func (s judging) channelDay(d store.Day, channel uint32) *store.ChannelDay {
	key, c := s.dir.Key(channel)
	out := &store.ChannelDay{Key: key, Commodity: s.dir.Commodity(channel), Channel: c, Day: d, Again: s.days.of(d).judged[channel], Ends: s.calendar.Ends(nil, d, c.Interval)}
	n := len(out.Ends)
	out.Status, out.Estimates, out.Rules = make([]uint32, n), make([]float64, n), make([]string, n)
	out.Values = unknown(n)
	for i := range out.Estimates {
		out.Estimates[i] = math.NaN()
	}
	for _, v := range s.versions(d, channel) {
		i, ok := slices.BinarySearch(out.Ends, v.End.UnixMicro())
		switch {
		case v.Stage != meter.Raw:
		case ok:
			out.Values[i] = v.Value
		case v.Status == 0:
			out.OffGrid++
		}
	}
	s.around(out, channel)
	return out
}

func unknown(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

// around fills in the days around, the register, and what was usual.
func (s judging) around(c *store.ChannelDay, channel uint32) {
	k := store.Around(c.Channel.Interval)
	before, after := s.values(c.Day-1, channel, true), s.values(c.Day+1, channel, true)
	c.Before, c.After = before[len(before)-k:], after[:k]
	c.UsualSum, c.HighestValue = s.usual(c.Day, channel)
	if register, model, ok := s.dir.Register(channel); ok {
		start := s.calendar.Bounds(c.Day).Start
		var reads []store.Read
		if h := s.histories[register]; h != nil {
			from := time.UnixMicro(start - 1)
			for _, v := range h.AsKnown(nil, from, time.UnixMicro(s.calendar.Bounds(c.Day).End), time.Unix(1<<40, 0)) {
				reads = append(reads, store.Read{At: v.End.UnixMicro(), Value: v.Value})
			}
		}
		c.Advances = c.RegisterAdvances(nil, model, reads, start)
	}
	c.Past = func(d store.Day) []float64 {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.days[d] == nil || d >= c.Day {
			return nil
		}
		return s.values(d, channel, false)
	}
}

// values returns what counts of the intervals of a day; if measured, without what was estimated or is doubted.
func (s judging) values(d store.Day, channel uint32, measured bool) []float64 {
	_, c := s.dir.Key(channel)
	ends := s.calendar.Ends(nil, d, c.Interval)
	out := unknown(len(ends))
	edited := make([]bool, len(ends))
	rank := make([]uint8, len(ends))
	for _, v := range s.versions(d, channel) {
		i, ok := slices.BinarySearch(ends, v.End.UnixMicro())
		if !ok {
			continue
		}
		r := map[meter.Stage]uint8{meter.Edited: 2, meter.Estimated: 1, meter.Validated: 1}[v.Stage]
		switch {
		case !measured && r >= rank[i]:
			out[i], rank[i] = v.Value, r
		case !measured, v.Stage == meter.Estimated, edited[i] && v.Stage != meter.Edited:
		case store.Doubted(v.Stage, v.Status):
			out[i] = math.NaN()
		default:
			out[i], edited[i] = v.Value, v.Stage == meter.Edited
		}
	}
	return out
}

// usual returns the mean of the sums of like days, and the highest interval of the days before.
func (s judging) usual(d store.Day, channel uint32) (sum, highest float64) {
	highest = math.NaN()
	days := 0
	for back := 1; back <= store.PastDays; back++ {
		of := s.days[d-store.Day(back)]
		if of == nil {
			continue
		}
		t, ok := of.sums[channel]
		if !ok {
			continue
		}
		if back%7 == 0 && back/7 <= store.LikeDays && !math.IsNaN(t.total) {
			sum += t.total
			days++
		}
		if !math.IsNaN(t.highest) && !(t.highest <= highest) {
			highest = t.highest
		}
	}
	if days == 0 {
		return math.NaN(), highest
	}
	return sum / float64(days), highest
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
func (s judging) verdict(out *store.Judgement, c *store.ChannelDay, channel uint32, recorded time.Time) error {
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
			if err := s.add(ref, v, false); err != nil {
				return err
			}
		}
		if !math.IsNaN(c.Estimates[i]) {
			v.Stage, v.Value, v.Origin.Rule = meter.Estimated, c.Estimates[i], c.Rules[i]
			out.Estimated++
			if err := s.add(ref, v, false); err != nil {
				return err
			}
		}
	}
	s.except(out, c, channel, recorded)
	return nil
}

// except replaces the exception of a day of a channel, unless it is as before, or was settled as it is.
func (s judging) except(out *store.Judgement, c *store.ChannelDay, channel uint32, recorded time.Time) {
	e := exception{store.NewException(0, c, recorded), channel}
	same := func(o exception) bool { return o.channel == channel && o.Day == c.Day }
	at := slices.IndexFunc(s.exceptions, same)
	if c.Exception {
		out.Exceptions++
		if at >= 0 && s.exceptions[at].Status == e.Status && s.exceptions[at].Count == e.Count {
			return
		}
		if at < 0 && slices.ContainsFunc(s.settled, func(o exception) bool { return same(o) && o.Status == e.Status && o.Count == e.Count }) {
			return
		}
	}
	s.exceptions = slices.DeleteFunc(s.exceptions, same)
	if c.Exception {
		s.number++
		e.Number = s.number
		s.exceptions = append(s.exceptions, e)
	}
}

// Exceptions implements store.Judged.
func (s *Store) Exceptions(ctx context.Context, q store.ExceptionQuery) ([]store.Exception, error) {
	if err := s.begin(ctx, "memory.Exceptions"); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var out []store.Exception
	for _, e := range s.exceptions {
		if (q.Meter == "" || q.Meter == e.Key.Meter) && (q.Meant == nil || q.Meant(e.Key.Meter)) {
			out = append(out, e.Exception)
		}
	}
	slices.SortFunc(out, func(a, b store.Exception) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(a.Number, b.Number))
	})
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
	s.settled = append(s.settled, s.exceptions[at])
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
