// Package registry turns meters into rows of the tables of a metering store in PostgreSQL.
package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/meter/store/postgres/binary"
	"voltbus/store/postgres/connection"
)

// Table is rows for a table.
type Table struct {
	Name, Columns string
	Rows          binary.Rows
}

// Rows returns what a plan adds. The first new meter, and the first new description of channels, have those numbers.
func Rows(p *directory.Plan, list []store.Registration, meter, model int) []*Table {
	models, channels := &Table{Name: "meter_model", Columns: "number, text"}, &Table{Name: "meter_channel", Columns: "model, place, number, reading_type, seconds"}
	for i, m := range p.Models {
		models.Rows.Begin(2)
		models.Rows.Int4(int32(model + i))
		models.Rows.Text(text(m))
		channelsOf(&channels.Rows, m, int32(model+i))
	}
	meters := &Table{Name: "meter", Columns: "number, id, model, first, since, until"}
	points, places := &Table{Name: "meter_point", Columns: "point, premises"}, &Table{Name: "meter_installation", Columns: "point, meter, since, until"}
	for i, e := range p.Entries {
		r := &meters.Rows
		r.Begin(6)
		r.Int4(int32(meter + i))
		r.Text(e.ID)
		for _, v := range []int32{int32(e.Model), int32(e.First), int32(e.Since), int32(e.Until)} {
			r.Int4(v)
		}
		at := &list[p.Indices[i]]
		if at.ServicePoint == "" {
			continue
		}
		points.Rows.Begin(2)
		points.Rows.Text(connection.Stored(at.ServicePoint))
		points.Rows.Text(connection.Stored(at.Premises))
		places.Rows.Begin(4)
		places.Rows.Text(connection.Stored(at.ServicePoint))
		places.Rows.Int4(int32(meter + i))
		places.Rows.Int8(at.From.UnixMicro())
		places.Rows.Int8(0)
	}
	return []*Table{models, channels, meters, points, places}
}

// text is a description as it is stored; the plan was made by the same text.
func text(m *directory.Model) string {
	out, _ := json.Marshal(m) // nothing in it can fail
	return string(out)
}

func channelsOf(r *binary.Rows, m *directory.Model, number int32) {
	for k := range m.Channels {
		c := &m.Channels[k]
		r.Begin(5)
		r.Int4(number)
		r.Int4(int32(k))
		r.Int4(int32(c.Number))
		r.Text(c.ReadingType.String())
		r.Int4(int32(c.Interval / time.Second))
	}
}

// Models reads the descriptions of channels.
func Models(ctx context.Context, c *pgx.Conn) (list []*directory.Model, err error) {
	rows, err := c.Query(ctx, "SELECT text FROM meter_model ORDER BY number")
	if err != nil {
		return nil, err
	}
	var text string
	_, err = pgx.ForEachRow(rows, []any{&text}, func() error {
		m := &directory.Model{}
		if err := json.Unmarshal([]byte(text), m); err != nil {
			return fmt.Errorf("read the description of channels: %w", err)
		}
		list = append(list, m)
		return nil
	})
	return list, err
}
