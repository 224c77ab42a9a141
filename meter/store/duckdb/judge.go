package duckdb

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/duckdb/around"
	"voltbus/meter/store/duckdb/spill"
	"voltbus/meter/store/duckdb/table"
	"voltbus/store/duckdb/engine"
)

// Judge implements store.Judged. What waits is taken out of the way of what comes: the open table becomes the batch, whose
// channels are read in blocks, judged, and written slice by slice while readings are taken in. A batch that was begun
// before, by a call or a process that ended early, goes on where it stood.
func (s *Store) Judge(ctx context.Context, d store.Day, judge func(*store.ChannelDay) error) (store.Judgement, error) {
	const op = opJudge
	s.judging.Lock()
	defer s.judging.Unlock()
	var out store.Judgement
	for {
		begun := false
		if is := s.dayOf(d); is != nil {
			begun = is.Taken > 0 || is.Done > 0
		}
		more, err := judgeBatch(ctx, s, d, judge, &out)
		if err == nil && more {
			err = keepCopy(ctx, s)
		}
		if err != nil {
			return out, failed(op, d.String(), err)
		}
		if !more || !begun {
			return out, nil
		}
	}
}

const opJudge = "metering.Judge"

// judgeBatch carries out one batch, and returns whether there was one.
func judgeBatch(ctx context.Context, s *Store, d store.Day, judge func(*store.ChannelDay) error, out *store.Judgement) (bool, error) {
	c, give, err := s.reader(ctx, opJudge)
	if err != nil {
		return false, err
	}
	give = sync.OnceFunc(give)
	defer give()
	if err := c.Exec(ctx, "ROLLBACK"); err != nil { // it reads what is committed meanwhile
		return false, err
	}
	j := &judging{ctx: ctx, s: s, c: c, judge: judge, day: d, out: out, ends: map[time.Duration][]int64{}}
	if err := j.begin(opJudge); err != nil || !j.needed {
		return false, err
	}
	if err := j.run(ctx); err != nil {
		return true, err
	}
	give()
	return true, j.finish(opJudge)
}

// judging is one batch of a day.
type judging struct {
	ctx   context.Context //nolint:containedctx // it lives as long as the call
	s     *Store
	c     *engine.Conn
	judge func(*store.ChannelDay) error
	day   store.Day
	out   *store.Judgement

	needed   bool
	is       day    // as it was when the batch began
	channels uint32 // that there were
	redo     []uint32
	ends     map[time.Duration][]int64
	due      []uint32    // channels that are judged, ascending
	parts    *spill.File // the rows of the batch by blocks; nil if its table is read for each
	near     around.Nearby
	sources  []source // as far as they were needed
	chosen   bool     // whether is.Delayed was chosen
}

