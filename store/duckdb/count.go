package duckdb

import (
	"context"

	"voltbus/store"
	"voltbus/store/duckdb/day"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/sample"
)

// Count implements store.Store. For steps of whole hours it adds up hourly counts, which it caches for closed
// days; other steps are counted from the samples.
func (s *queries) Count(ctx context.Context, q store.Query) ([][]uint32, error) {
	const op = "duckdb.Count"
	if err := q.CheckCount(op); err != nil {
		return nil, err
	}
	q.Range = store.Range{Points: q.Points, From: q.From, To: q.To, GoodOnly: true}
	var out [][]uint32
	err := s.retry(ctx, op, func() (bool, error) {
		rd, err := s.newReader(ctx, op, &q.Range, nil)
		if err != nil {
			return false, err
		}
		defer rd.close()
		out, err = rd.count(ctx, &q)
		return false, err
	})
	return out, err
}

func (rd *reader) count(ctx context.Context, q *store.Query) ([][]uint32, error) {
	g := sample.NewGroup(q.Points, rd.s.number(q.Points))
	tallies := make([]*store.Tally, len(g.IDs))
	for i := range tallies {
		tallies[i] = store.NewTally(q)
	}
	if q.From.Before(q.To) && len(g.IDs) > 0 {
		for _, p := range countParts(rd.view.days, tallies[0].Hourly()) {
			if err := rd.countPart(ctx, &p, g, tallies); err != nil {
				return nil, err
			}
		}
	}
	out := make([][]uint32, len(q.Points))
	for i, slot := range g.Slots {
		if slot >= 0 {
			out[i] = tallies[slot].Counts()
		}
	}
	return out, ctx.Err()
}

// countParts returns single days where hourly counts may suffice, and otherwise parts as large as possible.
func countParts(days []*day.Day, hourly bool) []day.Part {
	if !hourly {
		return day.Parts(days, 0)
	}
	var out []day.Part
	for _, d := range days {
		out = append(out, day.Parts([]*day.Day{d}, 1)...)
	}
	return out
}

// countPart adds the part's samples to the tallies: those of a whole closed day by their hours, if whole
// hours suffice.
func (rd *reader) countPart(ctx context.Context, p *day.Part, g *sample.Group, tallies []*store.Tally) error {
	if d := p.Days[0]; len(p.Days) == 1 && d.Table == "" && tallies[0].Hourly() {
		h, err := rd.s.Hours(ctx, rd.conn, d)
		if err != nil {
			return err
		}
		if !h.Full {
			h.Give(g, tallies)
			return nil
		}
	}
	return rd.countSamples(ctx, p, g, tallies)
}

func (rd *reader) countSamples(ctx context.Context, p *day.Part, g *sample.Group, tallies []*store.Tally) error {
	if p.Messy {
		return rd.countMessy(ctx, p, g, tallies)
	}
	sel := &day.Selection{IDs: g.IDs, From: rd.r.From.UnixMicro(), To: rd.r.To.UnixMicro(), Numbers: true}
	return rd.s.Scan(ctx, rd.conn, p, sel, func(cols *sample.Columns) error {
		for i, id := range cols.ID {
			if slot := g.Slot(id); slot >= 0 && !cols.QualityAt(i).IsBad() {
				tallies[slot].Add(cols.Time[i], 1)
			}
		}
		return nil
	})
}

// countMessy counts a table in which a sample may occur several times.
func (rd *reader) countMessy(ctx context.Context, p *day.Part, g *sample.Group, tallies []*store.Tally) error {
	statement := "SELECT id, time FROM (" + rd.s.SQL(p.Days[0]) + ") WHERE " + day.NotBad
	return rd.conn.Query(ctx, statement, func(ch *engine.Chunk) error {
		ids, times := engine.Numbers[uint32](ch, 0), engine.Numbers[int64](ch, 1)
		for i, id := range ids {
			if slot := g.Slot(id); slot >= 0 && times[i] >= rd.r.From.UnixMicro() && times[i] < rd.r.To.UnixMicro() {
				tallies[slot].Add(times[i], 1)
			}
		}
		return nil
	})
}
