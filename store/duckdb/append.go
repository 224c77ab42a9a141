package duckdb

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb/catalogue"
	"voltbus/store/duckdb/day"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/manifest"
	"voltbus/store/duckdb/sample"
	"voltbus/store/duckdb/snapshot"
)

// appends stores blocks.
type appends struct {
	*database
	*index
	scratch *scratch
	saved   *snapshot.Keeper
}

// Append implements store.Store.
func (s *appends) Append(ctx context.Context, blocks []*point.Block) (store.Result, error) {
	const op = "duckdb.Append"
	if err := store.CheckBlocks(op, blocks); err != nil {
		return store.Result{}, err
	}
	s.Write.Lock()
	defer s.Write.Unlock()
	c, err := s.Connection(ctx, op)
	if err != nil {
		return store.Result{}, err
	}
	entry := s.ledger.Post(blocks, now()) // the ledger changes only under write
	if len(entry.Positions) == 0 {
		return entry.Result, nil
	}
	b := s.newBatch(c)
	defer b.close()
	if err := c.Transact(ctx, func() error { return b.store(ctx, &entry) }); err != nil {
		clear(s.scratch.words) // some of them may not have been stored
		return store.Result{}, s.Fail(op, s.options.Dir, err)
	}
	b.publish(&entry)
	if s.saved.Due(s.cat.Names.Len()) {
		s.saved.Save(ctx, c, &s.cat.Last, day.Places(s.days))
	}
	return entry.Result, nil
}

// batch is one Append on its way into the database. It changes memory only in publish, after the commit.
type batch struct {
	s      *appends
	cat    *catalogue.Catalogue
	conn   *engine.Conn
	blocks []*point.Block
	fresh  map[point.Path]uint32 // points that have no samples yet
	paths  []point.Path          // of fresh, in the order of their ids, the first of which is cat.names.Next
	days   map[store.Day]*dayWriter
	*scratch
}

// scratch is memory reused by one batch after another.
type scratch struct {
	newest []latest     // of the points of the batch; empty between batches
	expect int          // points of the batch, estimated from the previous one
	places []uint32     // by id: index of its entry in newest, plus one; all zero between batches
	points []point.Path // of the previous block; empty between batches
	ids    []uint32     // of points
	words  map[store.Day]sample.Words
}

// latest is the latest sample of a point so far, as seen from within the batch.
type latest struct {
	time  int64 // math.MinInt64 if there is none
	id    uint32
	block uint32 // in batch.blocks, plus one; 0 if the sample is older than the batch
	index uint32
	text  bool // the batch contains a text of the point
}

// dayWriter fills the table of one day.
type dayWriter struct {
	*sample.TableWriter
	day        day.Day
	start, end int64
	added      uint64
}

func (s *appends) newBatch(c *engine.Conn) *batch {
	return &batch{
		s: s, cat: s.cat, conn: c, scratch: s.scratch,
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
		if err := w.Flush(); err != nil {
			return err
		}
		old := b.s.days[w.day.Key]
		if old == nil || old.Table == "" || old.Disordered != w.day.Disordered {
			if err := day.Save(ctx, b.conn, &w.day); err != nil {
				return err
			}
		}
	}
	if err := catalogue.SavePoints(b.conn, b.paths, int(b.cat.Names.Next())); err != nil {
		return err
	}
	return manifest.SaveEntry(ctx, b.conn, e)
}

// add writes the samples of one block.
func (b *batch) add(ctx context.Context, block *point.Block) error {
	b.number(block)
	b.blocks = append(b.blocks, block)
	for i := 0; i < block.Len(); {
		w, err := b.day(ctx, store.DayOf(block.Time[i]))
		if err != nil {
			return err
		}
		j := w.fits(block.Time, i)
		ordered, overwritten := b.follow(block, i, j)
		w.day.Disordered = w.day.Disordered || !ordered
		w.day.Overwritten += overwritten
		if err := w.Put(b.ids, block, i, j); err != nil {
			return err
		}
		w.added += uint64(j - i)
		i = j
	}
	return nil
}

// fits returns the end of the run of times from i on that lie in the day and fit.
func (w *dayWriter) fits(times []int64, i int) int {
	end := min(len(times), i+w.Room())
	for i++; i < end && times[i] >= w.start && times[i] < w.end; i++ {
	}
	return i
}

// follow records the newest samples among i to j−1 of the block. It reports whether all are newer than their
// points' earlier ones, and how many have the time of the newest but another value.
func (b *batch) follow(block *point.Block, i, j int) (ordered bool, overwritten uint64) {
	ordered = true
	for ; i < j; i++ {
		id, t := b.ids[block.Point[i]], block.Time[i]
		if b.places[id] == 0 {
			b.begin(id)
		}
		n := &b.newest[b.places[id]-1]
		if block.Kind[i] == point.Text {
			n.text = true
		}
		if t <= n.time {
			ordered = false
		}
		if t == n.time && !b.repeats(n, block, i) {
			overwritten++
		}
		if t >= n.time {
			n.time, n.block, n.index = t, uint32(len(b.blocks)), uint32(i)
		}
	}
	return ordered, overwritten
}

