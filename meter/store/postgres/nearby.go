package postgres

import (
	"cmp"
	"math"
	"slices"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/postgres/binary"
	"voltbus/meter/store/postgres/cells"
	"voltbus/meter/store/postgres/table"
)

// nearby is what channels of a block are judged by beside their own readings: the days around, the register, and what was
// usual. It is read for a whole block at a time.
type nearby struct {
	j      *judging
	b      *block
	err    error
	before [][]float64 // of each channel of the block, as many as Around says
	after  [][]float64
	usual  []float64
	high   []float64
	past   map[store.Day]*pastDay
	long   []uint32 // channels with a gap that a straight line cannot fill
	steps  []store.Advance
}

// pastDay is what counts of another day of the channels with long gaps.
type pastDay struct {
	values map[uint32][]float64
	all    bool // those of long are there
}

func unknown(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

// load reads what stands around the channels of a block.
func (n *nearby) load(j *judging, b *block) error {
	count := len(b.channels)
	*n = nearby{j: j, b: b, past: map[store.Day]*pastDay{}, before: make([][]float64, count), after: make([][]float64, count), usual: unknown(count), high: unknown(count)}
	least, most := math.MaxInt32, 0
	for i, h := range b.channels {
		if h == nil || h.Model.Interval == 0 {
			continue
		}
		k := store.Around(h.Model.Interval)
		n.before[i], n.after[i] = unknown(k), unknown(k)
		least, most = min(least, j.s.calendar.Count(j.day-1, h.Model.Interval)-k), max(most, k)
		if lacks(h.Value, k) {
			n.long = append(n.long, h.Channel)
		}
	}
	if err := n.dayBefore(max(least, 0), most); err != nil {
		return err
	}
	if err := n.dayAfter(most); err != nil {
		return err
	}
	for _, reads := range b.reads {
		slices.SortStableFunc(reads, func(a, b store.Read) int { return cmp.Compare(a.At, b.At) })
	}
	return n.totals()
}

// lacks reports whether more than so many values in a row are missing.
func lacks(values []float64, most int) bool {
	run := 0
	for _, v := range values {
		if !math.IsNaN(v) {
			run = 0
		} else if run++; run > most {
			return true
		}
	}
	return false
}

// window calls f with the versions of a day of the channels in a span, those of an interval the oldest first. Of the
// intervals in rows that were judged it looks at those from a place to another.
func (n *nearby) window(d store.Day, of span, from, to int, f func(v *table.Version, of *source)) error {
	j := n.j
	visit := func(v *table.Version) {
		of, err := j.sourceOf(v.Source)
		if err != nil {
			n.err = err
			return
		}
		f(v, of)
	}
	row := &table.Intervals{}
	err := scan(j.ctx, j.c, `SELECT day, channel, judged, base, 0, source, verdict, sources[$4:$5], verdicts[$4:$5], NULL::bytea, NULL::int[], more,
		scale, small[$4:$5], medium[$4:$5], large[$4:$5] FROM meter_intervals WHERE day = $1 AND channel BETWEEN $2 AND $3`, func(c [][]byte) error {
		if err := row.Read(c); err != nil {
			return err
		}
		for i, value := range row.Value {
			if !math.IsNaN(value) {
				visit(&table.Version{Channel: row.Channel, Place: int32(from + i), Value: value, Source: row.Verdict[i]})
			}
		}
		for i := range row.More {
			visit(&row.More[i])
		}
		return n.err
	}, int64(d), int64(of.first), int64(of.last), from+1, to+1)
	if err != nil {
		return err
	}
	err = arrivals(j.ctx, j.c, within{[]int32{int32(d)}, of, newest}, func(_ store.Day, v *table.Version) { visit(v) })
	return cmp.Or(err, n.err)
}

// dayBefore reads the end of the day before, and what registers read at its end.
func (n *nearby) dayBefore(least, most int) error {
	j := n.j
	d := j.day - 1
	if !j.exists[d] {
		return nil
	}
	bounds := j.s.calendar.Bounds(d)
	midnight := int32(-1 - (bounds.End-bounds.Start)/1000)
	edited := map[[2]uint32]bool{}
	return n.window(d, n.b.around(j.channels), least, math.MaxInt32-1, func(v *table.Version, of *source) {
		if v.Place == midnight {
			if _, c := j.s.dir.Key(v.Channel); c.Interval == 0 {
				n.b.noteRead(v.Channel, bounds.End, v.Value, of.Stage == meter.Edited)
			}
			return
		}
		i, ok := n.index(v.Channel)
		if !ok || v.Place < 0 || most == 0 {
			return
		}
		k := len(n.before[i])
		at := int(v.Place) - (j.s.calendar.Count(d, n.b.channels[i].Model.Interval) - k)
		n.side(n.before[i], at, v, of, edited)
	})
}

// dayAfter reads the begin of the day behind.
func (n *nearby) dayAfter(most int) error {
	d := n.j.day + 1
	if !n.j.exists[d] || most == 0 {
		return nil
	}
	edited := map[[2]uint32]bool{}
	return n.window(d, n.b.of, 0, most-1, func(v *table.Version, of *source) {
		if i, ok := n.index(v.Channel); ok && v.Place >= 0 {
			n.side(n.after[i], int(v.Place), v, of, edited)
		}
	})
}

// index returns the place of a channel with intervals in the block.
func (n *nearby) index(channel uint32) (int, bool) {
	if channel < n.b.of.first || channel > n.b.of.last {
		return 0, false
	}
	i := int(channel - n.b.of.first)
	return i, n.before[i] != nil
}

// side sets a value of a neighbour's day: what was measured and is not doubted, or a person set.
func (n *nearby) side(to []float64, at int, v *table.Version, of *source, edited map[[2]uint32]bool) {
	key := [2]uint32{v.Channel, uint32(v.Place)}
	if at < 0 || at >= len(to) || of.Stage == meter.Estimated || (edited[key] && of.Stage != meter.Edited) {
		return
	}
	if of.Stage == meter.Edited {
		edited[key] = true
	}
	if to[at] = v.Value; store.Doubted(of.Stage, of.Status) {
		to[at] = math.NaN()
	}
}

// totals reads what like days added up to, and the highest intervals of the days before.
func (n *nearby) totals() error {
	j, b := n.j, n.b
	sums := make([]float64, len(b.channels))
	days := make([]int, len(b.channels))
	err := scan(j.ctx, j.c, "SELECT day, bucket, channels, CASE WHEN ($1 - day) % 7 = 0 AND ($1 - day) / 7 <= $4 THEN total END, highest FROM meter_bucket WHERE day BETWEEN $1 - $5::int AND $1 - 1 AND bucket BETWEEN $2 AND $3", func(c [][]byte) error {
		first := uint32(number(c[1])) << table.BucketBits
		channels, err := binary.Ints(nil, c[2])
		if err != nil {
			return err
		}
		total, err := binary.Floats(nil, c[3])
		if err != nil {
			return err
		}
		highest, err := binary.Floats(nil, c[4])
		for k, of := range channels {
			i, ok := n.index(first + uint32(of))
			if !ok {
				continue
			}
			if k < len(total) && !math.IsNaN(total[k]) {
				sums[i], days[i] = sums[i]+total[k], days[i]+1
			}
			if k < len(highest) && !math.IsNaN(highest[k]) && !(highest[k] <= n.high[i]) {
				n.high[i] = highest[k]
			}
		}
		return err
	}, int32(j.day), int64(table.BucketOf(b.of.first)), int64(table.BucketOf(b.of.last)), store.LikeDays, store.PastDays)
	for i := range sums {
		if days[i] > 0 {
			n.usual[i] = sums[i] / float64(days[i])
		}
	}
	return err
}

// fill sets what is known around a channel.
func (n *nearby) fill(c *store.ChannelDay, h *cells.Channel) {
	i := int(h.Channel - n.b.of.first)
	c.Before, c.After, c.UsualSum, c.HighestValue = n.before[i], n.after[i], n.usual[i], n.high[i]
	c.Advances = nil
	if register, model, ok := n.j.s.dir.Register(h.Channel); ok {
		n.steps = c.RegisterAdvances(n.steps[:0], model, n.b.reads[register], n.j.s.calendar.Bounds(n.j.day).Start)
		c.Advances = n.steps
	}
	c.Past = func(d store.Day) []float64 { return n.pastOf(d, h) }
}

// pastOf returns what counts of another day of a channel. The first time it reads those of all channels that will ask.
func (n *nearby) pastOf(d store.Day, h *cells.Channel) []float64 {
	if d >= n.j.day || !n.there(d) {
		return nil
	}
	p := n.past[d]
	if p == nil {
		p = &pastDay{values: map[uint32][]float64{}}
		n.past[d] = p
	}
	if values, ok := p.values[h.Channel]; ok {
		return values
	}
	list := []uint32{h.Channel}
	if _, ok := slices.BinarySearch(n.long, h.Channel); ok && !p.all {
		list, p.all = n.long, true
	}
	if err := n.readPast(d, p, list); err != nil {
		n.err = err
		return nil
	}
	return p.values[h.Channel]
}

// there reports whether a day has readings.
func (n *nearby) there(d store.Day) bool {
	is, ok := n.j.exists[d]
	if !ok && d < n.j.day-store.PastDays {
		days, err := daysBetween(n.j.ctx, n.j.c, d, d)
		if err != nil {
			n.err = err
			return false
		}
		is = len(days) > 0
		n.j.exists[d] = is
	}
	return is
}

func (n *nearby) readPast(d store.Day, p *pastDay, list []uint32) error {
	rank := map[uint32][]uint8{}
	for _, channel := range list {
		count := n.j.s.calendar.Count(d, n.b.channels[channel-n.b.of.first].Model.Interval)
		p.values[channel], rank[channel] = unknown(count), make([]uint8, count)
	}
	return n.window(d, span{list[0], list[len(list)-1]}, 0, math.MaxInt32-1, func(v *table.Version, of *source) {
		values, ok := p.values[v.Channel], rank[v.Channel]
		if ok == nil || v.Place < 0 || int(v.Place) >= len(values) {
			return
		}
		if r := cells.RankOf(of.Stage); r >= ok[v.Place] {
			values[v.Place], ok[v.Place] = v.Value, r
		}
	})
}
