package duckdb

import (
	"cmp"
	"math"
	"slices"

	"voltbus/meter"
	"voltbus/meter/store/duckdb/table"
	"voltbus/store/duckdb/engine"
)

// state is what is known of a cell.
type state uint8

const (
	absent   state = iota
	fresh          // a raw reading that is in no table but the open one
	disputed       // several of them that differ: all are among the rows
	settled        // the newest raw reading was judged before
)

// block is the intervals of consecutive channels that are due, in columns.
type block struct {
	number int      // from 0
	list   []uint32 // channels
	model  []*meter.Channel
	first  []uint32 // the first cell of each channel, and behind them the number of cells

	value            []float64
	recorded, source []uint32
	state            []state
	said             []uint32 // the source that the cell was judged by, plus one
	offGrid          []uint32 // of each channel: readings that end where no interval does
	changed          []bool   // of each channel: there are readings that are new

	estimates map[int]float64 // that are there, by cell
	rows      []row           // of the batch, for the table of further versions
	sorted    bool
}

// newBlock returns the block with a number, of some of the channels that are due.
func (j *judging) newBlock(number int, list []uint32) *block {
	b := &block{number: number, list: list, estimates: map[int]float64{}}
	cells := 0
	for _, channel := range list {
		_, c := j.s.dir.Key(channel)
		b.model, b.first = append(b.model, c), append(b.first, uint32(cells))
		cells += len(j.endsOf(c.Interval))
	}
	b.first = append(b.first, uint32(cells))
	b.value, b.recorded, b.source = make([]float64, cells), make([]uint32, cells), make([]uint32, cells)
	b.state, b.said = make([]state, cells), make([]uint32, cells)
	b.offGrid, b.changed = make([]uint32, len(b.list)), make([]bool, len(b.list))
	for i := range b.value {
		b.value[i] = math.NaN()
	}
	return b
}

// finder finds the cells of channels, which come in any order but most often ascending.
type finder struct {
	b      *block
	places []uint32 // by channel − list[0]: index in the list, plus one
}

func (b *block) finder() *finder {
	f := &finder{b: b, places: make([]uint32, b.list[len(b.list)-1]-b.list[0]+1)}
	for i, channel := range b.list {
		f.places[channel-b.list[0]] = uint32(i) + 1
	}
	return f
}

// index returns the place of a channel in the block's list; false if it is not there.
func (f *finder) index(channel uint32) (int, bool) {
	at := channel - f.b.list[0]
	if channel < f.b.list[0] || int(at) >= len(f.places) || f.places[at] == 0 {
		return 0, false
	}
	return int(f.places[at]) - 1, true
}

// cell returns the cell of an interval; −1 for a reading at no end of one; false for a channel that is not in the block.
func (f *finder) cell(channel uint32, place int32) (int, bool) {
	i := f.places[channel-f.b.list[0]]
	if i == 0 {
		return 0, false
	}
	if place < 0 || uint32(place) >= f.b.first[i]-f.b.first[i-1] {
		return -1, true
	}
	return int(f.b.first[i-1]) + int(place), true
}

// read gathers the readings of a block: what was judged before, then what is new.
func (j *judging) read(b *block) error {
	f := b.finder()
	within := " WHERE " + table.Among(b.list)
	if j.is.Judged && j.is.Sealed > 0 {
		if err := j.readSealed(f, within); err != nil {
			return err
		}
	}
	if j.is.Extra > 0 {
		if err := j.readVersions(j.is.ExtraTable()+within, func(r row) { j.seen(f, r) }); err != nil {
			return err
		}
	}
	if j.is.Taken == 0 {
		return nil
	}
	if j.parts != nil {
		return j.parts.Read(b.number, func(r row) { j.arrived(f, r) })
	}
	return j.readVersions(j.is.BatchTable()+within, func(r row) { j.arrived(f, r) })
}

func (j *judging) readSealed(f *finder, within string) error {
	b := f.b
	_, verdicts := j.s.known()
	return j.c.Query(j.ctx, "SELECT channel, place, value, verdict FROM "+j.is.SealedTable()+within, func(k *engine.Chunk) error {
		places, values, said := engine.Numbers[int32](k, 1), engine.Numbers[float64](k, 2), engine.Numbers[uint32](k, 3)
		for i, channel := range engine.Numbers[uint32](k, 0) {
			if cell, ok := f.cell(channel, places[i]); ok && cell >= 0 {
				b.value[cell], b.state[cell], b.said[cell] = values[i], settled, verdicts[said[i]].Source+1
			}
		}
		return nil
	})
}

