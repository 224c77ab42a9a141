// Package marks notes which intervals of a day have a raw reading.
package marks

import (
	"time"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/meter/store/postgres/table"
)

// Marks are a bit for each interval that is expected of a day.
type Marks struct {
	first []int // of each channel: its first bit; −1 for one that is not expected
	count []int32
	bits  []uint64
}

// New returns the marks of a day, none of which is set.
func New(dir *directory.Directory, calendar *store.Calendar, d store.Day) *Marks {
	_, n := dir.Len()
	m := &Marks{first: make([]int, n), count: make([]int32, n)}
	for i := range m.first {
		m.first[i] = -1
	}
	all := 0
	counts := map[time.Duration]int{}
	dir.Expected(d, 0, func(_, channel uint32, c *meter.Channel) bool {
		if int(channel) >= n {
			return false // it was registered meanwhile, as were those behind it
		}
		k, ok := counts[c.Interval]
		if !ok {
			k = calendar.Count(d, c.Interval)
			counts[c.Interval] = k
		}
		m.first[channel], m.count[channel] = all, int32(k)
		all += k
		return true
	})
	m.bits = make([]uint64, (all+63)/64)
	return m
}

// at returns the bit of an interval; −1 for none.
func (m *Marks) at(channel uint32, place int) int {
	if int(channel) >= len(m.first) || place < 0 || m.first[channel] < 0 || place >= int(m.count[channel]) {
		return -1
	}
	return m.first[channel] + place
}

// Set notes that an interval has a reading.
func (m *Marks) Set(channel uint32, place int32) {
	if i := m.at(channel, int(place)); i >= 0 {
		m.bits[i/64] |= 1 << (i % 64)
	}
}

// Has reports whether an interval has a reading.
func (m *Marks) Has(channel uint32, place int) bool {
	i := m.at(channel, place)
	return i >= 0 && m.bits[i/64]&(1<<(i%64)) != 0
}

// Judged notes the intervals of channels that were judged: all but those that were lacking.
func (m *Marks) Judged(b *table.Bucket) {
	first := b.Number << table.BucketBits
	for _, k := range b.Channels {
		channel := first + uint32(k)
		if int(channel) >= len(m.first) {
			continue
		}
		for place := range m.count[channel] {
			m.Set(channel, place)
		}
	}
	for _, k := range b.Lacking {
		channel, place := table.Lacks(first, k)
		if i := m.at(channel, place); i >= 0 {
			m.bits[i/64] &^= 1 << (i % 64)
		}
	}
}
