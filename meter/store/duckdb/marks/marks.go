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

// Marks is one bit for each interval of a day of each channel.
type Marks struct {
	bits  []uint64
	first []uint32 // of each channel: its first word, plus one; 0 for a channel that is not expected
	raw   []bool
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
	m := &Marks{first: make([]uint32, channels), raw: raws(sources)}
	words := uint32(0)
	counts := map[time.Duration]uint32{}
	dir.Expected(d, 0, func(_, channel uint32, c *meter.Channel) bool {
		n, ok := counts[c.Interval]
		if !ok {
			n = uint32(calendar.Count(d, c.Interval)+63) / 64
			counts[c.Interval] = n
		}
		if int(channel) < channels { // one that was registered meanwhile is not asked for
			m.first[channel] = words + 1
			words += n
		}
		return true
	})
	m.bits = make([]uint64, words)
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
	if int(channel) < len(m.first) && m.first[channel] > 0 && place >= 0 {
		m.bits[m.first[channel]-1+uint32(place)/64] |= 1 << (place & 63)
	}
}

// Has reports whether an interval of a channel has a raw reading.
func (m *Marks) Has(channel uint32, place int) bool {
	return int(channel) < len(m.first) && m.first[channel] > 0 && m.bits[m.first[channel]-1+uint32(place)/64]&(1<<(place&63)) != 0
}

// Count returns how many of the first places of a channel have a raw reading.
func (m *Marks) Count(channel uint32, places int) (n int) {
	if int(channel) >= len(m.first) || m.first[channel] == 0 {
		return 0
	}
	for _, word := range m.bits[m.first[channel]-1:][:(places+63)/64] {
		if places < 64 {
			word &= 1<<places - 1
		}
		n += bits.OnesCount64(word)
		places -= 64
	}
	return n
}
