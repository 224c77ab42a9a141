package duckdb

import (
	"context"
	"math"
	"slices"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/store/duckdb/engine"
)

// Judge implements store.Judged. It goes through the channels block by block, so that what it holds in memory is
// bounded, and replaces the open table in the same transaction.
func (s *Store) Judge(ctx context.Context, d store.Day, judge func(*store.ChannelDay) error) (store.Judgement, error) {
	const op = "metering.Judge"
	if err := s.begin(ctx, op); err != nil {
		return store.Judgement{}, err
	}
	defer s.write.Unlock()
	j := &judging{ctx: ctx, s: s, c: s.writer, judge: judge, recorded: s.moment(), verdictOf: map[source]uint32{}}
	if is := s.days[d]; is != nil {
		j.before = *is
	}
	j.before.key = d
	j.after = j.before
	_, channels := s.dir.Len()
	j.after.bound, j.after.open, j.after.waiting, j.after.judged = uint32(channels), 0, 0, true
	j.x = &change{s: s, c: s.writer, ctx: ctx, recorded: j.recorded, cursor: s.cursor, strays: s.strays.change(), number: s.number, days: map[store.Day]*openDay{}, sourceOf: map[source]uint32{}}
	j.bounds = s.calendar.Bounds(d)
	if j.before.judged && j.before.open == 0 && j.before.bound == j.after.bound {
		return store.Judgement{}, nil
	}
	defer j.close()
	err := s.writer.Exec(ctx, "BEGIN")
	if err == nil {
		err = j.run()
	}
	if err == nil {
		err = j.commit() //nolint:contextcheck // what is complete is committed, whoever waits
	}
	if err != nil {
		_ = s.writer.Exec(context.WithoutCancel(ctx), "ROLLBACK") // fails only when nothing is open
		return store.Judgement{}, failed(op, d.String(), err)
	}
	return j.out, nil
}

// judging is one call of Judge.
type judging struct {
	ctx      context.Context //nolint:containedctx // it lives as long as the call
	s        *Store
	c        *engine.Conn
	judge    func(*store.ChannelDay) error
	recorded uint32
	bounds   store.Bounds
	before   day
	after    day
	x        *change
	out      store.Judgement

	ends      map[time.Duration][]int64
	sealed    *sealedWriter
	extra     *versionWriter
	verdicts  []verdict
	verdictOf map[source]uint32
	due       []uint32 // channels that are judged, ascending
	chosen    bool     // whether after.delayed was chosen
}

func (j *judging) close() {
	if j.sealed != nil {
		j.sealed.appender.Close()
	}
	if j.extra != nil {
		j.extra.appender.Close()
	}
}

// run judges all channels that are due.
func (j *judging) run() (err error) {
	if !j.before.judged {
		if err := j.c.Exec(j.ctx, "CREATE TABLE IF NOT EXISTS "+j.after.sealedTable()+sealedColumns); err != nil {
			return err
		}
		if j.sealed, err = newSealedWriter(j.c, j.after.sealedTable()); err != nil {
			return err
		}
	}
	if err := j.c.Exec(j.ctx, "CREATE TABLE IF NOT EXISTS "+j.after.extraTable()+versionColumns); err != nil {
		return err
	}
	if j.extra, err = newVersionWriter(j.c, j.after.extraTable()); err != nil {
		return err
	}
	j.ends = map[time.Duration][]int64{}
	if err := j.findDue(); err != nil {
		return err
	}
	for due := j.due; len(due) > 0; {
		b := j.newBlock(due)
		due = due[len(b.list):]
		if err := j.block(b); err != nil {
			return err
		}
	}
	return nil
}

