// Package eventtable is the table of events of meters in a metering store in PostgreSQL.
package eventtable

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/postgres/binary"
	"voltbus/store/postgres/connection"
)

// Columns are those that Rows writes.
const Columns = "number, meter, moment, kind, severity, code, detail, recorded, who"

// packed is a code in one number.
func packed(c meter.EventCode) int64 {
	return int64(uint64(c[0])<<48 | uint64(c[1])<<32 | uint64(c[2])<<16 | uint64(c[3]))
}

func unpacked(n int64) meter.EventCode {
	return meter.EventCode{uint16(uint64(n) >> 48), uint16(uint64(n) >> 32), uint16(uint64(n) >> 16), uint16(n)}
}

// Fresh returns the events of a batch that are not there.
func Fresh(ctx context.Context, c *pgx.Conn, b *store.EventBatch) ([]store.Event, error) {
	list := b.Distinct()
	if len(list) == 0 {
		return nil, nil
	}
	meters, moments, kinds, codes := make([]string, len(list)), make([]int64, len(list)), make([]int16, len(list)), make([]int64, len(list))
	for i := range list {
		e := &list[i]
		meters[i], moments[i], kinds[i], codes[i] = connection.Stored(e.Meter), e.At.UnixMilli(), int16(e.Kind), packed(e.Code)
	}
	rows, err := c.Query(ctx, `SELECT u.n FROM unnest($1::text[], $2::bigint[], $3::smallint[], $4::bigint[]) WITH ORDINALITY u(meter, moment, kind, code, n)
		JOIN meter_event e ON e.meter = u.meter AND e.moment = u.moment AND e.kind = u.kind AND e.code = u.code`, meters, moments, kinds, codes)
	if err != nil {
		return nil, err
	}
	there := make([]bool, len(list))
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&n}, func() error { there[n-1] = true; return nil }); err != nil {
		return nil, err
	}
	fresh := list[:0]
	for i := range list {
		if !there[i] {
			fresh = append(fresh, list[i])
		}
	}
	return fresh, nil
}

// Rows turns events into rows, the first of which has that number.
func Rows(list []store.Event, number uint64, recorded int64) *binary.Rows {
	r := &binary.Rows{}
	for i := range list {
		e := &list[i]
		r.Begin(9)
		r.Int8(int64(number) + int64(i))
		r.Text(connection.Stored(e.Meter))
		r.Int8(e.At.UnixMilli())
		r.Int2(int16(e.Kind))
		r.Int2(int16(e.Severity))
		r.Int8(packed(e.Code))
		r.Text(connection.Stored(e.Detail))
		r.Int8(recorded)
		r.Text(connection.Stored(e.Who))
	}
	return r
}

// List answers a query.
func List(ctx context.Context, tx pgx.Tx, op string, q store.EventQuery) (out []store.Event, err error) {
	var args []any
	var where []string
	and := func(condition string, values ...any) {
		for _, v := range values {
			args = append(args, v)
			condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(args)), 1)
		}
		where = append(where, condition)
	}
	if q.After > 0 {
		var moment int64
		err := tx.QueryRow(ctx, "SELECT moment FROM meter_event WHERE number = $1", int64(q.After)).Scan(&moment)
		if err == pgx.ErrNoRows { //nolint:errorlint // it comes as it is
			return nil, store.NoEvent(op, q.After)
		} else if err != nil {
			return nil, err
		}
		and("(moment, number) < (?::bigint, ?::bigint)", moment, int64(q.After))
	}
	if q.Meter != "" {
		and("meter = ?", connection.Stored(q.Meter))
	}
	if len(q.Kinds) > 0 {
		kinds := make([]int16, len(q.Kinds))
		for i, k := range q.Kinds {
			kinds[i] = int16(k)
		}
		and("kind = ANY(?::smallint[])", kinds)
	}
	if !q.From.IsZero() {
		and("moment > ?::bigint", q.From.UnixMilli())
	}
	if !q.To.IsZero() {
		and("moment <= ?::bigint", q.To.UnixMilli())
	}
	statement := "SELECT number, meter, moment, kind, severity, code, detail, recorded, who FROM meter_event"
	if len(where) > 0 {
		statement += " WHERE " + strings.Join(where, " AND ")
	}
	rows, err := tx.Query(ctx, fmt.Sprintf("%s ORDER BY moment DESC, number DESC LIMIT %d", statement, q.Most()), args...)
	if err != nil {
		return nil, err
	}
	var e store.Event
	var number, moment, code, recorded int64
	var kind, severity int16
	_, err = pgx.ForEachRow(rows, []any{&number, &e.Meter, &moment, &kind, &severity, &code, &e.Detail, &recorded, &e.Who}, func() error {
		e.Number, e.At, e.Kind, e.Severity = uint64(number), time.UnixMilli(moment).UTC(), meter.EventKind(kind), meter.Severity(severity)
		e.Code, e.Recorded = unpacked(code), time.Unix(recorded, 0).UTC()
		out = append(out, e)
		return nil
	})
	return out, err
}
