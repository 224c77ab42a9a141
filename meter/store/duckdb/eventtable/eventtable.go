// Package eventtable is the table of events in the embedded metering store, with the place in the log up to which they are stored.
package eventtable

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/store/duckdb/engine"
)

// Place is how far the log is stored, and the number of the newest event.
type Place struct {
	Log      string
	Sequence uint64
	Number   uint64
}

// statements make the tables where they are not. incoming holds one batch while it is compared with what is there.
var statements = []string{ //nolint:gochecknoglobals // a constant
	`CREATE TABLE IF NOT EXISTS events(number UBIGINT, meter VARCHAR, moment BIGINT, kind UTINYINT, severity UTINYINT, code UBIGINT, detail VARCHAR, recorded UINTEGER, who VARCHAR)`,
	`CREATE TABLE IF NOT EXISTS event_place(log VARCHAR, sequence UBIGINT)`,
	`CREATE TEMP TABLE IF NOT EXISTS incoming(place UINTEGER, meter VARCHAR, moment BIGINT, kind UTINYINT, severity UTINYINT, code UBIGINT, detail VARCHAR, who VARCHAR)`,
}

// Open makes the tables, or reads the place.
func Open(ctx context.Context, c *engine.Conn) (p Place, err error) {
	for _, one := range statements {
		if err := c.Exec(ctx, one); err != nil {
			return p, err
		}
	}
	if err = c.Query(ctx, "SELECT log, sequence FROM event_place", func(k *engine.Chunk) error {
		if k.Rows > 0 {
			p.Log, p.Sequence = k.Texts(0).At(0), engine.Numbers[uint64](k, 1)[0]
		}
		return nil
	}); err != nil {
		return p, err
	}
	p.Number, err = engine.Count(ctx, c, "SELECT coalesce(max(number), 0)::UBIGINT FROM events")
	return p, err
}

// Append adds the events of a batch that are not there, recorded at a moment in Unix seconds, and moves the place, within the open
// transaction. It returns the place that holds after it.
func Append(ctx context.Context, c *engine.Conn, b *store.EventBatch, recorded uint32, p Place) (Place, error) {
	list := b.Distinct()
	if len(list) > 0 {
		if err := stage(ctx, c, list); err != nil {
			return p, err
		}
		first, last := list[0].At, list[0].At
		for i := range list {
			if at := list[i].At; at.Before(first) {
				first = at
			} else if at.After(last) {
				last = at
			}
		}
		const insert = `INSERT INTO events SELECT $1::UBIGINT + row_number() OVER (ORDER BY i.place), i.meter, i.moment, i.kind, i.severity, i.code, i.detail, $2::UINTEGER, i.who
FROM incoming i WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.moment BETWEEN $3 AND $4 AND e.meter = i.meter AND e.moment = i.moment AND e.kind = i.kind AND e.code = i.code)`
		if err := c.Exec(ctx, insert, p.Number, recorded, first.UnixMilli(), last.UnixMilli()); err != nil {
			return p, err
		}
		n, err := engine.Count(ctx, c, "SELECT count(*) FROM events WHERE number > $1", p.Number)
		if err != nil {
			return p, err
		}
		p.Number += n
	}
	if b.Log == "" {
		return p, nil
	}
	p.Log, p.Sequence = strings.Clone(b.Log), b.Sequence
	if err := c.Exec(ctx, "DELETE FROM event_place"); err != nil {
		return p, err
	}
	return p, c.Exec(ctx, "INSERT INTO event_place VALUES ($1, $2)", p.Log, p.Sequence)
}