// findDue lists the channels that have rows in the open table, or are expected and were never judged.
func (j *judging) findDue() error {
	_, channels := j.s.dir.Len()
	due := make([]bool, channels)
	bound := j.before.bound
	if !j.before.judged {
		bound = 0
	}
	j.s.dir.Expected(j.before.key, 0, func(_, channel uint32, _ *meter.Channel) bool {
		if channel >= bound {
			due[channel] = true
		}
		return true
	})
	if j.before.open > 0 {
		err := j.c.Query(j.ctx, "SELECT channel FROM "+j.before.openTable(), func(k *engine.Chunk) error {
			for _, channel := range engine.Numbers[uint32](k, 0) {
				due[channel] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for channel, is := range due {
		if is {
			j.due = append(j.due, uint32(channel))
		}
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
		ends = j.s.calendar.Ends(nil, j.before.key, length)
		j.ends[length] = ends
	}
	return ends
}

// block judges the channels of a block and writes their rows.
func (j *judging) block(b *block) error {
	if err := j.read(b); err != nil {
		return err
	}
	j.chooseDelay(b)
	of := &store.ChannelDay{Day: j.before.key}
	for i, channel := range b.list {
		if err := j.channel(of, b, i, channel); err != nil {
			return err
		}
	}
	slices.SortStableFunc(b.rows, func(x, y row) int {
		if x.channel != y.channel {
			return int(int64(x.channel) - int64(y.channel))
		}
		return int(x.place) - int(y.place)
	})
	for _, r := range b.rows {
		if err := j.extra.put(r); err != nil {
			return err
		}
	}
	return nil
}

// channel judges one channel.
func (j *judging) channel(of *store.ChannelDay, b *block, i int, channel uint32) error {
	if b.model[i].Interval == 0 {
		return nil
	}
	of.Key, of.Channel = store.ChannelKey{}, b.model[i]
	of.Key, _ = j.s.dir.Key(channel)
	from, to := b.first[i], b.first[i+1]
	of.Ends, of.Values = j.endsOf(of.Channel.Interval), b.value[from:to:to]
	n := len(of.Ends)
	of.Status, of.Estimates, of.Rules = grown(of.Status, n), grown(of.Estimates, n), grown(of.Rules, n)
	for k := range n {
		of.Estimates[k] = math.NaN()
	}
	of.Again = j.before.judged && channel < j.before.bound
	of.Exception, of.Rule = false, ""
	if err := j.judge(of); err != nil {
		return fault.E("metering.Judge", fault.KindOf(err), of.Key.Meter, err)
	}
	j.out.Channels++
	for place := range n {
		if err := j.interval(of, b, int(from)+place, channel, int32(place)); err != nil {
			return err
		}
	}
	return j.except(of, channel)
}

// grown returns a cleared slice of n.
func grown[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// interval writes what was said of one interval.
func (j *judging) interval(of *store.ChannelDay, b *block, cell int, channel uint32, place int32) error {
	status := of.Status[place]
	if !math.IsNaN(b.value[cell]) {
		said := source{meter.Validated, status, meter.Origin{Rule: of.Rule}}
		if status != 0 {
			said.stage = meter.Raw
			j.out.Doubted++
		} else {
			j.out.Validated++
		}
		if err := j.raw(b, cell, row{channel, place, b.value[cell], b.recorded[cell], b.source[cell]}, said, of.Ends[place]); err != nil {
			return err
		}
	}
	if v := of.Estimates[place]; !math.IsNaN(v) {
		j.out.Estimated++
		n := j.x.source(source{meter.Estimated, status, meter.Origin{Rule: of.Rules[place]}})
		if was, ok := b.estimates[cell]; !ok || was != v || b.state[cell] == fresh || b.state[cell] == disputed {
			b.rows = append(b.rows, row{channel, place, v, j.recorded, n})
		}
	}
	return nil
}

// raw writes a raw reading with what was said of it.
func (j *judging) raw(b *block, cell int, r row, said source, end int64) error {
	if b.state[cell] == fresh && j.sealed != nil {
		return j.sealed.put(r, j.verdict(said), j.delay(end))
	}
	if b.state[cell] == fresh {
		b.rows = append(b.rows, r)
	}
	if n := j.x.source(said); b.state[cell] != settled || b.said[cell] != n+1 {
		b.rows = append(b.rows, row{r.channel, r.place, r.value, j.recorded, n})
	}
	return nil
}

// verdict returns the number of a judgement of now.
func (j *judging) verdict(v source) uint32 {
	n, ok := j.verdictOf[v]
	if !ok {
		n = uint32(len(j.s.verdicts) + len(j.verdicts))
		j.verdicts = append(j.verdicts, verdict{j.recorded, j.x.source(v)})
		j.verdictOf[v] = n
	}
	return n
}

// except replaces the exception of a day of a channel.
func (j *judging) except(of *store.ChannelDay, channel uint32) error {
	if of.Again {
		if err := j.c.Exec(j.ctx, "DELETE FROM exceptions WHERE channel = $1 AND day = $2", channel, int(of.Day)); err != nil {
			return err
		}
	}
	if !of.Exception {
		return nil
	}
	j.x.number++
	j.out.Exceptions++
	e := store.NewException(j.x.number, of, time.Time{})
	return j.c.Exec(j.ctx, "INSERT INTO exceptions VALUES ($1, $2, $3, $4, $5, $6)", e.Number, channel, int(of.Day), e.Status, e.Count, j.recorded)
}

// commit ends the transaction, and makes what it did visible.
func (j *judging) commit() error {
	if err := j.extra.flush(); err != nil {
		return err
	}
	j.after.extra += j.extra.rows
	if j.sealed != nil {
		if err := j.sealed.flush(); err != nil {
			return err
		}
		j.after.sealed += j.sealed.rows
	}
	for i, v := range j.verdicts {
		if err := j.c.Exec(j.ctx, "INSERT INTO verdicts VALUES ($1, $2, $3)", len(j.s.verdicts)+i, v.recorded, v.source); err != nil {
			return err
		}
	}
	if err := j.c.Exec(j.ctx, "DROP TABLE IF EXISTS "+j.before.openTable()); err != nil {
		return err
	}
	j.x.days[j.after.key] = &openDay{day: j.after}
	if err := j.x.save(); err != nil {
		return err
	}
	j.s.tables.Lock()
	defer j.s.tables.Unlock()
	if err := j.c.Exec(context.WithoutCancel(j.ctx), "COMMIT"); err != nil {
		return err
	}
	j.x.publish()
	j.s.mu.Lock()
	defer j.s.mu.Unlock()
	j.s.verdicts = append(j.s.verdicts, j.verdicts...)
	return nil
}
