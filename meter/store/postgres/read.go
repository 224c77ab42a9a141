package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/postgres/marks"
	"voltbus/meter/store/postgres/table"
)

// span is channels from the first to the last.
type span struct{ first, last uint32 }

// within says which versions are read: those of days of channels in the span. Rows of what arrived count up to a number.
type within struct {
	days []int32
	of   span
	upto int64
}

// each calls f with versions, those of an interval the oldest first.
func each(ctx context.Context, q querier, w within, f func(store.Day, *table.Version)) error {
	row := &table.Intervals{}
	err := scan(ctx, q, "SELECT "+table.IntervalsColumns+" FROM meter_intervals WHERE day = ANY($1::int[]) AND channel BETWEEN $2 AND $3", func(c [][]byte) error {
		if err := row.Read(c); err != nil {
			return err
		}
		row.Each(func(v *table.Version) { f(store.Day(number(c[0])), v) })
		return nil
	}, w.days, int64(w.of.first), int64(w.of.last))
	if err != nil {
		return err
	}
	return arrivals(ctx, q, w, f)
}

// arrivals is each for what was not judged yet.
func arrivals(ctx context.Context, q querier, w within, f func(store.Day, *table.Version)) error {
	var list []table.Version
	return scan(ctx, q, "SELECT "+table.ArrivedColumns+" FROM meter_arrived WHERE day = ANY($1::int[]) AND bucket BETWEEN $2 AND $3 AND number <= $4 ORDER BY number", func(c [][]byte) (err error) {
		list, err = table.ReadArrived(list[:0], c)
		for i := range list {
			if v := &list[i]; v.Channel >= w.of.first && v.Channel <= w.of.last {
				f(store.Day(number(c[0])), v)
			}
		}
		return err
	}, w.days, int64(table.BucketOf(w.of.first)), int64(table.BucketOf(w.of.last)), w.upto)
}

const newest = 1<<63 - 1 // a number above those of all rows

// History implements store.Keeper.
func (s *Store) History(ctx context.Context, key store.ChannelKey, from, to time.Time) (*meter.History, error) {
	const op = "metering.History"
	ref := s.dir.Refs(nil, []store.ChannelKey{key})[0]
	if ref.Channel == nil {
		return nil, store.Unknown(op, key)
	}
	var found []meter.Version
	err := s.look(ctx, op, func(tx pgx.Tx) error {
		days, err := daysBetween(ctx, tx, s.calendar.Of(from.UnixMicro()+1), s.calendar.Of(to.UnixMicro()))
		if err != nil || len(days) == 0 {
			return err
		}
		unknown := false
		sources := s.known()
		err = each(ctx, tx, within{days, span{ref.Number, ref.Number}, newest}, func(d store.Day, v *table.Version) {
			if int(v.Source) >= len(sources) { // it came meanwhile
				if sources = s.known(); int(v.Source) >= len(sources) {
					unknown = true
					return
				}
			}
			of := &sources[v.Source]
			end := time.UnixMicro(s.calendar.End(d, ref.Channel.Interval, v.Place)).UTC()
			if end.After(from) && !end.After(to) {
				found = append(found, meter.Version{End: end, Recorded: time.Unix(v.Recorded, 0).UTC(), Value: v.Value, Stage: of.Stage, Status: of.Status, Origin: of.Origin})
			}
		})
		if err == nil && unknown {
			_, err = sourceAt(nil, 0)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b meter.Version) int { return cmp.Or(a.End.Compare(b.End), a.Recorded.Compare(b.Recorded)) })
	h := &meter.History{}
	if _, err := h.Add(found); err != nil {
		return nil, s.fail(op, err)
	}
	return h, nil
}

// daysBetween lists the days that have readings.
func daysBetween(ctx context.Context, q querier, first, last store.Day) (days []int32, err error) {
	err = scan(ctx, q, "SELECT day FROM meter_day WHERE day BETWEEN $1 AND $2 ORDER BY day", func(c [][]byte) error {
		days = append(days, int32(number(c[0])))
		return nil
	}, int64(first), int64(last))
	return days, err
}

// Missing implements store.Keeper.
func (s *Store) Missing(ctx context.Context, q store.MissingQuery) (store.Missing, error) {
	const op = "metering.Missing"
	var m *marks.Marks
	err := s.look(ctx, op, func(tx pgx.Tx) error {
		m = marks.New(s.dir, s.calendar, q.Day)
		err := scan(ctx, tx, "SELECT "+table.BucketColumns+" FROM meter_bucket WHERE day = $1", func(c [][]byte) error {
			b := &table.Bucket{}
			err := b.Read(c)
			m.Judged(b)
			return err
		}, int64(q.Day))
		if err != nil {
			return err
		}
		sources := s.known()
		return arrivals(ctx, tx, within{[]int32{int32(q.Day)}, span{0, 1<<31 - 1}, newest}, func(_ store.Day, v *table.Version) {
			if int(v.Source) >= len(sources) {
				sources = s.known()
			}
			if int(v.Source) < len(sources) && sources[v.Source].Stage == meter.Raw {
				m.Set(v.Channel, v.Place)
			}
		})
	})
	if err != nil {
		return store.Missing{}, err
	}
	return s.dir.Missing(q, func(channel uint32, place int, _ int64) bool { return m.Has(channel, place) })
}