// stage puts events into the table incoming.
func stage(ctx context.Context, c *engine.Conn, list []store.Event) error {
	if err := c.Exec(ctx, "DELETE FROM incoming"); err != nil {
		return err
	}
	a, err := c.Appender("incoming", duck.TypeUInteger, duck.TypeVarchar, duck.TypeBigInt, duck.TypeUTinyInt, duck.TypeUTinyInt, duck.TypeUBigInt, duck.TypeVarchar, duck.TypeVarchar)
	if err != nil {
		return err
	}
	defer a.Close()
	for from := 0; from < len(list); from += engine.ChunkRows {
		part := list[from:min(from+engine.ChunkRows, len(list))]
		for i := range part {
			e := &part[i]
			engine.Column[uint32](a, 0)[i] = uint32(from + i)
			a.Text(1, i, e.Meter)
			engine.Column[int64](a, 2)[i] = e.At.UnixMilli()
			engine.Column[uint8](a, 3)[i], engine.Column[uint8](a, 4)[i] = uint8(e.Kind), uint8(e.Severity)
			engine.Column[uint64](a, 5)[i] = packed(e.Code)
			a.Text(6, i, e.Detail)
			a.Text(7, i, e.Who)
		}
		if err := a.Append(len(part)); err != nil {
			return err
		}
	}
	return a.Flush()
}

// packed is a code in one number.
func packed(c meter.EventCode) uint64 {
	return uint64(c[0])<<48 | uint64(c[1])<<32 | uint64(c[2])<<16 | uint64(c[3])
}

func unpacked(n uint64) meter.EventCode {
	return meter.EventCode{uint16(n >> 48), uint16(n >> 32), uint16(n >> 16), uint16(n)}
}

// List answers a query.
func List(ctx context.Context, c *engine.Conn, op string, q *store.EventQuery) ([]store.Event, error) {
	where, args := []string{"true"}, []any{int64(q.Most())}
	and := func(condition string, values ...any) {
		for _, v := range values {
			args = append(args, v)
			condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(args)), 1)
		}
		where = append(where, condition)
	}
	if q.Meter != "" {
		and("meter = ?", q.Meter)
	}
	if len(q.Kinds) > 0 {
		var kinds []string
		for _, k := range q.Kinds {
			kinds = append(kinds, strconv.Itoa(int(k)))
		}
		and("kind IN (" + strings.Join(kinds, ", ") + ")")
	}
	if !q.From.IsZero() {
		and("moment > ?", q.From.UnixMilli())
	}
	if !q.To.IsZero() {
		and("moment <= ?", q.To.UnixMilli())
	}
	if q.After != 0 {
		at, known, err := moment(ctx, c, q.After)
		if err != nil {
			return nil, err
		}
		if !known {
			return nil, store.NoEvent(op, q.After)
		}
		and("(moment < ? OR (moment = ? AND number < ?))", at, at, q.After)
	}
	var out []store.Event
	err := c.Query(ctx, "SELECT number, meter, moment, kind, severity, code, detail, recorded, who FROM events WHERE "+strings.Join(where, " AND ")+
		" ORDER BY moment DESC, number DESC LIMIT $1", func(k *engine.Chunk) error {
		for i := range k.Rows {
			out = append(out, read(k, i))
		}
		return nil
	}, args...)
	return out, err
}

// moment returns the time of an event, in Unix milliseconds.
func moment(ctx context.Context, c *engine.Conn, number uint64) (at int64, known bool, err error) {
	err = c.Query(ctx, "SELECT moment FROM events WHERE number = $1", func(k *engine.Chunk) error {
		for i := range k.Rows {
			at, known = engine.Numbers[int64](k, 0)[i], true
		}
		return nil
	}, number)
	return at, known, err
}

func read(k *engine.Chunk, i int) store.Event {
	return store.Event{
		Event: meter.Event{
			Meter: k.Texts(1).At(i), At: time.UnixMilli(engine.Numbers[int64](k, 2)[i]).UTC(),
			Kind: meter.EventKind(engine.Numbers[uint8](k, 3)[i]), Severity: meter.Severity(engine.Numbers[uint8](k, 4)[i]),
			Code: unpacked(engine.Numbers[uint64](k, 5)[i]), Detail: k.Texts(6).At(i),
		},
		Number: engine.Numbers[uint64](k, 0)[i], Recorded: time.Unix(int64(engine.Numbers[uint32](k, 7)[i]), 0).UTC(), Who: k.Texts(8).At(i),
	}
}
