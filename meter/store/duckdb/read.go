package duckdb

import (
	"cmp"
	"context"
	"slices"
	"time"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/meter/store/duckdb/marks"
	"voltbus/meter/store/duckdb/table"
	"voltbus/store/duckdb/engine"
)

// History implements store.Keeper.
func (s *Store) History(ctx context.Context, key store.ChannelKey, from, to time.Time) (*meter.History, error) {
	const op = "metering.History"
	seen, err := s.view(ctx, op)
	if err != nil {
		return nil, err
	}
	defer seen.give()
	ref := s.dir.Refs(nil, []store.ChannelKey{key})[0]
	if ref.Channel == nil {
		return nil, store.Unknown(op, key)
	}
	first, last := s.calendar.Of(from.UnixMicro()+1), s.calendar.Of(to.UnixMicro())
	r := &channelReader{s: s, c: seen.c, channel: ref.Number, length: ref.Channel.Interval}
	var days []*day
	for k, d := range seen.days {
		if k >= first && k <= last {
			days = append(days, d)
		}
	}
	slices.SortFunc(days, func(a, b *day) int { return cmp.Compare(a.Key, b.Key) })
	h := &meter.History{}
	for _, d := range days {
		if err := r.read(ctx, d); err != nil {
			return nil, failed(op, key.Meter, err)
		}
	}
	out := r.found[:0]
	for _, v := range r.found {
		if v.End.After(from) && !v.End.After(to) {
			out = append(out, v)
		}
	}
	slices.SortStableFunc(out, func(a, b meter.Version) int { return cmp.Or(a.End.Compare(b.End), a.Recorded.Compare(b.Recorded)) })
	if _, err := h.Add(out); err != nil {
		return nil, failed(op, key.Meter, err)
	}
	return h, nil
}

// channelReader gathers the versions of one channel.
type channelReader struct {
	s       *Store
	c       *engine.Conn
	channel uint32
	length  time.Duration
	found   []meter.Version
}

// read gathers the versions of one day: the sorted ones first, since all others of their intervals are later.
func (r *channelReader) read(ctx context.Context, d *day) error {
	if d.Sealed > 0 {
		err := r.c.Query(ctx, "SELECT place, value, recorded, source, verdict FROM "+d.SealedTable()+" WHERE channel = $1", func(k *engine.Chunk) error {
			places, values, recorded := engine.Numbers[int32](k, 0), engine.Numbers[float64](k, 1), engine.Numbers[int64](k, 2)
			sources, verdicts := engine.Numbers[uint32](k, 3), engine.Numbers[uint32](k, 4)
			for i := range k.Rows {
				end := r.s.calendar.End(d.Key, r.length, places[i])
				at := recorded[i]
				if d.Delayed {
					at += end / 1_000_000
				}
				v := verdictAt(r.s, verdicts[i])
				r.add(end, values[i], at, sources[i])
				r.add(end, values[i], int64(v.Recorded), v.Source)
			}
			return nil
		}, r.channel)
		if err != nil {
			return err
		}
	}
	for _, from := range d.VersionTables() {
		if err := r.versions(ctx, d, from); err != nil {
			return err
		}
	}
	return nil
}

func (r *channelReader) versions(ctx context.Context, d *day, from table.Versions) error {
	return r.c.Query(ctx, "SELECT place, value, recorded, source FROM "+from.Table+" WHERE channel = $1"+from.And, func(k *engine.Chunk) error {
		places, values := engine.Numbers[int32](k, 0), engine.Numbers[float64](k, 1)
		recorded, sources := engine.Numbers[uint32](k, 2), engine.Numbers[uint32](k, 3)
		for i := range k.Rows {
			r.add(r.s.calendar.End(d.Key, r.length, places[i]), values[i], int64(recorded[i]), sources[i])
		}
		return nil
	}, r.channel)
}

func (r *channelReader) add(end int64, value float64, recorded int64, from uint32) {
	v := sourceAt(r.s, from)
	r.found = append(r.found, meter.Version{
		End: time.UnixMicro(end).UTC(), Recorded: time.Unix(recorded, 0).UTC(), Value: value, Stage: v.Stage, Status: v.Status, Origin: v.Origin,
	})
}

// source returns what a number stands for.
func sourceAt(s *Store, n uint32) source {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sources[n]
}

func verdictAt(s *Store, n uint32) verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.verdicts[n]
}

// Days implements store.Judged.
func (s *Store) Days(ctx context.Context) ([]store.DayState, error) {
	_, give, err := s.reader(ctx, "metering.Days")
	if err != nil {
		return nil, err
	}
	defer give()
	var out []store.DayState
	s.mu.Lock()
	for k, d := range s.days {
		waiting := d.Waiting + d.TakenWaiting + s.redo[k]
		out = append(out, store.DayState{Day: k, Judged: d.Judged && waiting == 0, Rows: d.Rows(), Waiting: waiting})
	}
	s.mu.Unlock()
	slices.SortFunc(out, func(a, b store.DayState) int { return cmp.Compare(a.Day, b.Day) })
	return out, nil
}

// Missing implements store.Keeper. It marks what came in one pass over the day's tables.
func (s *Store) Missing(ctx context.Context, q store.MissingQuery) (store.Missing, error) {
	const op = "metering.Missing"
	seen, err := s.view(ctx, op)
	if err != nil {
		return store.Missing{}, err
	}
	defer seen.give()
	sources, _ := s.known()
	m := marks.New(s.dir, s.calendar, q.Day, sources)
	if d := seen.days[q.Day]; d != nil {
		beside, err := connection(s, op) // no view of its own: busy is held already
		if err != nil {
			return store.Missing{}, err
		}
		err = m.Read(ctx, seen.c, beside, d)
		s.mu.Lock()
		s.spare = append(s.spare, beside)
		s.mu.Unlock()
		if err != nil {
			return store.Missing{}, failed(op, q.Day.String(), err)
		}
	}
	return directory.MissingOf(s.dir, q, m)
}
