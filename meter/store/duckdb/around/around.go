// Package around reads the context in which a day is validated: the days around it, register reads, and usual consumption.
package around

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/meter/store/duckdb/table"
	"voltbus/store/duckdb/engine"
)

// Store is what is read.
type Store struct {
	Ctx      context.Context //nolint:containedctx // it lives as long as a day is judged
	Conn     *engine.Conn
	Calendar *store.Calendar
	Dir      *directory.Directory
	Day      store.Day                                // that is judged
	DayOf    func(store.Day) *table.Day               // nil for a day that nothing is known of
	Known    func() ([]table.Source, []table.Verdict) // what numbers stand for
}

// Block is channels that are judged together, ascending, with what was read of the day.
type Block struct {
	Channels []uint32
	Models   []*meter.Channel
	Values   func(i int) []float64
	Index    func(channel uint32) (int, bool)
	Divided  bool      // the batch was read already: its table is not read for registers
	Batch    []Version // then: what it has of them, in the order in which it came
}

// Version is one of a register's read.
type Version struct {
	Channel uint32
	Place   int32
	Value   float64
	Source  uint32
}

// Nearby is what channels of a block are judged by beside their own readings: the days around, the register, and what was
// usual. It is read for a whole block at a time.
type Nearby struct {
	s      *Store
	b      *Block
	err    error
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

// Load reads what stands around the channels of a block.
func (n *Nearby) Load(s *Store, b *Block) error {
	n.s, n.b = s, b
	n.past, n.long = map[store.Day]*pastDay{}, n.long[:0]
	n.first = append(n.first[:0], 0)
	least, most := math.MaxInt32, 0
	for i, c := range b.Models {
		k := 0
		if c.Interval > 0 {
			k = store.Around(c.Interval)
			least, most = min(least, s.Calendar.Count(s.Day-1, c.Interval)-k), max(most, k)
		}
		n.first = append(n.first, n.first[i]+uint32(k))
		if lacks(b.Values(i), k) {
			n.long = append(n.long, b.Channels[i])
		}
	}
	size := int(n.first[len(b.Channels)])
	n.before, n.after = unknown(n.before, size), unknown(n.after, size)
	n.usual, n.high = unknown(n.usual, len(b.Channels)), unknown(n.high, len(b.Channels))
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
func (n *Nearby) neighbours(least, most int) error {
	if d := n.s.DayOf(n.s.Day - 1); d != nil {
		if err := n.neighbour(d, fmt.Sprintf("place >= %d", max(least, 0))); err != nil {
			return err
		}
	}
	if d := n.s.DayOf(n.s.Day + 1); d != nil {
		return n.neighbour(d, fmt.Sprintf("place >= 0 AND place < %d", most))
	}
	return nil
}

func (n *Nearby) neighbour(d *table.Day, where string) error {
	edited := map[[2]int]bool{}
	return n.scan(d, table.Among(n.b.Channels), where, func(v *said) {
		i, ok := n.b.Index(v.channel)
		if !ok || v.place < 0 {
			return
		}
		k := int(n.first[i+1] - n.first[i])
		at, to := int(v.place), n.after
		if d.Key < n.s.Day {
			at, to = at-(n.s.Calendar.Count(d.Key, n.b.Models[i].Interval)-k), n.before
		}
		key := [2]int{i, int(v.place)}
		if at < 0 || at >= k || v.of.Stage == meter.Estimated || (edited[key] && v.of.Stage != meter.Edited) {
			return
		}
		if v.of.Stage == meter.Edited {
			edited[key] = true
		}
		if store.Doubted(v.of.Stage, v.of.Status) {
			v.value = math.NaN()
		}
		to[int(n.first[i])+at] = v.value
	})
}

// said is one version of an interval, or of a register's read.
type said struct {
	channel uint32
	place   int32
	value   float64
	of      *table.Source
}

// scan calls each with the versions of a day, the oldest of an interval first.
func (n *Nearby) scan(d *table.Day, channels, where string, each func(*said)) error {
	if err := n.scanSealed(d, channels+" AND "+where, each); err != nil {
		return err
	}
	tell := n.teller(each)
	for _, from := range d.VersionTables() {
		if n.b.Divided && d.Key == n.s.Day && from.Table == d.BatchTable() {
			for _, v := range n.b.Batch {
				tell(v)
			}
			continue
		}
		err := n.s.Conn.Query(n.s.Ctx, "SELECT channel, place, value, source FROM "+from.Table+" WHERE "+channels+" AND "+where+from.And, func(k *engine.Chunk) error {
			places, values, of := engine.Numbers[int32](k, 1), engine.Numbers[float64](k, 2), engine.Numbers[uint32](k, 3)
			for i, channel := range engine.Numbers[uint32](k, 0) {
				tell(Version{channel, places[i], values[i], of[i]})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (n *Nearby) scanSealed(d *table.Day, where string, each func(*said)) error {
	if d.Sealed == 0 {
		return nil
	}
	v := &said{}
	sources, verdicts := n.s.Known()
	return n.s.Conn.Query(n.s.Ctx, "SELECT channel, place, value, verdict FROM "+d.SealedTable()+" WHERE "+where, func(k *engine.Chunk) error {
		places, values, of := engine.Numbers[int32](k, 1), engine.Numbers[float64](k, 2), engine.Numbers[uint32](k, 3)
		for i, channel := range engine.Numbers[uint32](k, 0) {
			*v = said{channel, places[i], values[i], &sources[verdicts[of[i]].Source]}
			each(v)
		}
		return nil
	})
}

// teller returns what calls each with a version whose source is a number.
func (n *Nearby) teller(each func(*said)) func(Version) {
	v := &said{}
	sources, _ := n.s.Known()
	return func(is Version) {
		if int(is.Source) >= len(sources) { // it came meanwhile
			sources, _ = n.s.Known()
		}
		*v = said{is.Channel, is.Place, is.Value, &sources[is.Source]}
		each(v)
	}
}

// totals reads what like days added up to, and the highest intervals of the days before.
func (n *Nearby) totals() error {
	var parts []string
	within := " WHERE " + table.Among(n.b.Channels)
	for back := 1; back <= store.PastDays; back++ {
		d := n.s.DayOf(n.s.Day - store.Day(back))
		if d == nil || d.Totals == 0 {
			continue
		}
		total := "NULL"
		if back%7 == 0 && back/7 <= store.LikeDays {
			total = "CASE WHEN isnan(total) THEN NULL ELSE total END"
		}
		parts = append(parts, "SELECT channel, CAST("+total+" AS DOUBLE) AS total, CASE WHEN isnan(highest) THEN NULL ELSE highest END AS highest FROM "+d.TotalTable()+within)
	}
	if len(parts) == 0 {
		return nil
	}
	statement := "SELECT channel, coalesce(avg(total), 'nan'::DOUBLE), coalesce(max(highest), 'nan'::DOUBLE) FROM (" + strings.Join(parts, " UNION ALL ") + ") GROUP BY channel"
	return n.s.Conn.Query(n.s.Ctx, statement, func(k *engine.Chunk) error {
		usual, high := engine.Numbers[float64](k, 1), engine.Numbers[float64](k, 2)
		for i, channel := range engine.Numbers[uint32](k, 0) {
			if at, ok := n.b.Index(channel); ok {
				n.usual[at], n.high[at] = usual[i], high[i]
			}
		}
		return nil
	})
}

// registers reads the reads of the day, and the one at its begin.
func (n *Nearby) registers() error {
	n.reads = map[uint32][]store.Read{}
	list := n.behind()
	if len(list) == 0 {
		return nil
	}
	if d := n.s.DayOf(n.s.Day - 1); d != nil {
		b := n.s.Calendar.Bounds(d.Key)
		if err := n.readsOf(d, list, fmt.Sprintf("place = %d", -1-(b.End-b.Start)/1000)); err != nil {
			return err
		}
	}
	if d := n.s.DayOf(n.s.Day); d != nil {
		if err := n.readsOf(d, list, "place < 0"); err != nil {
			return err
		}
	}
	for _, reads := range n.reads {
		slices.SortStableFunc(reads, func(a, b store.Read) int { return cmp.Compare(a.At, b.At) })
	}
	return nil
}

// behind lists the registers behind the load profiles of the block, ascending.
func (n *Nearby) behind() (list []uint32) {
	for i, channel := range n.b.Channels {
		if n.b.Models[i].Interval == 0 {
			continue
		}
		if register, _, ok := n.s.Dir.Register(channel); ok {
			list = append(list, register)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// readsOf adds the reads of registers on a day.
func (n *Nearby) readsOf(d *table.Day, list []uint32, where string) error {
	edited := map[[2]int64]bool{}
	start := n.s.Calendar.Bounds(n.s.Day).Start
	return n.scan(d, table.Among(list), where, func(v *said) {
		if _, ok := slices.BinarySearch(list, v.channel); !ok || v.place >= 0 {
			return
		}
		at := n.s.Calendar.End(d.Key, 0, v.place)
		key := [2]int64{int64(v.channel), at}
		if at < start || (edited[key] && v.of.Stage != meter.Edited) {
			return
		}
		edited[key] = v.of.Stage == meter.Edited
		n.reads[v.channel] = append(n.reads[v.channel], store.Read{At: at, Value: v.value})
	})
}

// Fill sets what is known around a channel, the one with an index in the block.
func (n *Nearby) Fill(c *store.ChannelDay, i int) {
	channel := n.b.Channels[i]
	from, to := n.first[i], n.first[i+1]
	c.Before, c.After = n.before[from:to:to], n.after[from:to:to]
	c.UsualSum, c.HighestValue = n.usual[i], n.high[i]
	c.Advances = nil
	if register, model, ok := n.s.Dir.Register(channel); ok {
		n.steps = c.RegisterAdvances(n.steps[:0], model, n.reads[register], n.s.Calendar.Bounds(n.s.Day).Start)
		c.Advances = n.steps
	}
	c.Past = func(d store.Day) []float64 { return n.pastOf(d, channel) }
}

// pastOf returns what counts of another day of a channel. The first time it reads those of all channels that will ask.
func (n *Nearby) pastOf(d store.Day, channel uint32) []float64 {
	is := n.s.DayOf(d)
	if is == nil || d >= n.s.Day {
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
		n.err = err
		return nil
	}
	return p.values[channel]
}

func (n *Nearby) readPast(d *table.Day, p *pastDay, list []uint32) error {
	rank := map[uint32][]uint8{}
	for _, channel := range list {
		if i, ok := n.b.Index(channel); ok && n.b.Models[i].Interval > 0 {
			count := n.s.Calendar.Count(d.Key, n.b.Models[i].Interval)
			p.values[channel], rank[channel] = unknown(nil, count), make([]uint8, count)
		}
	}
	return n.scan(d, table.Among(list), "place >= 0", func(v *said) {
		values, ok := p.values[v.channel], rank[v.channel]
		if ok == nil || int(v.place) >= len(values) {
			return
		}
		if r := rankOf(v.of.Stage); r >= ok[v.place] {
			values[v.place], ok[v.place] = v.value, r
		}
	})
}

// rankOf orders stages: a version counts instead of those of a lower rank.
func rankOf(s meter.Stage) uint8 {
	switch s {
	case meter.Edited:
		return 2
	case meter.Estimated, meter.Validated:
		return 1
	default:
		return 0
	}
}

// Err returns what went wrong while Past of a ChannelDay was asked.
func (n *Nearby) Err() error { return n.err }