func (j *judging) readVersions(from string, each func(row)) error {
	return j.c.Query(j.ctx, "SELECT channel, place, value, recorded, source FROM "+from, func(k *engine.Chunk) error {
		places, values := engine.Numbers[int32](k, 1), engine.Numbers[float64](k, 2)
		recorded, sources := engine.Numbers[uint32](k, 3), engine.Numbers[uint32](k, 4)
		for i, channel := range engine.Numbers[uint32](k, 0) {
			each(row{Channel: channel, Place: places[i], Value: values[i], Recorded: recorded[i], Source: sources[i]})
		}
		return nil
	})
}

// seen notes a version that is in the table of further versions.
func (j *judging) seen(f *finder, r row) {
	b := f.b
	cell, ok := f.cell(r.Channel, r.Place)
	of := j.sourceOf(r.Source)
	if ok && cell < 0 && of.Stage == meter.Raw && of.Status == 0 {
		b.offGrid[f.places[r.Channel-b.list[0]]-1]++
	}
	if !ok || cell < 0 {
		return
	}
	switch {
	case of.Stage == meter.Estimated:
		b.estimates[cell] = r.Value
	case of.Stage == meter.Raw && of.Status == 0:
		b.value[cell], b.state[cell] = r.Value, settled
	case of.Stage == meter.Raw || of.Stage == meter.Validated:
		b.said[cell] = r.Source + 1
	}
}

// arrived takes in a version of the open table.
func (j *judging) arrived(f *finder, r row) {
	b := f.b
	cell, ok := f.cell(r.Channel, r.Place)
	if !ok {
		return
	}
	at := f.places[r.Channel-b.list[0]] - 1
	raw := j.sourceOf(r.Source).Stage == meter.Raw
	if cell < 0 || !raw {
		b.rows = append(b.rows, r)
		if b.changed[at] = true; raw && cell < 0 {
			b.offGrid[at]++
		}
		return
	}
	switch {
	case b.state[cell] == absent:
		b.changed[at] = true
		b.value[cell], b.recorded[cell], b.source[cell], b.state[cell] = r.Value, r.Recorded, r.Source, fresh
	case b.value[cell] == r.Value: // a repeat
	default:
		b.changed[at] = true
		if b.state[cell] == fresh {
			b.rows = append(b.rows, row{Channel: r.Channel, Place: r.Place, Value: b.value[cell], Recorded: b.recorded[cell], Source: b.source[cell]})
		}
		b.rows = append(b.rows, r)
		b.value[cell], b.state[cell] = r.Value, disputed
	}
}

// chooseDelay decides how the moments of recording are told, by what of the first block varies less.
func (j *judging) chooseDelay(b *block) {
	if j.chosen || j.is.Judged || j.is.Done > 0 {
		return
	}
	j.chosen = true
	type span struct{ low, high int64 }
	plain, delay := span{math.MaxInt64, math.MinInt64}, span{math.MaxInt64, math.MinInt64}
	for i := range b.list {
		ends := j.endsOf(b.model[i].Interval)
		for k, end := range ends {
			if cell := int(b.first[i]) + k; b.state[cell] == fresh {
				at := int64(b.recorded[cell])
				plain = span{min(plain.low, at), max(plain.high, at)}
				at -= end / 1_000_000
				delay = span{min(delay.low, at), max(delay.high, at)}
			}
		}
	}
	j.is.Delayed = delay.high-delay.low < plain.high-plain.low
}

// delay is what is taken from the moment of recording of a reading.
func (j *judging) delay(end int64) int64 {
	if j.is.Delayed {
		return end / 1_000_000
	}
	return 0
}

// sourceOf returns what a number of the batch stands for.
func (j *judging) sourceOf(n uint32) *source {
	if int(n) >= len(j.sources) {
		j.sources, _ = j.s.known()
	}
	return &j.sources[n]
}

// rowsOf takes the rows of the channels before one. It is called with ascending channels.
func (b *block) rowsOf(until uint32) []row {
	if !b.sorted {
		slices.SortStableFunc(b.rows, func(x, y row) int { return cmp.Or(cmp.Compare(x.Channel, y.Channel), cmp.Compare(x.Place, y.Place)) })
		b.sorted = true
	}
	n := 0
	for n < len(b.rows) && b.rows[n].Channel < until {
		n++
	}
	out := b.rows[:n:n]
	b.rows = b.rows[n:]
	return out
}
