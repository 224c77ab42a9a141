package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"voltbus/meter/store"
	"voltbus/meter/store/postgres/queue"
	"voltbus/meter/store/postgres/table"
	"voltbus/store/postgres/connection"
)

// writeExceptions replaces the exceptions of channels that were judged before. What was found before stays as it is, and
// what somebody settled is not found again.
func (w *sliceWriter) writeExceptions() error {
	waiting, settled := map[uint32]exception{}, map[uint32]exception{}
	if len(w.again) > 0 {
		for _, one := range []struct {
			query string
			into  map[uint32]exception
		}{
			{"SELECT channel, status, count FROM meter_exception WHERE day = $1 AND channel = ANY($2::int[])", waiting},
			{"SELECT channel, status, count FROM meter_settled WHERE day = $1 AND channel = ANY($2::int[]) ORDER BY recorded, number", settled},
		} {
			err := scan(w.ctx, w.x.s.writer.Conn, one.query, func(c [][]byte) error {
				channel := uint32(number(c[0]))
				one.into[channel] = exception{channel, uint32(number(c[1])), int(number(c[2]))}
				return nil
			}, int64(w.j.day), w.again)
			if err != nil {
				return err
			}
		}
	}
	found := map[uint32]bool{}
	out := &rows{}
	for _, e := range w.exceptions {
		was, is := waiting[e.channel]
		seen, done := settled[e.channel]
		if found[e.channel] = is && was == e; found[e.channel] || (!is && done && seen == e) {
			continue
		}
		w.x.state.exception++
		out.Begin(6)
		out.Int8(int64(w.x.state.exception))
		out.Int4(int32(e.channel))
		out.Int4(int32(w.j.day))
		out.Int8(int64(e.status))
		out.Int4(int32(e.count))
		out.Int8(w.x.recorded)
	}
	w.out.Exceptions = len(w.exceptions)
	var gone []int64
	for channel := range waiting {
		if !found[channel] {
			gone = append(gone, int64(channel))
		}
	}
	if len(gone) > 0 {
		if err := w.exec("DELETE FROM meter_exception WHERE day = $1 AND channel = ANY($2::int[])", int64(w.j.day), gone); err != nil {
			return err
		}
	}
	return w.x.s.copyInto(w.ctx, "meter_exception", "number, channel, day, status, count, noticed", out)
}

// writeUses notes on which other days estimates depend.
func (w *sliceWriter) writeUses() error {
	if len(w.uses) == 0 {
		return nil
	}
	channels, used := make([]int64, len(w.uses)), make([]int64, len(w.uses))
	for i, u := range w.uses {
		channels[i], used[i] = int64(u.channel), int64(u.day)
	}
	return w.exec(`INSERT INTO meter_use (day, channel, used) SELECT DISTINCT $1::int, u.channel, u.used FROM unnest($2::int[], $3::int[]) u(channel, used)
		ON CONFLICT DO NOTHING`, int64(w.j.day), channels, used)
}

// writeRedo takes the channels that were judged from those to be judged anew, and notes which of other days depend on readings
// that are new: those of the next day, and those whose estimates were made of them.
func (w *sliceWriter) writeRedo() error {
	if len(w.judged) > 0 {
		if err := w.exec("DELETE FROM meter_redo WHERE day = $1 AND channel = ANY($2::int[])", int64(w.j.day), w.judged); err != nil {
			return err
		}
	}
	changed, beside := w.dependants()
	if len(beside) > 0 {
		if err := w.exec("INSERT INTO meter_redo (day, channel) SELECT $1::int, u FROM unnest($2::int[]) u ON CONFLICT DO NOTHING", int64(w.j.day), beside); err != nil {
			return err
		}
	}
	if len(changed) == 0 {
		return nil
	}
	if w.j.exists[w.j.day+1] {
		if err := w.exec("INSERT INTO meter_redo (day, channel) SELECT day, channel FROM meter_intervals WHERE day = $1 AND channel = ANY($2::int[]) ON CONFLICT DO NOTHING",
			int64(w.j.day+1), changed); err != nil {
			return err
		}
	}
	return w.exec("INSERT INTO meter_redo (day, channel) SELECT day, channel FROM meter_use WHERE used = $1 AND day <> $1 AND channel = ANY($2::int[]) ON CONFLICT DO NOTHING",
		int64(w.j.day), changed)
}

// dependants lists the channels with intervals whose own readings or registers have changed, and those of them that this
// slice does not judge.
func (w *sliceWriter) dependants() (changed, beside []int64) {
	in := map[uint32]bool{}
	for _, b := range w.buckets {
		in[b] = true
	}
	seen := map[uint32]bool{}
	for _, channel := range w.changed {
		for _, of := range append(w.j.s.dir.Profiles(nil, channel), channel) {
			if _, c := w.j.s.dir.Key(of); seen[of] || c.Interval == 0 {
				continue
			}
			seen[of] = true
			changed = append(changed, int64(of))
			if !in[table.BucketOf(of)] {
				beside = append(beside, int64(of))
			}
		}
	}
	return changed, beside
}

// Exceptions implements store.Judged.
func (s *Store) Exceptions(ctx context.Context, q store.ExceptionQuery) (out []store.Exception, err error) {
	const op = "metering.Exceptions"
	err = s.look(ctx, op, func(tx pgx.Tx) error {
		out, err = queue.List(ctx, tx, s.dir, op, q)
		return err
	})
	return out, err
}

// Settle implements store.Judged.
func (s *Store) Settle(ctx context.Context, exception uint64, who, why string) error {
	const op = "metering.Settle"
	if err := s.begin(ctx, op); err != nil {
		return err
	}
	defer s.write.Unlock()
	there := false
	if err := scan(ctx, s.writer.Conn, "SELECT 1 FROM meter_exception WHERE number = $1", func([][]byte) error { there = true; return nil }, int64(exception)); err != nil {
		return s.fail(op, err)
	}
	if err := store.CheckSettle(op, exception, there, who, why); err != nil {
		return err
	}
	return s.edit(ctx, op, func(x *change) error {
		batch := &pgx.Batch{}
		batch.Queue("INSERT INTO meter_settled SELECT number, channel, day, status, count, $2, $3, $4 FROM meter_exception WHERE number = $1", int64(exception), connection.Stored(who), connection.Stored(why), x.recorded)
		batch.Queue("DELETE FROM meter_exception WHERE number = $1", int64(exception))
		return s.writer.Conn.SendBatch(ctx, batch).Close()
	})
}
