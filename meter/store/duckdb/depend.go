package duckdb

import (
	"slices"

	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/meter/store/duckdb/table"
	"voltbus/store/duckdb/engine"
)

// writeExceptions replaces the exceptions of channels that were judged before. What was found before stays as it is, and
// what somebody settled is not found again.
func (w *sliceWriter) writeExceptions() error {
	waiting, err := w.exceptionsBefore("exceptions", "")
	if err != nil {
		return err
	}
	settled, err := w.exceptionsBefore("settled", " ORDER BY recorded")
	if err != nil {
		return err
	}
	var gone []uint32
	found := map[uint32]bool{}
	var fresh []exception
	for _, e := range w.exceptions {
		was, is := waiting[e.channel]
		seen, done := settled[e.channel]
		if found[e.channel] = is && was == e; found[e.channel] || (!is && done && seen == e) {
			continue
		}
		fresh = append(fresh, e)
	}
	for _, channel := range w.again {
		if _, is := waiting[channel]; is && !found[channel] {
			gone = append(gone, channel)
		}
	}
	if len(gone) > 0 {
		if err := w.c.Exec(w.ctx, "DELETE FROM exceptions WHERE day = $1 AND "+table.Listed(gone), int64(w.j.day)); err != nil {
			return err
		}
	}
	w.out.Exceptions = len(w.exceptions)
	return w.putExceptions(fresh)
}

// exceptionsBefore returns the exceptions of channels that were judged before, as a table has them: the last one of each.
func (w *sliceWriter) exceptionsBefore(name, order string) (map[uint32]exception, error) {
	out := map[uint32]exception{}
	if len(w.again) == 0 {
		return out, nil
	}
	return out, w.c.Query(w.ctx, "SELECT channel, status, count FROM "+name+" WHERE day = $1 AND "+table.Among(w.again)+order, func(k *engine.Chunk) error {
		for i, channel := range engine.Numbers[uint32](k, 0) {
			out[channel] = exception{channel, engine.Numbers[uint32](k, 1)[i], int(engine.Numbers[uint32](k, 2)[i])}
		}
		return nil
	}, int64(w.j.day))
}

func (w *sliceWriter) putExceptions(list []exception) error {
	if len(list) == 0 {
		return nil
	}
	a, err := w.c.Appender("exceptions", duck.TypeUBigInt, duck.TypeUInteger, duck.TypeInteger, duck.TypeUInteger, duck.TypeUInteger, duck.TypeUInteger)
	if err != nil {
		return err
	}
	defer a.Close()
	for part := range slices.Chunk(list, engine.ChunkRows) {
		numbers, channels, days := engine.Column[uint64](a, 0), engine.Column[uint32](a, 1), engine.Column[int32](a, 2)
		status, counts, noticed := engine.Column[uint32](a, 3), engine.Column[uint32](a, 4), engine.Column[uint32](a, 5)
		for i, e := range part {
			w.x.number++
			numbers[i], channels[i], days[i] = w.x.number, e.channel, int32(w.j.day)
			status[i], counts[i], noticed[i] = e.status, uint32(e.count), w.x.recorded
		}
		if err := a.Append(len(part)); err != nil {
			return err
		}
	}
	return a.Flush()
}

// writeUses notes on which other days estimates depend.
func (w *sliceWriter) writeUses() error {
	list := make([][3]int64, 0, len(w.uses))
	for _, u := range w.uses {
		list = append(list, [3]int64{int64(w.j.day), int64(u.channel), int64(u.day)})
	}
	return w.put("uses", list, duck.TypeInteger, duck.TypeUInteger, duck.TypeInteger)
}

// writeRedo notes which channels of other days depend on readings that are new: those of the next day, and those whose
// estimates were made of them.
func (w *sliceWriter) writeRedo() error {
	if len(w.changed) == 0 {
		return nil
	}
	var list [][3]int64
	next := w.j.s.dayOf(w.j.day + 1)
	add := func(d *day, channel uint32) {
		if d != nil && d.Key != w.j.day && d.Judged && channel < d.Bound {
			list = append(list, [3]int64{int64(d.Key), int64(channel)})
			w.redo[d.Key]++
		}
	}
	changed := w.changedProfiles()
	for channel := range changed {
		if _, c := w.j.s.dir.Key(channel); c.Interval > 0 {
			add(next, channel)
		}
	}
	err := w.c.Query(w.ctx, "SELECT DISTINCT day, channel FROM uses WHERE used = $1 AND channel >= $2 AND channel < $3", func(k *engine.Chunk) error {
		days := engine.Numbers[int32](k, 0)
		for i, channel := range engine.Numbers[uint32](k, 1) {
			if d := store.Day(days[i]); changed[channel] && d != w.j.day+1 {
				add(w.j.s.dayOf(d), channel)
			}
		}
		return nil
	}, int64(w.j.day), w.from-min(w.from, directory.MaxChannels), w.until+directory.MaxChannels)
	if err != nil {
		return err
	}
	return w.put("redo", list, duck.TypeInteger, duck.TypeUInteger)
}

// changedProfiles returns the channels with readings that are new, and the load profiles whose registers have such.
func (w *sliceWriter) changedProfiles() map[uint32]bool {
	out := map[uint32]bool{}
	for _, channel := range w.changed {
		out[channel] = true
		for _, of := range w.j.s.dir.Profiles(nil, channel) {
			out[of] = true
		}
	}
	return out
}

// put appends rows of a day, a channel, and another day if the table has one.
func (w *sliceWriter) put(table string, rows [][3]int64, types ...duck.Type) error {
	if len(rows) == 0 {
		return nil
	}
	a, err := w.c.Appender(table, types...)
	if err != nil {
		return err
	}
	defer a.Close()
	for part := range slices.Chunk(rows, engine.ChunkRows) {
		days, channels := engine.Column[int32](a, 0), engine.Column[uint32](a, 1)
		for i, r := range part {
			days[i], channels[i] = int32(r[0]), uint32(r[1])
			if len(types) > 2 {
				engine.Column[int32](a, 2)[i] = int32(r[2])
			}
		}
		if err := a.Append(len(part)); err != nil {
			return err
		}
	}
	return a.Flush()
}
