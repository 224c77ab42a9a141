// Package progress tells in one pass over the tables of a day how far its intervals are.
package progress

import (
	"context"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/meter/store/duckdb/table"
	"voltbus/meter/store/progress"
	"voltbus/store/duckdb/engine"
)

// Counter counts the intervals of one day.
type Counter struct {
	*progress.Counter
	sources  []table.Source
	verdicts []table.Verdict
	delayed  bool
}

// New returns a counter for what is expected of a day. Sources and verdicts are those that numbers stand for.
func New(dir *directory.Directory, calendar *store.Calendar, d store.Day, sources []table.Source, verdicts []table.Verdict) *Counter {
	return &Counter{Counter: progress.New(dir, calendar, d), sources: sources, verdicts: verdicts}
}

// Read reads the tables of the day: the sorted one first, since all versions in the others are later.
func (c *Counter) Read(ctx context.Context, conn *engine.Conn, d *table.Day) error {
	if d.Sealed > 0 {
		c.delayed = d.Delayed
		if err := conn.Query(ctx, "SELECT channel, place, recorded, verdict FROM "+d.SealedTable(), c.sealed); err != nil {
			return err
		}
	}
	for _, from := range d.VersionTables() {
		if err := conn.Query(ctx, "SELECT channel, place, recorded, source FROM "+from.Table+" WHERE true"+from.And, c.versions); err != nil {
			return err
		}
	}
	return nil
}

func (c *Counter) sealed(k *engine.Chunk) error {
	places, recorded, verdicts := engine.Numbers[int32](k, 1), engine.Numbers[int64](k, 2), engine.Numbers[uint32](k, 3)
	for i, channel := range engine.Numbers[uint32](k, 0) {
		if c.delayed {
			c.CountAfter(channel, places[i], recorded[i], meter.Raw, 0)
		} else {
			c.Count(channel, places[i], recorded[i], meter.Raw, 0)
		}
		if v := verdicts[i]; int(v) < len(c.verdicts) && int(c.verdicts[v].Source) < len(c.sources) {
			said := &c.sources[c.verdicts[v].Source]
			c.Count(channel, places[i], int64(c.verdicts[v].Recorded), said.Stage, said.Status)
		}
	}
	return nil
}

func (c *Counter) versions(k *engine.Chunk) error {
	places, recorded, sources := engine.Numbers[int32](k, 1), engine.Numbers[uint32](k, 2), engine.Numbers[uint32](k, 3)
	for i, channel := range engine.Numbers[uint32](k, 0) {
		if int(sources[i]) < len(c.sources) {
			s := &c.sources[sources[i]]
			c.Count(channel, places[i], int64(recorded[i]), s.Stage, s.Status)
		}
	}
	return nil
}
