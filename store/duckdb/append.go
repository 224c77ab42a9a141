package duckdb

import (
	"context"
	"maps"
	"slices"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb/engine"
)

// Append implements store.Store.
func (s *Store) Append(ctx context.Context, blocks []*point.Block) (store.Result, error) {
	const op = "duckdb.Append"
	if err := store.CheckBlocks(op, blocks); err != nil {
		return store.Result{}, err
	}
	s.write.Lock()
	defer s.write.Unlock()
	c, err := s.connection(ctx, op)
	if err != nil {
		return store.Result{}, err
	}
	entry := s.ledger.Post(blocks, now()) // the ledger changes only under write
	if len(entry.Positions) == 0 {
		return entry.Result, nil
	}
	b := s.newBatch(c)
	defer b.close()
	if err := transaction(ctx, c, func() error { return b.store(ctx, &entry) }); err != nil {
		return store.Result{}, s.fail(op, s.options.Dir, err)
	}
	b.publish(&entry)
	return entry.Result, nil
}

// batch is one Append on its way into the database. What it changes in memory is changed in
// publish, after the commit.
type batch struct {
	s     *Store
	conn  *engine.Conn
	fresh map[point.Path]uint32 // points that have no samples yet
	paths []point.Path          // of fresh, by id from len(s.cat.paths) on
	days  map[store.Day]*dayWriter
	*scratch
}

// scratch is memory that batches use one after the other.
type scratch struct {
	newest  []newest     // by id; all zero between batches
	touched []uint32     // ids with an entry in newest
	points  []point.Path // of the block before; empty between batches
	ids     []uint32     // of points
}

// newest is the latest sample of a point so far, seen from within the batch.
type newest struct {
	seen  bool
	known bool // there is a time to compare with
	time  int64
	block *point.Block // nil if the sample is older than the batch
	index int
}

// dayWriter fills the table of one day.
type dayWriter struct {
	*tableWriter
	day        day
	start, end int64
	added      uint64
}

func (s *Store) newBatch(c *engine.Conn) *batch {
	return &batch{
		s: s, conn: c, scratch: &s.scratch,
		fresh: make(map[point.Path]uint32), days: make(map[store.Day]*dayWriter),
	}
}

// store writes the entry within the open transaction.
func (b *batch) store(ctx context.Context, e *store.Entry) error {
	for _, block := range e.Blocks {
		if err := b.add(ctx, block); err != nil {
			return err
		}
	}
	for _, w := range b.days {
		if err := w.flush(); err != nil {
			return err
		}
		old := b.s.days[w.day.key]
		if old == nil || old.table == "" || old.disordered != w.day.disordered {
			if err := saveDay(ctx, b.conn, &w.day); err != nil {
				return err
			}
		}
	}
	if err := savePoints(b.conn, b.paths, len(b.s.cat.paths)); err != nil {
		return err
	}
	return saveEntry(ctx, b.conn, e)
}

// add writes the samples of one block.
func (b *batch) add(ctx context.Context, block *point.Block) error {
	b.number(block)
	var w *dayWriter
	for i, t := range block.Time {
		if w == nil || t < w.start || t >= w.end {
			var err error
			if w, err = b.day(ctx, store.DayOf(t)); err != nil {
				return err
			}
		}
		id := b.ids[block.Point[i]]
		n := &b.newest[id]
		if !n.seen {
			b.begin(id, n)
		}
		if n.known && t <= n.time {
			w.day.disordered = true
		}
		if !n.known || t >= n.time {
			n.known, n.time, n.block, n.index = true, t, block, i
		}
		if err := w.put(id, block, i); err != nil {
			return err
		}
		w.added++
	}
	return nil
}

// number finds or makes the numbers of the block's points, often those of the block before.
func (b *batch) number(block *point.Block) {
	if len(b.points) > 0 && slices.Equal(b.points, block.Points) {
		return
	}
	b.points, b.ids = block.Points, b.ids[:0]
	for _, p := range block.Points {
		id, ok := b.s.cat.ids[p]
		if !ok {
			id, ok = b.fresh[p]
		}
		if !ok {
			id = uint32(len(b.s.cat.paths) + len(b.paths))
			b.fresh[p] = id
			b.paths = append(b.paths, p)
		}
		b.ids = append(b.ids, id)
	}
	if n := len(b.s.cat.paths) + len(b.paths); len(b.newest) < n {
		b.newest = append(b.newest, make([]newest, n-len(b.newest))...)
	}
}

// begin takes over what is known of the point from before the batch.
func (b *batch) begin(id uint32, n *newest) {
	n.seen = true
	b.touched = append(b.touched, id)
	if int(id) >= len(b.s.cat.latest) {
		return
	}
	if l := &b.s.cat.latest[id]; l.known {
		n.known, n.time = true, l.time
	}
}

// day returns the writer of a day and makes its table if there is none.
func (b *batch) day(ctx context.Context, key store.Day) (*dayWriter, error) {
	if w := b.days[key]; w != nil {
		return w, nil
	}
	d := day{key: key}
	if old := b.s.days[key]; old != nil {
		d = *old
	}
	if d.table == "" {
		d.table = d.nextTable()
		d.generation++
		if err := b.conn.Exec(ctx, createDay(d.table)); err != nil {
			return nil, err
		}
	}
	t, err := openTable(b.conn, d.table)
	if err != nil {
		return nil, err
	}
	w := &dayWriter{tableWriter: t, day: d, start: key.Start().UnixMicro(), end: key.End().UnixMicro()}
	b.days[key] = w
	return w, nil
}

// close frees the appenders and leaves the scratch clean.
func (b *batch) close() {
	for _, w := range b.days {
		w.tableWriter.close()
	}
	for _, id := range b.touched {
		b.newest[id] = newest{}
	}
	b.touched, b.points = b.touched[:0], nil
}

// publish makes the committed batch visible to readers.
func (b *batch) publish(e *store.Entry) {
	s := b.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range b.paths {
		s.cat.add(p)
	}
	for _, id := range b.touched {
		if n := &b.newest[id]; n.block != nil {
			s.cat.see(id, row{time: n.time, value: n.block.Value(n.index), quality: n.block.Quality[n.index]})
		}
	}
	days := maps.Clone(s.days)
	for key, w := range b.days {
		d := w.day
		d.stored += w.added
		days[key] = &d
	}
	s.days = days
	s.ledger.Apply(e)
}

// usable returns the error for a call that comes after Close or with an ended context.
func (s *Store) usable(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return fault.E(op, fault.KindOf(err), "", err)
	}
	if s.handle.state() == closed {
		return fault.E(op, fault.Unavailable, s.options.Dir, errClosed)
	}
	return nil
}
