// Package progress counts the intervals of a day by hour and state, from the versions that an engine of the metering store tells it.
package progress

import (
	"time"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
)

// What is known of a cell, in four bits.
const (
	received  = 1
	rank      = 3 << 1 // what rules said last: nothing, or one of
	validated = 1 << 1
	estimated = 2 << 1
	doubted   = 3 << 1
	edited    = 8

	inWord = 16 // cells
)

// Counter counts the intervals of one day.
type Counter struct {
	dir      *directory.Directory
	calendar *store.Calendar
	day      store.Day

	words  []uint64
	first  []uint32 // of each channel: its first word, plus one; 0 for a channel that is not expected
	grid   []uint8  // of each channel: which of grids it has
	grids  []grid
	gridOf map[time.Duration]uint8
	out    store.Progress
	delays []time.Duration
}

// grid is the intervals of a length.
type grid struct {
	ends []int64 // Unix microseconds
	hour []int   // in which hour each begins
}

// New returns a counter for what is expected of a day.
func New(dir *directory.Directory, calendar *store.Calendar, d store.Day) *Counter {
	_, channels := dir.Len()
	c := &Counter{
		dir: dir, calendar: calendar, day: d, first: make([]uint32, channels), grid: make([]uint8, channels),
		gridOf: map[time.Duration]uint8{}, delays: store.Delays(),
	}
	bounds := calendar.Bounds(d)
	for at := bounds.Start; at < bounds.End; at += time.Hour.Microseconds() {
		c.out.Hours = append(c.out.Hours, store.Hour{From: time.UnixMicro(at).UTC()})
	}
	c.out.Within = make([]uint64, len(c.delays))
	words := uint32(0)
	dir.Expected(d, 0, func(_, channel uint32, ch *meter.Channel) bool {
		n := c.intervals(ch.Interval)
		g := &c.grids[n]
		for _, h := range g.hour {
			c.out.Hours[h].Expected++
		}
		if int(channel) < channels { // one that was registered meanwhile is not asked for
			c.grid[channel], c.first[channel] = n, words+1
			words += uint32(len(g.ends)+inWord-1) / inWord
		}
		return true
	})
	c.words = make([]uint64, words)
	return c
}

// intervals returns the number of the grid of a length.
func (c *Counter) intervals(length time.Duration) uint8 {
	if n, ok := c.gridOf[length]; ok {
		return n
	}
	begin := c.calendar.Bounds(c.day).Start
	g := grid{ends: c.calendar.Ends(nil, c.day, length)}
	for _, end := range g.ends {
		h := int((end - length.Microseconds() - begin) / time.Hour.Microseconds())
		g.hour = append(g.hour, max(0, min(h, len(c.out.Hours)-1)))
	}
	n := uint8(len(c.grids))
	c.grids = append(c.grids, g)
	c.gridOf[length] = n
	return n
}

// cell is where the state of an interval stands.
type cell struct{ word, shift uint32 }

// cell returns that of an interval; false for one that is not expected.
func (c *Counter) cell(channel uint32, place int32) (cell, bool) {
	if int(channel) >= len(c.first) || c.first[channel] == 0 || place < 0 || int(place) >= len(c.grids[c.grid[channel]].ends) {
		return cell{}, false
	}
	return cell{c.first[channel] - 1 + uint32(place)/inWord, uint32(place) % inWord * 4}, true
}

// end returns when an interval ends, in Unix seconds.
func (c *Counter) end(channel uint32, place int32) int64 {
	return c.grids[c.grid[channel]].ends[place] / time.Second.Microseconds()
}

// came notes a raw reading that came so many seconds after the end of its interval. The first one says how late it was.
func (c *Counter) came(at cell, delay int64) {
	if c.words[at.word]>>at.shift&received != 0 {
		return
	}
	c.words[at.word] |= received << at.shift
	for i := len(c.delays) - 1; i >= 0 && delay <= int64(c.delays[i]/time.Second); i-- {
		c.out.Within[i]++
	}
}

// say notes what a rule or a person said.
func (c *Counter) say(at cell, stage meter.Stage, status uint32) {
	word, shift := &c.words[at.word], at.shift
	is := uint64(0)
	switch {
	case stage == meter.Edited:
		*word |= edited << shift
		return
	case stage == meter.Estimated:
		is = estimated
	case status != 0:
		is = doubted
	case stage == meter.Validated:
		is = validated
	}
	*word = *word&^(rank<<shift) | is<<shift
}

// Count notes a version that was recorded at a moment, in Unix seconds. Those of an interval come in the order in which they were recorded.
func (c *Counter) Count(channel uint32, place int32, recorded int64, stage meter.Stage, status uint32) {
	at, ok := c.cell(channel, place)
	switch {
	case !ok:
	case stage == meter.Raw && status == 0:
		c.came(at, recorded-c.end(channel, place))
	default:
		c.say(at, stage, status)
	}
}

// CountAfter is Count with the seconds since the end of the interval.
func (c *Counter) CountAfter(channel uint32, place int32, delay int64, stage meter.Stage, status uint32) {
	if _, ok := c.cell(channel, place); ok {
		c.Count(channel, place, delay+c.end(channel, place), stage, status)
	}
}

// Progress returns what was counted.
func (c *Counter) Progress() store.Progress {
	for channel, first := range c.first {
		if first == 0 {
			continue
		}
		for place, h := range c.grids[c.grid[channel]].hour {
			state := c.words[first-1+uint32(place)/inWord] >> (place % inWord * 4) & 15
			add(&c.out.Hours[h], state)
		}
	}
	return c.out
}

func add(h *store.Hour, state uint64) {
	if state&received != 0 {
		h.Received++
	}
	switch {
	case state&edited != 0:
		h.Edited++
	case state&rank == validated:
		h.Validated++
	case state&rank == estimated:
		h.Estimated++
	case state&rank == doubted:
		h.Doubted++
	}
}
