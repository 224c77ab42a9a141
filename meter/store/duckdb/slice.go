package duckdb

import (
	"cmp"
	"context"
	"math"
	"slices"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/duckdb/table"
	"voltbus/store/duckdb/engine"
)

// slice is consecutive channels that were judged and are written in one transaction. Sources are numbers of its own until
// then, and a version that is new has no moment of recording yet.
type slice struct {
	j           *judging
	from, until uint32 // the channels
	cells       int
	out         store.Judgement

	sealed     table.Sealed
	rows       []row // for the table of further versions, as they were in the batch
	fresh      []row // new ones
	sources    []source
	sourceOf   map[source]uint32
	channels   []uint32 // that were judged
	again      []uint32 // of them those that were judged before
	changed    []uint32 // channels with readings that are new
	exceptions []exception
	totals     []table.Total
	uses       []use
	last       source // the newest one that was asked for, and its number
	lastNumber uint32
}

type exception struct {
	channel, status uint32
	count           int
}

// use says that what was estimated of a channel depends on another day.
type use struct {
	channel uint32
	day     store.Day
}

func (j *judging) newSlice(from uint32) *slice {
	p := &slice{j: j, from: from, sourceOf: map[source]uint32{}}
	if !j.is.Judged {
		p.sealed = table.NewSealed(j.s.options.Slice + j.s.options.Slice/8)
	}
	return p
}

func (p *slice) source(v source) uint32 {
	if v == p.last && len(p.sources) > 0 {
		return p.lastNumber
	}
	n, ok := p.sourceOf[v]
	if !ok {
		n = uint32(len(p.sources))
		p.sources = append(p.sources, v)
		p.sourceOf[v] = n
	}
	p.last, p.lastNumber = v, n
	return n
}

// judge judges one channel.
func (p *slice) judge(of *store.ChannelDay, b *block, i int, channel uint32) error {
	j := p.j
	if b.changed[i] {
		p.changed = append(p.changed, channel)
	}
	if b.model[i].Interval == 0 {
		return nil
	}
	of.Channel = b.model[i]
	of.Key, _ = j.s.dir.Key(channel)
	of.Commodity = j.s.dir.Commodity(channel)
	from, to := b.first[i], b.first[i+1]
	of.Ends, of.Values, of.OffGrid = j.endsOf(of.Channel.Interval), b.value[from:to:to], int(b.offGrid[i])
	n := len(of.Ends)
	of.Status, of.Estimates, of.Rules = grown(of.Status, n), grown(of.Estimates, n), grown(of.Rules, n)
	for k := range n {
		of.Estimates[k] = math.NaN()
	}
	of.Again = j.is.Judged && channel < j.is.Bound
	of.Exception, of.Rule, of.Uses = false, "", of.Uses[:0]
	j.near.Fill(of, i)
	if err := j.judgeOne(of); err != nil {
		return err
	}
	p.out.Channels++
	p.cells += n
	p.channels = append(p.channels, channel)
	if of.Again {
		p.again = append(p.again, channel)
	}
	for place := range n {
		if p.out.Channels%2 == 0 { // every other channel backward: places are then next to each other in the column, which takes half the bytes
			place = n - 1 - place
		}
		p.interval(of, b, int(from)+place, channel, int32(place))
	}
	sum, highest := of.Summary()
	p.totals = append(p.totals, table.Total{Channel: channel, Sum: sum, Highest: highest})
	for _, d := range of.Uses {
		p.uses = append(p.uses, use{channel, d})
	}
	if of.Exception {
		e := store.NewException(0, of, meter.Version{}.Recorded)
		p.exceptions = append(p.exceptions, exception{channel, e.Status, e.Count})
	}
	return nil
}

