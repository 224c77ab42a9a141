package day

import (
	"context"
	"math"
	"slices"
	"sync"

	"voltbus/store"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/sample"
)

const (
	// NotBad is the condition for samples that are not bad.
	NotBad = "quality < 128"

	hourMicros  = int64(3_600_000_000)
	hoursOfADay = 24

	// hourBytes is how much memory the counts of hours may take: a month of 15,000 points.
	hourBytes = 24 << 20
)

// Hours are the counts of samples that are not bad in the file of a closed day.
type Hours struct {
	start  int64                 // of the day, in microseconds
	ids    []uint32              // sorted
	counts [][hoursOfADay]uint16 // by the place in ids
	Full   bool                  // an hour has more samples than can be counted: count the samples
}

func (h *Hours) bytes() int { return len(h.ids) * (4 + 2*hoursOfADay) }

// add counts a sample; they come in the order of ids.
func (h *Hours) add(id uint32, micros int64) {
	n := len(h.ids)
	if n == 0 || h.ids[n-1] != id {
		h.ids = append(h.ids, id)
		h.counts = append(h.counts, [hoursOfADay]uint16{})
		n++
	}
	count := &h.counts[n-1][(micros-h.start)/hourMicros]
	h.Full = h.Full || *count == math.MaxUint16
	*count++
}

// Give adds the counts of the group's points to the tallies of their slots.
func (h *Hours) Give(g *sample.Group, tallies []*store.Tally) {
	at := 0
	for slot, id := range g.IDs {
		next, found := slices.BinarySearch(h.ids[at:], id)
		if at += next; !found {
			continue
		}
		for hour, n := range h.counts[at] {
			if n > 0 {
				tallies[slot].Add(h.start+int64(hour)*hourMicros, uint32(n))
			}
		}
	}
}

// hourCache caches the counts of files, which never change under their name. It evicts the least recently
// used one. It is safe for concurrent use.
type hourCache struct {
	mu    sync.Mutex
	files map[string]*Hours
	order []string // of use, oldest first
	bytes int
}

func (c *hourCache) get(file string) *Hours {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.files[file]
	if h != nil {
		i := slices.Index(c.order, file)
		c.order = append(slices.Delete(c.order, i, i+1), file)
	}
	return h
}

func (c *hourCache) put(file string, h *Hours) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files[file] != nil {
		return
	}
	if c.files == nil {
		c.files = make(map[string]*Hours)
	}
	c.files[file] = h
	c.order = append(c.order, file)
	for c.bytes += h.bytes(); c.bytes > hourBytes; {
		c.bytes -= c.files[c.order[0]].bytes()
		delete(c.files, c.order[0])
		c.order = c.order[1:]
	}
}

// Hours returns the counts of the day's file, from memory or from the file.
func (s *Files) Hours(ctx context.Context, c *engine.Conn, d *Day) (*Hours, error) {
	if h := s.hours.get(d.File); h != nil {
		return h, nil
	}
	h := &Hours{start: d.Key.Start().UnixMicro()}
	err := c.Query(ctx, "SELECT id, time FROM read_parquet("+engine.Quote(s.path(d.File))+") WHERE "+NotBad, func(ch *engine.Chunk) error {
		ids, times := engine.Numbers[uint32](ch, 0), engine.Numbers[int64](ch, 1)
		for i, id := range ids {
			h.add(id, times[i])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	h.ids, h.counts = slices.Clip(h.ids), slices.Clip(h.counts)
	s.hours.put(d.File, h)
	return h, nil
}