// begin makes the open table the batch.
func (j *judging) begin(op string) error {
	if err := j.readRedo(); err != nil {
		return err
	}
	s := j.s
	if err := s.begin(j.ctx, op); err != nil {
		return err
	}
	defer s.write.Unlock()
	if is := s.dayOf(j.day); is != nil {
		j.is = *is
	}
	j.is.Key = j.day
	_, n := s.dir.Len()
	j.channels = uint32(n)
	d := &j.is
	if d.Taken == 0 && d.Done == 0 && d.Judged && d.Open == 0 && d.Bound == j.channels && len(j.redo) == 0 {
		return nil
	}
	j.needed = true
	if d.Taken > 0 || d.Done > 0 {
		return nil
	}
	return s.edit(j.ctx, op, func(x *change) error {
		if d.Open > 0 {
			d.Taken, d.TakenWaiting, d.Open, d.Waiting = d.Open, d.Waiting, 0, 0
			d.Generation++
		}
		x.days[j.day] = &openDay{day: *d}
		for _, statement := range []string{
			"CREATE TABLE IF NOT EXISTS " + d.SealedTable() + table.SealedColumns,
			"CREATE TABLE IF NOT EXISTS " + d.ExtraTable() + table.VersionColumns,
			"CREATE TABLE IF NOT EXISTS " + d.TotalTable() + table.TotalColumns,
		} {
			if err := x.c.Exec(j.ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

// readRedo lists the channels that depend on other days which changed.
func (j *judging) readRedo() error {
	return j.c.Query(j.ctx, "SELECT DISTINCT channel FROM redo WHERE day = $1", func(k *engine.Chunk) error {
		j.redo = append(j.redo, engine.Numbers[uint32](k, 0)...)
		return nil
	}, int64(j.day))
}

// run judges all channels that are due: while a slice is written, the next one is judged.
func (j *judging) run(ctx context.Context) error {
	if err := j.findDue(); err != nil {
		return err
	}
	blocks := j.cut()
	err := j.divide(blocks)
	if j.parts != nil {
		defer j.parts.Close()
	}
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	slices := make(chan *slice, 1)
	group.Go(func() error {
		defer close(slices)
		for i, list := range blocks {
			if err := j.block(ctx, j.newBlock(i, list), slices); err != nil {
				return err
			}
		}
		return nil
	})
	group.Go(func() error {
		for p := range slices {
			if err := j.write(ctx, p); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

// findDue lists the channels that have rows in the batch, are expected and were never judged, or depend on what changed.
func (j *judging) findDue() error {
	due := make([]bool, j.channels)
	bound := j.is.Bound
	if !j.is.Judged {
		bound = 0
	}
	j.s.dir.Expected(j.day, 0, func(_, channel uint32, _ *meter.Channel) bool {
		if channel >= bound && channel < j.channels {
			due[channel] = true
		}
		return true
	})
	for _, channel := range j.redo {
		due[channel] = true
	}
	if j.is.Taken > 0 {
		err := j.c.Query(j.ctx, "SELECT channel FROM "+j.is.BatchTable(), func(k *engine.Chunk) error {
			for _, channel := range engine.Numbers[uint32](k, 0) {
				due[channel] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := j.ofRegisters(due); err != nil {
			return err
		}
	}
	for channel := j.is.Done; channel < j.channels; channel++ {
		if due[channel] {
			j.due = append(j.due, channel)
		}
	}
	return nil
}

// ofRegisters adds the load profiles of the registers that have rows in the batch: their sums are checked anew.
func (j *judging) ofRegisters(due []bool) error {
	var list []uint32
	for channel, is := range due {
		if !is {
			continue
		}
		if _, c := j.s.dir.Key(uint32(channel)); c.Interval == 0 {
			list = j.s.dir.Profiles(list, uint32(channel))
		}
	}
	for _, channel := range list {
		due[channel] = true
	}
	return nil
}

// endsOf returns the ends of the day's intervals of a length; nil for a register.
func (j *judging) endsOf(length time.Duration) []int64 {
	if length == 0 {
		return nil
	}
	ends, ok := j.ends[length]
	if !ok {
		ends = j.s.calendar.Ends(nil, j.day, length)
		j.ends[length] = ends
	}
	return ends
}

// block reads a block, judges its channels and hands them on in slices.
func (j *judging) block(ctx context.Context, b *block, slices chan<- *slice) error {
	if err := j.read(b); err != nil {
		return err
	}
	f := b.finder()
	near := &around.Store{Ctx: j.ctx, Conn: j.c, Calendar: j.s.calendar, Dir: j.s.dir, Day: j.day, DayOf: j.s.dayOf, Known: j.s.known}
	if err := j.near.Load(near, &around.Block{
		Channels: b.list, Models: b.model, Values: func(i int) []float64 { return b.value[b.first[i]:b.first[i+1]] }, Index: f.index, Divided: j.parts != nil, Batch: b.registers(j),
	}); err != nil {
		return err
	}
	j.chooseDelay(b)
	of := &store.ChannelDay{Day: j.day}
	p := j.newSlice(b.list[0])
	for i, channel := range b.list {
		if err := p.judge(of, b, i, channel); err != nil {
			return err
		}
		last := i+1 == len(b.list)
		if p.cells < j.s.options.Slice && !last {
			continue
		}
		p.until = channel + 1
		p.rows = append(b.rowsOf(p.until), p.rows...)
		select {
		case slices <- p:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !last {
			p = j.newSlice(p.until)
		}
	}
	return nil
}

// judgeOne has one channel judged.
func (j *judging) judgeOne(of *store.ChannelDay) error {
	if err := j.judge(of); err != nil {
		return fault.E("metering.Judge", fault.KindOf(err), of.Key.Meter, err)
	}
	return j.near.Err()
}

// finish ends the batch: its table goes when nobody reads it any more.
func (j *judging) finish(op string) error {
	s := j.s
	if err := s.begin(j.ctx, op); err != nil {
		return err
	}
	defer s.write.Unlock()
	gone := ""
	err := s.edit(j.ctx, op, func(x *change) error {
		d := *s.dayOf(j.day)
		if d.Taken > 0 {
			gone = d.BatchTable()
		}
		d.Taken, d.TakenWaiting, d.Done, d.Judged, d.Bound = 0, 0, 0, true, j.channels
		x.days[j.day] = &openDay{day: d}
		if j.is.Done > 0 { // it began in the midst: the channels before were not judged anew
			return nil
		}
		return x.c.Exec(j.ctx, "DELETE FROM redo WHERE day = $1", int64(j.day))
	})
	if err != nil {
		return err
	}
	if j.is.Done == 0 {
		s.mu.Lock()
		delete(s.redo, j.day)
		s.mu.Unlock()
	}
	if gone != "" {
		s.garbage = append(s.garbage, gone)
	}
	sweep(j.ctx, s)
	return nil
}

// sweep drops the tables of batches that were judged, if nobody reads just now; else the next call does. The caller holds write.
func sweep(ctx context.Context, s *Store) {
	if len(s.garbage) == 0 || !s.busy.TryLock() {
		return
	}
	defer s.busy.Unlock()
	for len(s.garbage) > 0 {
		if err := s.writer.Exec(ctx, "DROP TABLE IF EXISTS "+s.garbage[0]); err != nil {
			return // it is tried again
		}
		s.garbage = s.garbage[1:]
	}
}

// findGarbage lists tables of batches that nothing refers to.
func findGarbage(ctx context.Context, s *Store, c *engine.Conn) (err error) {
	s.garbage, err = table.Unused(ctx, c, s.days)
	return err
}