// repeats reports whether sample i equals the newest one of its point.
func (b *batch) repeats(n *latest, block *point.Block, i int) bool {
	if n.block > 0 {
		of, at := b.blocks[n.block-1], int(n.index)
		return of.Value(at) == block.Value(i) && of.Quality[at] == block.Quality[i]
	}
	r, _ := b.cat.Latest(n.id)
	return r.Value == block.Value(i) && r.Quality == block.Quality[i]
}

// number finds or creates the numbers of the block's points, which are often those of the previous block.
func (b *batch) number(block *point.Block) {
	if len(b.points) > 0 && slices.Equal(b.points, block.Points) {
		return
	}
	b.points, b.ids = block.Points, b.ids[:0]
	guess := uint32(0)
	for _, p := range block.Points {
		id, ok := b.cat.ID(p, guess)
		if !ok {
			id, ok = b.fresh[p]
		}
		if !ok {
			p = point.Path(strings.Clone(string(p))) // it is a slice of all strings of its block, which must not be retained
			id = b.cat.Names.Next() + uint32(len(b.paths))
			b.fresh[p] = id
			b.paths = append(b.paths, p)
		}
		b.ids, guess = append(b.ids, id), id+1
	}
	if grow := int(b.cat.Names.Next()) + len(b.paths) - len(b.places); grow > 0 {
		b.places = append(b.places, make([]uint32, grow)...)
	}
}

// begin loads what is known about the point from before the batch.
func (b *batch) begin(id uint32) {
	n := latest{id: id, time: math.MinInt64}
	if time, known := b.cat.Last.Time(id); known {
		n.time = time
	}
	if b.newest == nil {
		b.newest = make([]latest, 0, max(64, b.expect))
	}
	b.newest = append(b.newest, n)
	b.places[id] = uint32(len(b.newest))
}

// day returns the writer of a day and creates its table if absent.
func (b *batch) day(ctx context.Context, key store.Day) (*dayWriter, error) {
	if w := b.days[key]; w != nil {
		return w, nil
	}
	d := day.Day{Key: key}
	if old := b.s.days[key]; old != nil {
		d = *old
	}
	if d.Table == "" {
		d.Table = d.NextTable()
		d.Generation++
		if err := sample.CreateTable(ctx, b.conn, d.Table); err != nil {
			return nil, err
		}
	}
	t, err := sample.OpenTable(b.conn, d.Table, b.wordsOf(&d), d.Texts)
	if err != nil {
		return nil, err
	}
	w := &dayWriter{TableWriter: t, day: d, start: key.Start().UnixMicro(), end: key.End().UnixMicro()}
	b.days[key] = w
	return w, nil
}

// keepNewest is up to how many points' memory is kept for the next batch. Larger memory is allocated per batch:
// otherwise it would lie idle.
const keepNewest = 1 << 16

// close frees the appenders and leaves the scratch clean.
func (b *batch) close() {
	for _, w := range b.days {
		w.TableWriter.Close()
	}
	for i := range b.newest {
		b.places[b.newest[i].id] = 0
	}
	b.expect = len(b.newest)
	if b.newest = b.newest[:0]; cap(b.newest) > keepNewest {
		b.newest = nil
	}
	b.points = nil
}

// publish makes the committed batch visible to readers.
func (b *batch) publish(e *store.Entry) {
	s := b.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range b.paths {
		s.cat.Add(p)
	}
	for i := range b.newest {
		n := &b.newest[i]
		if n.block > 0 {
			block, at := b.blocks[n.block-1], int(n.index)
			s.cat.See(n.id, sample.Row{Time: n.time, Value: block.Value(at), Quality: block.Quality[at]})
		}
		if n.text {
			s.cat.Last.Word(n.id)
		}
	}
	days := maps.Clone(s.days)
	for key, w := range b.days {
		d := w.day
		d.Stored += w.added
		s.saved.Note(w.added)
		d.Texts = w.Texts()
		days[key] = &d
	}
	s.days = days
	s.ledger.Apply(e)
}

// maxBooks is for how many days words are cached.
const maxBooks = 8

// wordsOf returns the cached words of the day, to be filled. The caller holds write.
func (c *scratch) wordsOf(d *day.Day) sample.Words {
	if len(c.words) > maxBooks {
		clear(c.words)
	}
	w := c.words[d.Key]
	switch {
	case w == nil:
		w = make(sample.Words)
		c.words[d.Key] = w
	case len(w) >= sample.MaxWords:
		clear(w)
	}
	return w
}
