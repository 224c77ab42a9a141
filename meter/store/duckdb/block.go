package duckdb

import (
	"fmt"
	"math"

	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/meter"
	"voltbus/store/duckdb/engine"
)

// sealedColumns are those of a day's sorted table. Recorded is Unix seconds, or seconds since the end of the interval.
const sealedColumns = "(channel UINTEGER, place INTEGER, value DOUBLE, recorded BIGINT, source UINTEGER, verdict UINTEGER)"

// sealedWriter fills a sorted table.
type sealedWriter struct {
	appender *engine.Appender
	n        int
	rows     uint64

	channel         []uint32
	place           []int32
	value           []float64
	recorded        []int64
	source, verdict []uint32
}

func newSealedWriter(c *engine.Conn, table string) (*sealedWriter, error) {
	a, err := c.Appender(table, duck.TypeUInteger, duck.TypeInteger, duck.TypeDouble, duck.TypeBigInt, duck.TypeUInteger, duck.TypeUInteger)
	if err != nil {
		return nil, err
	}
	w := &sealedWriter{appender: a}
	w.begin()
	return w, nil
}

func (w *sealedWriter) begin() {
	a := w.appender
	w.n = 0
	w.channel, w.place, w.value = engine.Column[uint32](a, 0), engine.Column[int32](a, 1), engine.Column[float64](a, 2)
	w.recorded, w.source, w.verdict = engine.Column[int64](a, 3), engine.Column[uint32](a, 4), engine.Column[uint32](a, 5)
}

// put adds a reading with its verdict. Delay is taken from its moment of recording.
func (w *sealedWriter) put(r row, verdict uint32, delay int64) error {
	n := w.n
	w.channel[n], w.place[n], w.value[n], w.recorded[n] = r.channel, r.place, r.value, int64(r.recorded)-delay
	w.source[n], w.verdict[n] = r.source, verdict
	w.n++
	w.rows++
	if w.n < engine.ChunkRows {
		return nil
	}
	if err := w.appender.Append(w.n); err != nil {
		return err
	}
	w.begin()
	return nil
}

func (w *sealedWriter) flush() error {
	if w.n > 0 {
		if err := w.appender.Append(w.n); err != nil {
			return err
		}
		w.begin()
	}
	return w.appender.Flush()
}

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
	list  []uint32 // channels
	model []*meter.Channel
	first []uint32 // the first cell of each channel, and behind them the number of cells

	value            []float64
	recorded, source []uint32
	state            []state
	said             []uint32 // the source that the cell was judged by, plus one

	estimates map[int]float64 // that are there, by cell
	rows      []row           // for the table of further versions
}

// newBlock takes channels from those that are due, as many as there is memory for.
func (j *judging) newBlock(due []uint32) *block {
	b := &block{estimates: map[int]float64{}}
	cells := 0
	for _, channel := range due {
		_, c := j.s.dir.Key(channel)
		n := len(j.endsOf(c.Interval))
		if cells+n > j.s.options.Cells && len(b.list) > 0 {
			break
		}
		b.list, b.model, b.first = append(b.list, channel), append(b.model, c), append(b.first, uint32(cells))
		cells += n
	}
	b.first = append(b.first, uint32(cells))
	b.value, b.recorded, b.source = make([]float64, cells), make([]uint32, cells), make([]uint32, cells)
	b.state, b.said = make([]state, cells), make([]uint32, cells)
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
	within := fmt.Sprintf(" WHERE channel >= %d AND channel <= %d", b.list[0], b.list[len(b.list)-1])
	if j.before.judged {
		if err := j.readSealed(f, within); err != nil {
			return err
		}
	}
	if j.before.extra > 0 {
		if err := j.readVersions(j.before.extraTable()+within, func(r row) { j.seen(f, r) }); err != nil {
			return err
		}
	}
	if j.before.open == 0 {
		return nil
	}
	return j.readVersions(j.before.openTable()+within, func(r row) { j.arrived(f, r) })
}

func (j *judging) readSealed(f *finder, within string) error {
	b := f.b
	return j.c.Query(j.ctx, "SELECT channel, place, value, verdict FROM "+j.before.sealedTable()+within, func(k *engine.Chunk) error {
		places, values, verdicts := engine.Numbers[int32](k, 1), engine.Numbers[float64](k, 2), engine.Numbers[uint32](k, 3)
		for i, channel := range engine.Numbers[uint32](k, 0) {
			if cell, ok := f.cell(channel, places[i]); ok {
				b.value[cell], b.state[cell], b.said[cell] = values[i], settled, j.s.verdicts[verdicts[i]].source+1
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
			each(row{channel, places[i], values[i], recorded[i], sources[i]})
		}
		return nil
	})
}

// seen notes a version that is in the table of further versions.
func (j *judging) seen(f *finder, r row) {
	b := f.b
	cell, ok := f.cell(r.channel, r.place)
	if !ok || cell < 0 {
		return
	}
	switch of := j.s.sources[r.source]; {
	case of.stage == meter.Estimated:
		b.estimates[cell] = r.value
	case of.stage == meter.Raw && of.status == 0:
		b.value[cell], b.state[cell] = r.value, settled
	case of.stage == meter.Raw || of.stage == meter.Validated:
		b.said[cell] = r.source + 1
	}
}

// arrived takes in a version of the open table.
func (j *judging) arrived(f *finder, r row) {
	b := f.b
	cell, ok := f.cell(r.channel, r.place)
	if !ok {
		return
	}
	of := &j.s.sources[r.source]
	if cell < 0 || of.stage != meter.Raw {
		b.rows = append(b.rows, r)
		return
	}
	switch {
	case b.state[cell] == absent:
		b.value[cell], b.recorded[cell], b.source[cell], b.state[cell] = r.value, r.recorded, r.source, fresh
	case b.value[cell] == r.value: // a repeat
	default:
		if b.state[cell] == fresh {
			b.rows = append(b.rows, row{r.channel, r.place, b.value[cell], b.recorded[cell], b.source[cell]})
		}
		b.rows = append(b.rows, r)
		b.value[cell], b.state[cell] = r.value, disputed
	}
}

// chooseDelay decides how the moments of recording are told, by what of the first block varies less.
func (j *judging) chooseDelay(b *block) {
	if j.chosen || j.sealed == nil {
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
	j.after.delayed = delay.high-delay.low < plain.high-plain.low
}

// delay is what is taken from the moment of recording of a reading.
func (j *judging) delay(end int64) int64 {
	if j.after.delayed {
		return end / 1_000_000
	}
	return 0
}
