// Package marks finds in one pass over a day's tables which intervals have a reading.
package marks

import (
	"context"
	"math/bits"
	"time"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/meter/store/duckdb/table"
	"voltbus/store/duckdb/engine"
)

// Marks is one bit for each interval of a day of each channel. Those of one interval stand together for all channels: readings come by
// intervals, so that what is marked at a time fits the processor's cache. It is used by one goroutine at a time.
type Marks struct {
	grids []grid
	grid  []uint8  // of each channel
	index []uint32 // of each channel: its place among those of its grid, plus one; 0 for one that is not expected
	raw   []bool
}

// grid is the intervals of a length.
type grid struct {
	bits     []uint64
	places   int
	channels uint32
	width    uint32 // words of an interval

	counted uint32 // the word whose channels were counted last, plus one
	counts  [64]int
}

// raws returns, by number, which sources are of raw readings as they came.
func raws(sources []table.Source) []bool {
	out := make([]bool, len(sources))
	for i, v := range sources {
		out[i] = v.Stage == meter.Raw && v.Status == 0
	}
	return out
}

// New returns marks for what is expected of a day; sources are those that numbers stand for.
func New(dir *directory.Directory, calendar *store.Calendar, d store.Day, sources []table.Source) *Marks {
	_, channels := dir.Len()
	m := &Marks{grid: make([]uint8, channels), index: make([]uint32, channels), raw: raws(sources)}
	gridOf := map[time.Duration]uint8{} // the divisors of a day are fewer than 256
	last, of := time.Duration(-1), uint8(0)
	dir.Expected(d, 0, func(_, channel uint32, c *meter.Channel) bool {
		if int(channel) >= channels { // one that was registered meanwhile is not asked for
			return true
		}
		if c.Interval != last {
			n, ok := gridOf[c.Interval]
			if !ok {
				n = uint8(len(m.grids))
				gridOf[c.Interval] = n
				m.grids = append(m.grids, grid{places: calendar.Count(d, c.Interval)})
			}
			last, of = c.Interval, n
		}
		g := &m.grids[of]
		g.channels++
		m.grid[channel], m.index[channel] = of, g.channels
		return true
	})
	for i := range m.grids {
		g := &m.grids[i]
		g.width = (g.channels + 63) / 64
		g.bits = make([]uint64, int(g.width)*g.places)
	}
	return m
}

// Read marks what the tables of the day have.
func (m *Marks) Read(ctx context.Context, c *engine.Conn, d *table.Day) error {
	if d.Sealed > 0 {
		if err := c.Query(ctx, "SELECT channel, place FROM "+d.SealedTable(), func(k *engine.Chunk) error {
			places := engine.Numbers[int32](k, 1)
			for i, channel := range engine.Numbers[uint32](k, 0) {
				m.mark(channel, places[i])
			}
			return nil
		}); err != nil {
			return err
		}
	}
	for _, from := range d.VersionTables() {
		if err := c.Query(ctx, "SELECT channel, place, source FROM "+from.Table+" WHERE true"+from.And, func(k *engine.Chunk) error {
			places, sources := engine.Numbers[int32](k, 1), engine.Numbers[uint32](k, 2)
			for i, channel := range engine.Numbers[uint32](k, 0) {
				if int(sources[i]) < len(m.raw) && m.raw[sources[i]] {
					m.mark(channel, places[i])
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

func (m *Marks) mark(channel uint32, place int32) {
	if int(channel) >= len(m.index) || m.index[channel] == 0 || place < 0 {
		return
	}
	if g, at := &m.grids[m.grid[channel]], m.index[channel]-1; int(place) < g.places {
		g.bits[int(place)*int(g.width)+int(at/64)] |= 1 << (at % 64)
	}
}

// Has reports whether an interval of a channel has a raw reading.
func (m *Marks) Has(channel uint32, place int) bool {
	if int(channel) >= len(m.index) || m.index[channel] == 0 {
		return false
	}
	g, at := &m.grids[m.grid[channel]], m.index[channel]-1
	return place < g.places && g.bits[place*int(g.width)+int(at/64)]&(1<<(at%64)) != 0
}

// Count returns how many intervals of a channel have a raw reading. It is fast when the channels come in order.
func (m *Marks) Count(channel uint32) int {
	if int(channel) >= len(m.index) || m.index[channel] == 0 {
		return 0
	}
	g, at := &m.grids[m.grid[channel]], m.index[channel]-1
	if g.counted != at/64+1 {
		g.count(at / 64)
	}
	return g.counts[at%64]
}

// count counts the intervals of the 64 channels of a word.
func (g *grid) count(word uint32) {
	g.counted = word + 1
	full := 0
	clear(g.counts[:])
	for place := range g.places {
		is := g.bits[place*int(g.width)+int(word)]
		by := 1
		if bits.OnesCount64(is) > 32 { // most have it: those that lack it are fewer
			full++
			is, by = ^is, -1
		}
		for ; is != 0; is &= is - 1 {
			g.counts[bits.TrailingZeros64(is)] += by
		}
	}
	for i := range g.counts {
		g.counts[i] += full
	}
}
