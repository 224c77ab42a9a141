package duckdb

import (
	"context"
	"slices"

	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb/day"
	"voltbus/store/duckdb/sample"
)

// Aggregate implements store.Store. It reads each day once for all points.
func (s *queries) Aggregate(ctx context.Context, q store.Query) ([]store.Series, error) {
	const op = "duckdb.Aggregate"
	if err := q.Check(op); err != nil {
		return nil, err
	}
	if q.Limit > 0 {
		return s.aggregateLimited(ctx, q)
	}
	var out []store.Series
	err := s.retry(ctx, op, func() (bool, error) {
		plan := store.NewPlan(&q)
		whole := plan.Range()
		rd, err := s.newReader(ctx, op, &whole, nil)
		if err != nil {
			return false, err
		}
		defer rd.close()
		rd.plan = plan
		out, err = rd.aggregate(ctx, &q)
		return false, err
	})
	return out, err
}

// aggregateLimited reads the samples within the limit, point by point.
func (s *queries) aggregateLimited(ctx context.Context, q store.Query) ([]store.Series, error) {
	plan := store.NewPlan(&q)
	out := make([]store.Series, len(q.Points))
	for i, p := range q.Points {
		r := q.Range
		r.Points = []point.Path{p}
		fold := plan.Fold(i)
		err := s.Read(ctx, r, func(samples []point.Sample) error {
			for j := range samples {
				fold.Add(samples[j].Time.UnixMicro(), samples[j].Value, samples[j].Quality)
			}
			return plan.Err("duckdb.Aggregate")
		})
		if err != nil {
			return nil, err
		}
		out[i] = store.Series{Point: p, Buckets: fold.Buckets()}
	}
	return out, nil
}

// aggregate folds the samples as they arrive from disk.
func (rd *reader) aggregate(ctx context.Context, q *store.Query) ([]store.Series, error) {
	g := sample.NewGroup(q.Points, rd.s.number(q.Points))
	folds := foldsOf(rd.plan, g)
	if q.From.Before(q.To) && len(g.IDs) > 0 {
		for _, p := range day.Parts(rd.view.days, 0) {
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
		if slot := g.Slots[i]; slot >= 0 {
			out[i].Buckets = slices.Clone(buckets[slot])
		}
	}
	return out, ctx.Err()
}

// foldsOf returns a fold for each id of the group. Points requested twice share it.
func foldsOf(plan *store.Plan, g *sample.Group) []*store.Fold {
	folds := make([]*store.Fold, len(g.IDs))
	for i, slot := range g.Slots {
		if slot >= 0 && folds[slot] == nil {
			folds[slot] = plan.Fold(i)
		}
	}
	return folds
}

func (rd *reader) foldPart(ctx context.Context, p *day.Part, g *sample.Group, folds []*store.Fold) error {
	if p.Messy {
		return rd.foldMessy(ctx, p, g, folds)
	}
	sel := &day.Selection{IDs: g.IDs, From: rd.r.From.UnixMicro(), To: rd.r.To.UnixMicro(), Numbers: true}
	return rd.s.Scan(ctx, rd.conn, p, sel, func(cols *sample.Columns) error {
		for i, id := range cols.ID {
			slot := g.Slot(id)
			if slot < 0 || (rd.r.GoodOnly && cols.QualityAt(i).IsBad()) {
				continue
			}
			number, ok := cols.NumberAt(i)
			folds[slot].AddNumber(cols.Time[i], number, ok, cols.QualityAt(i))
		}
		return rd.plan.Err("duckdb.Aggregate")
	})
}

// foldMessy sorts the samples of some points at a time before it folds them.
func (rd *reader) foldMessy(ctx context.Context, p *day.Part, all *sample.Group, folds []*store.Fold) error {
	for ids := range slices.Chunk(all.IDs, rd.s.groupSize(p.Days)) {
		g := sample.Of(ids)
		if err := rd.readPart(ctx, g, p); err != nil {
			return err
		}
		for slot, rows := range g.Rows {
			fold := folds[all.Slot(ids[slot])]
			for i := range rows {
				fold.Add(rows[i].Time, rows[i].Value, rows[i].Quality)
			}
		}
		if err := rd.plan.Err("duckdb.Aggregate"); err != nil {
			return err
		}
	}
	return nil
}
