package postgres

import (
	"context"
	"math"
	"slices"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/postgres/cells"
	"voltbus/meter/store/postgres/table"
)

// own marks the number of a source that a slice has found, and that is not known to the store yet.
const own = 1 << 31

// slice is consecutive buckets that were judged and are written in one transaction. A version that is new has no moment of
// recording yet.
type slice struct {
	j       *judging
	buckets []uint32
	cells   int
	out     store.Judgement

	rows        []*table.Intervals // to be written
	replaced    []int64            // channels of them that have a row already
	summaries   []*table.Bucket
	versions    int64 // how many more there are
	waiting     int64 // how many fewer wait
	sources     []source
	sourceOf    map[source]uint32
	judged      []int64  // channels
	again       []int64  // of them those that were judged before
	changed     []uint32 // channels with readings that are new
	exceptions  []exception
	uses        []use
	last        source // the newest one that was asked for, and its number
	lastNumber  uint32
	sourcesSeen bool
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

func (j *judging) newSlice() *slice { return &slice{j: j, sourceOf: map[source]uint32{}} }

// source returns the number of a source: that of the store, or one of the slice.
func (p *slice) source(v source) uint32 {
	if p.sourcesSeen && v == p.last {
		return p.lastNumber
	}
	n, ok := p.sourceOf[v]
	if !ok {
		p.j.s.mu.Lock()
		n, ok = p.j.s.sourceOf[v]
		p.j.s.mu.Unlock()
		if !ok {
			n = own | uint32(len(p.sources))
			p.sources = append(p.sources, v)
		}
		p.sourceOf[v] = n
	}
	p.last, p.lastNumber, p.sourcesSeen = v, n, true
	return n
}

// bucket judges the channels of a bucket.
func (p *slice) bucket(of *store.ChannelDay, b *block, number uint32) error {
	p.buckets = append(p.buckets, number)
	w := table.Anew(b.summary[number], number)
	first := number << table.BucketBits
	for channel := first; channel <= min(first+1<<table.BucketBits-1, b.of.last); channel++ {
		h := b.channels[channel-b.of.first]
		switch {
		case h == nil:
			w.Keep(channel)
		case h.Model.Interval == 0:
			p.register(h)
		case h.Changed || h.Consumed > 0 || p.j.forced[channel]:
			total, highest, err := p.judge(of, h)
			if err != nil {
				return err
			}
			w.Set(h.Channel, h.Value, total, highest)
		default:
			w.Keep(channel)
		}
	}
	p.summaries = append(p.summaries, w.Bucket())
	return nil
}

// register takes in what arrived of a channel without intervals.
func (p *slice) register(h *cells.Channel) {
	p.versions -= int64(h.Consumed)
	if len(h.Rows) == 0 {
		return
	}
	p.changed = append(p.changed, h.Channel)
	row := h.Row
	if row == nil {
		row = &table.Intervals{Channel: h.Channel}
	} else {
		p.replaced = append(p.replaced, int64(h.Channel))
	}
	row.More = append(row.More, h.Rows...)
	p.versions += int64(len(h.Rows))
	p.rows = append(p.rows, row)
}

// judge judges one channel, and returns the sum and the highest interval of the day.
func (p *slice) judge(of *store.ChannelDay, h *cells.Channel) (total, highest float64, err error) {
	j := p.j
	if h.Changed {
		p.changed = append(p.changed, h.Channel)
	}
	of.Key, of.Channel = j.s.dir.Key(h.Channel)
	of.Commodity = j.s.dir.Commodity(h.Channel)
	of.Ends, of.Values, of.OffGrid = j.endsOf(of.Channel.Interval), h.Value, h.OffGrid
	n := len(of.Ends)
	of.Status, of.Estimates, of.Rules = grown(of.Status, n), grown(of.Estimates, n), grown(of.Rules, n)
	for k := range n {
		of.Estimates[k] = math.NaN()
	}
	of.Again, of.Exception, of.Rule, of.Uses = h.Row != nil, false, "", of.Uses[:0]
	j.near.fill(of, h)
	if err := j.judgeOne(of); err != nil {
		return 0, 0, err
	}
	p.out.Channels++
	p.cells += n
	p.judged = append(p.judged, int64(h.Channel))
	if of.Again {
		p.again = append(p.again, int64(h.Channel))
	}
	p.store(of, h)
	for _, d := range of.Uses {
		p.uses = append(p.uses, use{h.Channel, d})
	}
	if of.Exception {
		e := store.NewException(0, of, meter.Version{}.Recorded)
		p.exceptions = append(p.exceptions, exception{h.Channel, e.Status, e.Count})
	}
	total, highest = of.Summary()
	return total, highest, nil
}

// grown returns a cleared slice of n.
func grown[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// store makes the row of a channel out of what is stored, what arrived and what was said.
func (p *slice) store(of *store.ChannelDay, h *cells.Channel) {
	p.versions -= int64(h.Consumed)
	p.waiting += int64(h.Consumed)
	row := h.Row
	before := 0
	if row == nil {
		n := len(h.Value)
		row = &table.Intervals{
			Channel: h.Channel, Step: int32(h.Model.Interval.Seconds()),
			Value: unknown(n), Recorded: h.Recorded, Source: h.Source, Verdict: make([]uint32, n),
		}
	} else {
		before = row.Versions()
		row.Step = int32(h.Model.Interval.Seconds())
	}
	further := len(row.More)
	row.More = append(row.More, h.Rows...)
	var said []table.Version
	for i := range h.Value {
		said = p.interval(said, of, h, row, int32(i))
	}
	row.More = append(row.More, said...)
	if h.Row != nil && len(row.More) == further {
		return
	}
	if h.Row != nil {
		p.replaced = append(p.replaced, int64(h.Channel))
	}
	p.rows = append(p.rows, row)
	p.versions += int64(row.Versions() - before)
}

// interval notes what was said of one interval.
func (p *slice) interval(out []table.Version, of *store.ChannelDay, h *cells.Channel, row *table.Intervals, i int32) []table.Version {
	status := of.Status[i]
	if v := h.Value[i]; !math.IsNaN(v) {
		said := source{Stage: meter.Validated, Status: status, Origin: meter.Origin{Rule: of.Rule}}
		if status != 0 {
			said.Stage = meter.Raw
			p.out.Doubted++
		} else {
			p.out.Validated++
		}
		n := p.source(said)
		switch {
		case h.State[i] == cells.Fresh && h.Row == nil:
			row.Value[i], row.Verdict[i] = v, n
		case h.State[i] == cells.Settled && h.Said[i] == n+1:
		default:
			if h.State[i] == cells.Fresh {
				out = append(out, table.Version{Channel: h.Channel, Place: i, Value: v, Recorded: h.Recorded[i], Source: h.Source[i]})
			}
			out = append(out, table.Version{Channel: h.Channel, Place: i, Value: v, Source: n})
		}
	}
	if v := of.Estimates[i]; !math.IsNaN(v) {
		p.out.Estimated++
		if was, ok := h.Estimates[i]; !ok || was != (cells.Estimate{Value: v, Status: status}) {
			out = append(out, table.Version{Channel: h.Channel, Place: i, Value: v, Source: p.source(source{Stage: meter.Estimated, Status: status, Origin: meter.Origin{Rule: of.Rules[i]}})})
		}
	}
	return out
}

// write stores a slice in one transaction.
func (j *judging) write(ctx context.Context, p *slice) error {
	s := j.s
	if err := s.begin(ctx, opJudge); err != nil {
		return err
	}
	defer s.write.Unlock()
	err := s.edit(ctx, opJudge, func(x *change) error {
		w := &sliceWriter{slice: p, x: x, ctx: ctx}
		for _, f := range []func() error{w.takeAway, w.writeRows, w.writeSummaries, w.writeExceptions, w.writeUses, w.writeRedo} {
			if err := f(); err != nil {
				return err
			}
		}
		x.add(j.day, p.versions, -p.waiting)
		return nil
	})
	if err != nil {
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
	x   *change
	ctx context.Context //nolint:containedctx // it lives as long as the call
}

func (w *sliceWriter) exec(statement string, args ...any) error {
	_, err := w.x.s.writer.Conn.Exec(w.ctx, statement, args...)
	return err
}

// bucketList is the buckets in the form of an array.
func (w *sliceWriter) bucketList() []int64 {
	out := make([]int64, len(w.buckets))
	for i, b := range w.buckets {
		out[i] = int64(b)
	}
	return out
}

// takeAway takes what arrived away, which stands in the rows from now on.
func (w *sliceWriter) takeAway() error {
	return w.exec("DELETE FROM meter_arrived WHERE day = $1 AND bucket = ANY($2::int[]) AND number <= $3", int64(w.j.day), w.bucketList(), w.j.upto)
}

func (w *sliceWriter) writeRows() error {
	if len(w.replaced) > 0 {
		if err := w.exec("DELETE FROM meter_intervals WHERE day = $1 AND channel = ANY($2::int[])", int64(w.j.day), w.replaced); err != nil {
			return err
		}
	}
	out := &rows{}
	for _, row := range w.rows {
		if row.Judged == 0 {
			row.Judged = w.x.recorded
		}
		for i := range row.Verdict {
			row.Verdict[i] = w.number(row.Verdict[i])
		}
		for i := range row.More {
			v := &row.More[i]
			if v.Source = w.number(v.Source); v.Recorded == 0 {
				v.Recorded = w.x.recorded
			}
		}
		row.Write(out, int32(w.j.day))
	}
	return w.x.s.copyInto(w.ctx, "meter_intervals", table.IntervalsColumns, out)
}

// number returns the store's number of a source.
func (w *sliceWriter) number(n uint32) uint32 {
	if n&own == 0 {
		return n
	}
	return w.x.source(w.sources[n&^own])
}

func (w *sliceWriter) writeSummaries() error {
	if err := w.exec("DELETE FROM meter_bucket WHERE day = $1 AND bucket = ANY($2::int[])", int64(w.j.day), w.bucketList()); err != nil {
		return err
	}
	out := &rows{}
	for _, b := range w.summaries {
		b.Write(out, int32(w.j.day))
	}
	return w.x.s.copyInto(w.ctx, "meter_bucket", table.BucketColumns, out)
}