// grown returns a cleared slice of n.
func grown[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// interval notes what was said of one interval.
func (p *slice) interval(of *store.ChannelDay, b *block, cell int, channel uint32, place int32) {
	status := of.Status[place]
	if v := b.value[cell]; !math.IsNaN(v) {
		said := source{Stage: meter.Validated, Status: status, Origin: meter.Origin{Rule: of.Rule}}
		if status != 0 {
			said.Stage = meter.Raw
			p.out.Doubted++
		} else {
			p.out.Validated++
		}
		p.raw(b, cell, row{Channel: channel, Place: place, Value: v, Recorded: b.recorded[cell], Source: b.source[cell]}, said, of.Ends[place])
	}
	if v := of.Estimates[place]; !math.IsNaN(v) {
		p.out.Estimated++
		if was, ok := b.estimates[cell]; !ok || was != v || b.state[cell] == fresh || b.state[cell] == disputed {
			p.fresh = append(p.fresh, row{Channel: channel, Place: place, Value: v, Source: p.source(source{Stage: meter.Estimated, Status: status, Origin: meter.Origin{Rule: of.Rules[place]}})})
		}
	}
}

// raw notes a raw reading with what was said of it.
func (p *slice) raw(b *block, cell int, r row, said source, end int64) {
	if b.state[cell] == fresh && !p.j.is.Judged {
		t := &p.sealed
		t.Channel, t.Place, t.Value = append(t.Channel, r.Channel), append(t.Place, r.Place), append(t.Value, r.Value)
		t.Recorded, t.Source = append(t.Recorded, int64(r.Recorded)-p.j.delay(end)), append(t.Source, r.Source)
		t.Verdict = append(t.Verdict, p.source(said))
		return
	}
	if b.state[cell] == fresh {
		p.rows = append(p.rows, r)
	}
	if b.state[cell] == settled {
		if n, ok := p.j.s.numberOf(said); ok && b.said[cell] == n+1 {
			return
		}
	}
	p.fresh = append(p.fresh, row{Channel: r.Channel, Place: r.Place, Value: r.Value, Source: p.source(said)})
}

// write stores a slice in one transaction, and makes it visible.
func (j *judging) write(ctx context.Context, p *slice) error {
	s := j.s
	if err := s.begin(ctx, "metering.Judge"); err != nil {
		return err
	}
	defer s.write.Unlock()
	w := &sliceWriter{slice: p, c: s.writer, ctx: ctx, redo: map[store.Day]uint64{}}
	w.x = &change{
		s: s, c: s.writer, ctx: ctx, recorded: moment(s), cursor: s.cursor, strays: s.strays.Change(), number: s.number,
		days: map[store.Day]*openDay{}, sourceOf: map[source]uint32{},
	}
	defer w.x.close()
	if err := s.writer.Exec(ctx, "BEGIN"); err != nil {
		return err
	}
	err := w.all()
	if err == nil {
		err = w.commit() //nolint:contextcheck // what is complete is committed, whoever waits
	}
	if err != nil {
		_ = s.writer.Exec(context.WithoutCancel(ctx), "ROLLBACK") // fails only when nothing is open
		return err
	}
	j.out.Channels += p.out.Channels
	j.out.Validated += p.out.Validated
	j.out.Doubted += p.out.Doubted
	j.out.Estimated += p.out.Estimated
	j.out.Exceptions += p.out.Exceptions
	return nil
}

// sliceWriter is the transaction of a slice.
type sliceWriter struct {
	*slice
	c        *engine.Conn
	ctx      context.Context //nolint:containedctx // it lives as long as the call
	x        *change
	verdicts []verdict
	redo     map[store.Day]uint64
}

func (w *sliceWriter) all() error {
	for _, f := range []func() error{w.writeSealed, w.writeExtra, w.writeTotals, w.writeExceptions, w.writeUses, w.writeRedo, w.writeDay, w.x.save} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

func (w *sliceWriter) writeSealed() error {
	t := &w.sealed
	if len(t.Channel) == 0 {
		return nil
	}
	verdictOf := make([]uint32, len(w.sources))
	for i := range verdictOf {
		verdictOf[i] = math.MaxUint32
	}
	for i, own := range t.Verdict {
		if verdictOf[own] == math.MaxUint32 {
			n, err := w.verdict(w.sources[own])
			if err != nil {
				return err
			}
			verdictOf[own] = n
		}
		t.Verdict[i] = verdictOf[own]
	}
	return t.Write(w.c, w.j.is.SealedTable())
}

// verdict returns the number of a judgement of now.
func (w *sliceWriter) verdict(v source) (uint32, error) {
	is := verdict{Recorded: w.x.recorded, Source: w.x.source(v)}
	if n, ok := w.j.s.verdictOf[is]; ok {
		return n, nil
	}
	n := uint32(len(w.j.s.verdicts) + len(w.verdicts))
	w.verdicts = append(w.verdicts, is)
	return n, w.c.Exec(w.ctx, "INSERT INTO verdicts VALUES ($1, $2, $3)", n, is.Recorded, is.Source)
}

// writeExtra writes further versions: those of the batch, and behind them new ones.
func (w *sliceWriter) writeExtra() error {
	for i := range w.fresh {
		r := &w.fresh[i]
		r.Recorded, r.Source = w.x.recorded, w.x.source(w.sources[r.Source])
	}
	w.rows = append(w.rows, w.fresh...)
	if len(w.rows) == 0 {
		return nil
	}
	slices.SortStableFunc(w.rows, func(x, y row) int { return cmp.Or(cmp.Compare(x.Channel, y.Channel), cmp.Compare(x.Place, y.Place)) })
	out, err := table.NewWriter(w.c, w.j.is.ExtraTable())
	if err != nil {
		return err
	}
	defer out.Close()
	for _, r := range w.rows {
		if err := out.Put(r); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (w *sliceWriter) writeTotals() error {
	sums := w.j.is.TotalTable()
	if len(w.again) > 0 {
		if err := w.c.Exec(w.ctx, "DELETE FROM "+sums+" WHERE "+table.Listed(w.again)); err != nil {
			return err
		}
	}
	return table.WriteTotals(w.c, sums, w.totals)
}

// writeDay notes how far the batch is.
func (w *sliceWriter) writeDay() error {
	d := *w.j.s.dayOf(w.j.day)
	d.Done = w.until
	d.Sealed += uint64(len(w.sealed.Channel))
	d.Extra += uint64(len(w.rows))
	d.Totals += uint64(len(w.totals))
	d.Delayed = w.j.is.Delayed
	w.x.days[w.j.day] = &openDay{day: d}
	return nil
}

// commit ends the transaction, and makes what it did visible.
func (w *sliceWriter) commit() error {
	s := w.j.s
	s.tables.Lock()
	defer s.tables.Unlock()
	if err := w.c.Exec(context.WithoutCancel(w.ctx), "COMMIT"); err != nil {
		return err
	}
	w.x.publish()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range w.verdicts {
		s.verdictOf[v] = uint32(len(s.verdicts))
		s.verdicts = append(s.verdicts, v)
	}
	for d, n := range w.redo {
		s.redo[d] += n
	}
	return nil
}
