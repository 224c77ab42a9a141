package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"voltbus/meter/store"
	"voltbus/meter/store/postgres/eventtable"
	"voltbus/meter/store/postgres/table"
	"voltbus/meter/store/progress"
)

// events keeps what meters report beside readings.
type events struct{ *database }

// AppendEvents implements store.EventKeeper.
func (s *events) AppendEvents(ctx context.Context, b *store.EventBatch) (out store.EventResult, err error) {
	const op = "metering.AppendEvents"
	if err := s.begin(ctx, op); err != nil {
		return out, err
	}
	defer s.write.Unlock()
	err = s.edit(ctx, op, func(x *change) error {
		list, err := eventtable.Fresh(ctx, s.writer.Conn, b)
		if err != nil {
			return err
		}
		out = store.EventResult{Stored: len(list), Repeated: len(b.Events) - len(list), Recorded: time.Unix(x.recorded, 0).UTC()}
		if err := s.copyInto(ctx, "meter_event", eventtable.Columns, eventtable.Rows(list, x.state.event+1, x.recorded)); err != nil {
			return err
		}
		x.state.event += uint64(len(list))
		if b.Log != "" {
			x.state.eventLog, x.state.eventSequence = strings.Clone(b.Log), b.Sequence
		}
		return nil
	})
	if err != nil {
		return store.EventResult{}, err
	}
	return out, nil
}

// EventCursor implements store.EventKeeper.
func (s *events) EventCursor(ctx context.Context) (log string, sequence uint64, err error) {
	if err := s.begin(ctx, "metering.EventCursor"); err != nil {
		return "", 0, err
	}
	defer s.write.Unlock()
	return s.state.eventLog, s.state.eventSequence, nil
}

// Events implements store.EventKeeper.
func (s *events) Events(ctx context.Context, q store.EventQuery) (out []store.Event, err error) {
	const op = "metering.Events"
	err = s.look(ctx, op, func(tx pgx.Tx) error {
		out, err = eventtable.List(ctx, tx, op, q)
		return err
	})
	return out, err
}

// Progress implements store.Progressive in one pass over the versions of a day.
func (s *events) Progress(ctx context.Context, d store.Day) (store.Progress, error) {
	const op = "metering.Progress"
	p := progress.New(s.dir, s.calendar, d)
	err := s.look(ctx, op, func(tx pgx.Tx) error {
		sources := s.known()
		return each(ctx, tx, within{[]int32{int32(d)}, span{0, 1<<31 - 1}, newest}, func(_ store.Day, v *table.Version) {
			if int(v.Source) >= len(sources) {
				sources = s.known() // it came meanwhile
			}
			if int(v.Source) < len(sources) {
				p.Count(v.Channel, v.Place, v.Recorded, sources[v.Source].Stage, sources[v.Source].Status)
			}
		})
	})
	if err != nil {
		return store.Progress{}, err
	}
	return p.Progress(), nil
}
