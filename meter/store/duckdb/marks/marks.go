// Package marks finds in one pass over a day's tables which intervals have a reading.
package marks

import (
	"context"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/meter/store/duckdb/table"
	"voltbus/store/duckdb/engine"
)

// Marks is one bit for each interval of a day of each channel. Those of one interval stand together for all channels: readings come by
// intervals, so that what is marked at a time fits the processor's cache. It is used by one goroutine at a time.
type Marks struct {
	grids  []grid
	groups groups
	raw    []bool
}

// groups say where the marks of channels are, by 64 channels with consecutive numbers. A group has the channels of one grid; those of
// another one have a group behind all others.
type groups struct {
	mask  []uint64 // the channels that are in it
	first []uint32 // the index of the first of them in its grid; the others follow
	grid  []uint8
	next  []uint32 // the group of the same channels with another grid; 0 if there is none
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

// add adds a channel behind all others of its grid.
func (g *groups) add(channel uint32, grid uint8, index uint32) {
	at := channel / 64
	for g.mask[at] != 0 && g.grid[at] != grid {
		if g.next[at] == 0 {
			g.next[at] = uint32(len(g.mask))
			g.mask, g.first, g.grid, g.next = append(g.mask, 0), append(g.first, 0), append(g.grid, 0), append(g.next, 0)
		}
		at = g.next[at]
	}
	if g.mask[at] == 0 {
		g.first[at], g.grid[at] = index, grid
	}
	g.mask[at] |= 1 << (channel % 64)
}

// find returns the grid of a channel and its index in it; false for one that is not expected.
func (g *groups) find(channel uint32) (grid uint8, index uint32, ok bool) {
	at, bit := channel/64, uint64(1)<<(channel%64)
	if int(at) >= len(g.mask) {
		return 0, 0, false
	}
	for g.mask[at]&bit == 0 {
		if at = g.next[at]; at == 0 {
			return 0, 0, false
		}
	}
	return g.grid[at], g.first[at] + uint32(bits.OnesCount64(g.mask[at]&(bit-1))), true
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
	n := (channels + 63) / 64
	m := &Marks{groups: groups{make([]uint64, n), make([]uint32, n), make([]uint8, n), make([]uint32, n)}, raw: raws(sources)}
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
		m.groups.add(channel, of, g.channels)
		g.channels++
		return true
	})
	for i := range m.grids {
		g := &m.grids[i]
		g.width = (g.channels + 63) / 64
		g.bits = make([]uint64, int(g.width)*g.places)
	}
	return m
}

// large is how many rows a day has that is read in two halves at a time.
const large = 4 << 20

// Read marks what the tables of the day have. beside reads a half of them at the same time; what it sees may be newer.
func (m *Marks) Read(ctx context.Context, c, beside *engine.Conn, d *table.Day) error {
	if d.Rows() < large {
		return m.read(ctx, c, d, func(uint64) string { return "true" })
	}
	other := &Marks{groups: m.groups, raw: m.raw, grids: slices.Clone(m.grids)}
	for i := range other.grids {
		other.grids[i].bits = make([]uint64, len(m.grids[i].bits))
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return m.read(ctx, c, d, func(rows uint64) string { return "rowid < " + strconv.FormatUint(rows/2, 10) })
	})
	group.Go(func() error {
		return other.read(ctx, beside, d, func(rows uint64) string { return "rowid >= " + strconv.FormatUint(rows/2, 10) })
	})
	if err := group.Wait(); err != nil {
		return err
	}
	for i := range m.grids {
		for k, word := range other.grids[i].bits {
			m.grids[i].bits[k] |= word
		}
	}
	return nil
}

// read marks what the tables have in the rows that a condition names, of so many.
func (m *Marks) read(ctx context.Context, c *engine.Conn, d *table.Day, which func(rows uint64) string) error {
	if d.Sealed > 0 {
		if err := c.Query(ctx, "SELECT channel, place FROM "+d.SealedTable()+" WHERE "+which(d.Sealed), func(k *engine.Chunk) error {
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
		if err := c.Query(ctx, "SELECT channel, place, source FROM "+from.Table+" WHERE "+which(from.Rows)+from.And, func(k *engine.Chunk) error {
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
	n, at, ok := m.groups.find(channel)
	if !ok || place < 0 {
		return
	}
	if g := &m.grids[n]; int(place) < g.places {
		g.bits[int(place)*int(g.width)+int(at/64)] |= 1 << (at % 64)
	}
}

// Has reports whether an interval of a channel has a raw reading.
func (m *Marks) Has(channel uint32, place int) bool {
	n, at, ok := m.groups.find(channel)
	if !ok {
		return false
	}
	g := &m.grids[n]
	return place < g.places && g.bits[place*int(g.width)+int(at/64)]&(1<<(at%64)) != 0
}

// Count returns how many intervals of a channel have a raw reading. It is fast when the channels come in order.
func (m *Marks) Count(channel uint32) int {
	n, at, ok := m.groups.find(channel)
	if !ok {
		return 0
	}
	g := &m.grids[n]
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
