package duckdb

import (
	"context"
	"slices"

	"voltbus/point"
	"voltbus/store"
)

// Aggregate implements store.Store. It passes over each day once for all points.
func (s *Store) Aggregate(ctx context.Context, q store.Query) ([]store.Series, error) {
	const op = "duckdb.Aggregate"
	if err := q.Check(op); err != nil {
		return nil, err
	}
	if q.Limit > 0 {
		return s.aggregateLimited(ctx, q)
	}
	var out []store.Series
	err := s.retry(ctx, op, func() (bool, error) {
		rd, err := s.newReader(ctx, op, &q.Range, nil)
		if err != nil {
			return false, err
		}
		defer rd.close()
		out, err = rd.aggregate(ctx, &q)
		return false, err
	})
	return out, err
}

// aggregateLimited reads the samples that the limit leaves, point by point.
func (s *Store) aggregateLimited(ctx context.Context, q store.Query) ([]store.Series, error) {
	out := make([]store.Series, len(q.Points))
	for i, p := range q.Points {
		r := q.Range
		r.Points = []point.Path{p}
		fold := store.NewFold(q.From, q.Step)
		err := s.Read(ctx, r, func(samples []point.Sample) error {
			for j := range samples {
				fold.Add(samples[j].Time.UnixMicro(), samples[j].Value, samples[j].Quality)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		out[i] = store.Series{Point: p, Buckets: fold.Buckets()}
	}
	return out, nil
}

// aggregate folds the samples as they come from the disk.
func (rd *reader) aggregate(ctx context.Context, q *store.Query) ([]store.Series, error) {
	g := newGroup(q.Points, rd.s.number(q.Points))
	folds := make([]*store.Fold, len(g.ids))
	for i := range folds {
		folds[i] = store.NewFold(q.From, q.Step)
	}
	if q.From.Before(q.To) && len(g.ids) > 0 {
		for _, p := range parts(rd.view.days, 0) {
			if err := rd.foldPart(ctx, &p, g, folds); err != nil {
				return nil, err
			}
		}
	}
	buckets := make([][]store.Bucket, len(folds))
	for i, f := range folds {
		buckets[i] = f.Buckets()
	}
	out := make([]store.Series, len(q.Points))
	for i, p := range q.Points {
		out[i].Point = p
		if slot := g.slots[i]; slot >= 0 {
			out[i].Buckets = slices.Clone(buckets[slot])
		}
	}
	return out, ctx.Err()
}

func (rd *reader) foldPart(ctx context.Context, p *part, g *group, folds []*store.Fold) error {
	if p.messy {
		return rd.foldMessy(ctx, p, g, folds)
	}
	sel := &selection{ids: g.ids, from: rd.r.From.UnixMicro(), to: rd.r.To.UnixMicro(), numbers: true}
	return rd.s.scan(ctx, rd.conn, p, sel, func(cols *columns) error {
		for i, id := range cols.id {
			slot := g.lookup.slot(id)
			if slot < 0 || (rd.r.GoodOnly && cols.qualityAt(i).IsBad()) {
				continue
			}
			number, ok := cols.numberAt(i)
			folds[slot].AddNumber(cols.time[i], number, ok, cols.qualityAt(i))
		}
		return nil
	})
}

// foldMessy sorts the samples of some points at a time before it folds them.
func (rd *reader) foldMessy(ctx context.Context, p *part, all *group, folds []*store.Fold) error {
	for ids := range slices.Chunk(all.ids, rd.s.groupSize(p.days)) {
		g := &group{ids: ids, lookup: newLookup(ids), rows: make([][]row, len(ids)), marks: make([]int, len(ids))}
		if err := rd.readPart(ctx, g, p); err != nil {
			return err
		}
		for slot, rows := range g.rows {
			fold := folds[all.lookup.slot(ids[slot])]
			for i := range rows {
				fold.Add(rows[i].time, rows[i].value, rows[i].quality)
			}
		}
	}
	return nil
}
