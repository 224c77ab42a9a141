package duckdb

import (
	"context"
	"fmt"
	"slices"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb/day"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/handle"
	"voltbus/store/duckdb/sample"
)

// queries answers queries.
type queries struct {
	*database
	*index
	*day.Files
	upkeep *upkeep // sets aside files that turn out to be damaged
}

// Points implements store.Store.
func (s *queries) Points(ctx context.Context) ([]point.Path, error) {
	if err := s.Usable(ctx, "duckdb.Points"); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.cat.Paths(), nil
}

// Latest implements store.Store.
func (s *queries) Latest(ctx context.Context, paths []point.Path) ([]point.Sample, error) {
	if err := s.Usable(ctx, "duckdb.Latest"); err != nil {
		return nil, err
	}
	out := make([]point.Sample, len(paths))
	s.mu.RLock()
	defer s.mu.RUnlock()
	guess := uint32(0)
	for i, p := range paths {
		id, ok := s.cat.ID(p, guess)
		if !ok {
			continue
		}
		guess = id + 1
		if r, known := s.cat.Latest(id); known {
			out[i] = r.Sample(p)
		}
	}
	return out, nil
}

// Read implements store.Store. Samples of one point are emitted as they arrive from disk; several points are
// read together, as many at once as the memory for collected samples allows.
func (s *queries) Read(ctx context.Context, r store.Range, emit func([]point.Sample) error) error {
	const op = "duckdb.Read"
	if err := r.Check(op); err != nil {
		return err
	}
	return s.retry(ctx, op, func() (bool, error) {
		rd, err := s.newReader(ctx, op, &r, emit)
		if err != nil {
			return false, err
		}
		defer rd.close()
		err = rd.run(ctx)
		return rd.emitted, err
	})
}

// retry runs a query. When it fails and a day's file turns out to be damaged, that file is set aside, and the
// query runs once more unless it has already emitted something.
func (s *queries) retry(ctx context.Context, op string, run func() (began bool, err error)) error {
	began, err := run()
	e := engine.AsError(err)
	if e == nil {
		return err
	}
	if e.Interrupted() || e.Fatal() || handle.NoSpace(e.Text) {
		return s.Fail(op, "", err)
	}
	aside, checkErr := s.upkeep.setDamagedAside(ctx, op)
	switch {
	case checkErr != nil:
		return checkErr
	case aside == 0:
		return s.Fail(op, "", err)
	case began:
		return fault.E(op, fault.Corrupt, "", fmt.Errorf("a damaged file was set aside; ask again for the rest: %w", err))
	}
	if _, err = run(); engine.AsError(err) != nil {
		return s.Fail(op, "", err)
	}
	return err
}

// setDamagedAside checks the file of every closed day and returns how many were damaged.
func (s *upkeep) setDamagedAside(ctx context.Context, op string) (int, error) {
	s.running.Lock()
	defer s.running.Unlock()
	return s.check(ctx, op, s.allDays())
}

// reader answers one Read, Aggregate or Count.
type reader struct {
	s       *queries
	plan    *store.Plan // for an Aggregate
	conn    *engine.Conn
	view    view
	r       *store.Range
	emit    func([]point.Sample) error
	emitted bool
	out     []point.Sample
}

func (s *queries) newReader(ctx context.Context, op string, r *store.Range, emit func([]point.Sample) error) (*reader, error) {
	c, err := s.Borrow(ctx, op)
	if err != nil {
		return nil, err
	}
	return &reader{s: s, conn: c, r: r, emit: emit, view: s.look(r.From.UnixMicro(), r.To.UnixMicro())}, nil
}

func (rd *reader) close() {
	rd.view.done()
	rd.s.GiveBack(rd.conn)
}

// run reads the points in groups.
func (rd *reader) run(ctx context.Context) error {
	if !rd.r.From.Before(rd.r.To) || len(rd.view.days) == 0 {
		return ctx.Err()
	}
	size := rd.s.groupSize(rd.view.days)
	for points := range slices.Chunk(rd.r.Points, size) {
		g := sample.NewGroup(points, rd.s.number(points))
		if len(g.IDs) == 0 {
			continue
		}
		if err := rd.readGroup(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// groupSamples is how many samples a reader collects before it emits them.
const groupSamples = 400_000

// groupSize returns how many points are read together.
func (s *index) groupSize(days []*day.Day) int {
	s.mu.RLock()
	points := uint64(s.cat.Names.Len())
	s.mu.RUnlock()
	perPoint := day.SamplesIn(days)/max(1, points) + 1
	return int(max(1, groupSamples/perPoint))
}

// number returns the numbers of the points; -1 for those without.
func (s *index) number(points []point.Path) []int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]int64, len(points))
	guess := uint32(0)
	for i, p := range points {
		out[i] = -1
		if id, ok := s.cat.ID(p, guess); ok {
			out[i], guess = int64(id), id+1
		}
	}
	return out
}

func (rd *reader) readGroup(ctx context.Context, g *sample.Group) error {
	days, size := rd.view.days, 0
	if rd.r.Limit > 0 {
		size = 1
	}
	newest := rd.r.Limit > 0 && rd.r.Newest
	if newest {
		days = slices.Clone(days)
		slices.Reverse(days)
	}
	for _, p := range day.Parts(days, size) {
		if newest {
			slices.Reverse(p.Days)
		}
		if err := rd.readPart(ctx, g, &p); err != nil {
			return err
		}
		if rd.r.Limit > 0 && g.Trim(rd.r.Limit, newest) {
			break
		}
		if rd.r.Limit == 0 && len(g.Points) == 1 {
			if err := rd.give(g); err != nil {
				return err
			}
		}
	}
	return rd.give(g)
}

// readPart adds the part's samples to the group.
func (rd *reader) readPart(ctx context.Context, g *sample.Group, p *day.Part) error {
	g.Begin()
	sel := &day.Selection{IDs: g.IDs, From: rd.r.From.UnixMicro(), To: rd.r.To.UnixMicro()}
	streamed := len(g.Points) == 1 && rd.r.Limit == 0 && !p.Messy
	err := rd.s.Scan(ctx, rd.conn, p, sel, func(cols *sample.Columns) error {
		for i, id := range cols.ID {
			if !p.Messy && rd.r.GoodOnly && cols.QualityAt(i).IsBad() {
				continue
			}
			g.Add(id, cols, i)
		}
		if streamed {
			return rd.give(g)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if p.Messy {
		g.Tidy(rd.r.GoodOnly)
	}
	if rd.r.Limit > 0 && rd.r.Newest {
		g.Turn()
	}
	return nil
}

// giveSamples is the maximum number of samples passed to emit at once.
const giveSamples = 4096

// give passes the group's samples to emit, point by point in the order requested, and empties the group.
func (rd *reader) give(g *sample.Group) error {
	for i, path := range g.Points {
		slot := g.Slots[i]
		if slot < 0 {
			continue
		}
		for rows := range slices.Chunk(g.Rows[slot], giveSamples) {
			rd.out = rd.out[:0]
			for j := range rows {
				rd.out = append(rd.out, rows[j].Sample(path))
			}
			rd.emitted = true
			if err := rd.emit(rd.out); err != nil {
				return err
			}
		}
	}
	g.Empty()
	return nil
}
