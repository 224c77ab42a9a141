package duckdb

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/store/duckdb/engine"
)

// nearby is what channels of a block are judged by beside their own readings: the days around, the register, and what was
// usual. It is read for a whole block at a time.
type nearby struct {
	j      *judging
	b      *block
	find   *finder
	before []float64 // of each channel, as many as Around says
	after  []float64
	first  []uint32 // the first of each channel in before and after
	usual  []float64
	high   []float64
	reads  map[uint32][]store.Read // of registers
	past   map[store.Day]*pastDay
	long   []uint32 // channels with a gap that a straight line cannot fill
	steps  []store.Advance
}

// pastDay is what counts of another day of the channels with long gaps.
type pastDay struct {
	values map[uint32][]float64
	all    bool // those of long are there
}

// load reads what stands around the channels of a block.
func (n *nearby) load(j *judging, b *block) error {
	n.j, n.b, n.find = j, b, b.finder()
	n.past, n.long = map[store.Day]*pastDay{}, n.long[:0]
	n.first = append(n.first[:0], 0)
	least, most := math.MaxInt32, 0
	for i, c := range b.model {
		k := 0
		if c.Interval > 0 {
			k = store.Around(c.Interval)
			least, most = min(least, j.s.calendar.Count(j.day-1, c.Interval)-k), max(most, k)
		}
		n.first = append(n.first, n.first[i]+uint32(k))
		if lacks(b.value[b.first[i]:b.first[i+1]], k) {
			n.long = append(n.long, b.list[i])
		}
	}
	size := int(n.first[len(b.list)])
	n.before, n.after = unknown(n.before, size), unknown(n.after, size)
	n.usual, n.high = unknown(n.usual, len(b.list)), unknown(n.high, len(b.list))
	if most > 0 {
		if err := n.neighbours(least, most); err != nil {
			return err
		}
	}
	if err := n.totals(); err != nil {
		return err
	}
	return n.registers()
}

// lacks reports whether more than so many values in a row are missing.
func lacks(values []float64, most int) bool {
	run := 0
	for _, v := range values {
		if v == v { //nolint:gocritic // false for NaN only
			run = 0
		} else if run++; run > most {
			return true
		}
	}
	return false
}

// unknown returns a slice of n times NaN.
func unknown(s []float64, n int) []float64 {
	s = slices.Grow(s[:0], n)[:n]
	for i := range s {
		s[i] = math.NaN()
	}
	return s
}

// neighbours reads the end of the day before and the begin of the day behind.
func (n *nearby) neighbours(least, most int) error {
	edited := map[[2]uint32]bool{}
	for side, d := range map[int]*day{-1: n.j.s.dayOf(n.j.day - 1), 1: n.j.s.dayOf(n.j.day + 1)} {
		if d == nil {
			continue
		}
		clear(edited)
		where := fmt.Sprintf("place >= 0 AND place < %d", most)
		if side < 0 {
			where = fmt.Sprintf("place >= %d", max(least, 0))
		}
		err := n.scan(d, among(n.b.list), where, func(v *said) {
			i := n.find.places[v.channel-n.b.list[0]]
			if i == 0 || v.place < 0 {
				return
			}
			i--
			k := int(n.first[i+1] - n.first[i])
			at, to := int(v.place), n.after
			if side < 0 {
				at, to = at-(n.j.s.calendar.Count(d.key, n.b.model[i].Interval)-k), n.before
			}
			key := [2]uint32{i, uint32(v.place)}
			if at < 0 || at >= k || v.of.stage == meter.Estimated || (edited[key] && v.of.stage != meter.Edited) {
				return
			}
			if v.of.stage == meter.Edited {
				edited[key] = true
			}
			if store.Doubted(v.of.stage, v.of.status) {
				v.value = math.NaN()
			}
			to[int(n.first[i])+at] = v.value
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// said is one version of an interval, or of a register's read.
type said struct {
	channel uint32
	place   int32
	value   float64
	of      *source
}

// scan calls each with the versions of a day, the oldest of an interval first.
func (n *nearby) scan(d *day, channels, where string, each func(*said)) error {
	v := &said{}
	sources, verdicts := n.j.s.known()
	if d.sealed > 0 {
		err := n.j.c.Query(n.j.ctx, "SELECT channel, place, value, verdict FROM "+d.sealedTable()+" WHERE "+channels+" AND "+where, func(k *engine.Chunk) error {
			places, values, of := engine.Numbers[int32](k, 1), engine.Numbers[float64](k, 2), engine.Numbers[uint32](k, 3)
			for i, channel := range engine.Numbers[uint32](k, 0) {
				*v = said{channel, places[i], values[i], &sources[verdicts[of[i]].source]}
				each(v)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, from := range d.versionTables() {
		err := n.j.c.Query(n.j.ctx, "SELECT channel, place, value, source FROM "+from.table+" WHERE "+channels+" AND "+where+from.and, func(k *engine.Chunk) error {
			places, values, of := engine.Numbers[int32](k, 1), engine.Numbers[float64](k, 2), engine.Numbers[uint32](k, 3)
			for i, channel := range engine.Numbers[uint32](k, 0) {
				if int(of[i]) >= len(sources) { // it came meanwhile
					sources, verdicts = n.j.s.known()
				}
				*v = said{channel, places[i], values[i], &sources[of[i]]}
				each(v)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// totals reads what like days added up to, and the highest intervals of the days before.
func (n *nearby) totals() error {
	var parts []string
	within := " WHERE " + among(n.b.list)
	for back := 1; back <= store.PastDays; back++ {
		d := n.j.s.dayOf(n.j.day - store.Day(back))
		if d == nil || d.totals == 0 {
			continue
		}
		total := "NULL"
		if back%7 == 0 && back/7 <= store.LikeDays {
			total = "CASE WHEN isnan(total) THEN NULL ELSE total END"
		}
		parts = append(parts, "SELECT channel, CAST("+total+" AS DOUBLE) AS total, CASE WHEN isnan(highest) THEN NULL ELSE highest END AS highest FROM "+d.totalTable()+within)
	}
	if len(parts) == 0 {
		return nil
	}
	statement := "SELECT channel, coalesce(avg(total), 'nan'::DOUBLE), coalesce(max(highest), 'nan'::DOUBLE) FROM (" + strings.Join(parts, " UNION ALL ") + ") GROUP BY channel"
	return n.j.c.Query(n.j.ctx, statement, func(k *engine.Chunk) error {
		usual, high := engine.Numbers[float64](k, 1), engine.Numbers[float64](k, 2)
		for i, channel := range engine.Numbers[uint32](k, 0) {
			if at := n.find.places[channel-n.b.list[0]]; at > 0 {
				n.usual[at-1], n.high[at-1] = usual[i], high[i]
			}
		}
		return nil
	})
}

// registers reads the reads of the day, and the one at its begin.
func (n *nearby) registers() error {
	n.reads = map[uint32][]store.Read{}
	var list []uint32
	for i, channel := range n.b.list {
		if n.b.model[i].Interval == 0 {
			continue
		}
		if register, _, ok := n.j.s.dir.Register(channel); ok {
			list = append(list, register)
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	list = slices.Compact(list)
	edited := map[[2]int64]bool{}
	bounds := n.j.s.calendar.Bounds(n.j.day)
	for _, d := range []*day{n.j.s.dayOf(n.j.day - 1), n.j.s.dayOf(n.j.day)} {
		if d == nil {
			continue
		}
		where := "place < 0"
		if d.key != n.j.day {
			b := n.j.s.calendar.Bounds(d.key)
			where = fmt.Sprintf("place = %d", -1-(b.End-b.Start)/1000)
		}
		err := n.scan(d, among(list), where, func(v *said) {
			if _, ok := slices.BinarySearch(list, v.channel); !ok || v.place >= 0 {
				return
			}
			at := n.j.s.calendar.End(d.key, 0, v.place)
			key := [2]int64{int64(v.channel), at}
			if at < bounds.Start || (edited[key] && v.of.stage != meter.Edited) {
				return
			}
			edited[key] = v.of.stage == meter.Edited
			n.reads[v.channel] = append(n.reads[v.channel], store.Read{At: at, Value: v.value})
		})
		if err != nil {
			return err
		}
	}
	for _, reads := range n.reads {
		slices.SortStableFunc(reads, func(a, b store.Read) int { return cmp.Compare(a.At, b.At) })
	}
	return nil
}

// of fills in what is known around a channel, the one with an index in the block.
func (n *nearby) of(c *store.ChannelDay, i int, channel uint32) {
	from, to := n.first[i], n.first[i+1]
	c.Before, c.After = n.before[from:to:to], n.after[from:to:to]
	c.UsualSum, c.HighestValue = n.usual[i], n.high[i]
	c.Advances = nil
	if register, model, ok := n.j.s.dir.Register(channel); ok {
		n.steps = store.Advances(n.steps[:0], n.reads[register], n.j.s.calendar.Bounds(n.j.day).Start, c.Ends, model, c.Channel)
		c.Advances = n.steps
	}
	c.Past = func(d store.Day) []float64 { return n.pastOf(d, channel, c.Channel) }
}

// pastOf returns what counts of another day of a channel. The first time it reads those of all channels that will ask.
func (n *nearby) pastOf(d store.Day, channel uint32, c *meter.Channel) []float64 {
	is := n.j.s.dayOf(d)
	if is == nil || d >= n.j.day {
		return nil
	}
	p := n.past[d]
	if p == nil {
		p = &pastDay{values: map[uint32][]float64{}}
		n.past[d] = p
	}
	if values, ok := p.values[channel]; ok {
		return values
	}
	list := []uint32{channel}
	if _, ok := slices.BinarySearch(n.long, channel); ok && !p.all {
		list, p.all = n.long, true
	}
	if err := n.readPast(is, p, list); err != nil {
		n.j.pastErr = err
		return nil
	}
	return p.values[channel]
}

func (n *nearby) readPast(d *day, p *pastDay, list []uint32) error {
	rank := map[uint32][]uint8{}
	for _, channel := range list {
		if i := n.find.places[channel-n.b.list[0]]; i > 0 && n.b.model[i-1].Interval > 0 {
			count := n.j.s.calendar.Count(d.key, n.b.model[i-1].Interval)
			p.values[channel], rank[channel] = unknown(nil, count), make([]uint8, count)
		}
	}
	return n.scan(d, among(list), "place >= 0", func(v *said) {
		values, ok := p.values[v.channel], rank[v.channel]
		if ok == nil || int(v.place) >= len(values) {
			return
		}
		r := uint8(0)
		switch v.of.stage {
		case meter.Edited:
			r = 2
		case meter.Estimated, meter.Validated:
			r = 1
		}
		if r >= ok[v.place] {
			values[v.place], ok[v.place] = v.value, r
		}
	})
}
