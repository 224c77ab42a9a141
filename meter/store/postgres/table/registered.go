package table

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"voltbus/meter"
	"voltbus/meter/store/directory"
)

// MakeViews makes the views of a schema, unless they are there. An earlier program made fewer.
func MakeViews(ctx context.Context, c *pgx.Conn, schema string) error {
	var whole bool
	if err := c.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", schema+".meter_events").Scan(&whole); err != nil || whole {
		return err
	}
	_, err := c.PgConn().Exec(ctx, Views()).ReadAll()
	return err
}

// registered makes the views of meters, with where they are installed now, of their channels, and of what they reported.
func registered() string {
	day := func(column string, none int) string {
		return fmt.Sprintf("CASE WHEN m.%s <> %d THEN DATE '1970-01-01' + m.%s END AS %s", column, none, column, column)
	}
	return `CREATE OR REPLACE VIEW meters AS SELECT m.id AS meter, ` + named("(k.text::jsonb ->> 'commodity')::int", "commodity", 1, func(n int) string { return meter.Commodity(n).String() }) + `,
	` + day("since", int(directory.Always)) + ", " + day("until", int(directory.Never)) + `, i.point AS service_point, p.premises
	FROM meter m JOIN meter_model k ON k.number = m.model LEFT JOIN meter_installation i ON i.meter = m.number AND i.until = 0 LEFT JOIN meter_point p ON p.point = i.point;
CREATE OR REPLACE VIEW channels AS SELECT m.id AS meter, c.number AS channel, c.reading_type,
	CASE WHEN k.obis <> '[0, 0, 0, 0, 0, 0]' THEN format('%s-%s:%s.%s.%s*%s', k.obis -> 0, k.obis -> 1, k.obis -> 2, k.obis -> 3, k.obis -> 4, k.obis -> 5) END AS obis,
	` + units() + ` AS unit, k.multiplier, c.seconds
	FROM meter m JOIN meter_channel c ON c.model = m.model JOIN meter_model t ON t.number = m.model
	CROSS JOIN LATERAL (SELECT x -> 'OBIS' AS obis, (x ->> 'Multiplier')::double precision AS multiplier FROM (SELECT t.text::jsonb -> 'channels' -> c.place) y(x)) k;
CREATE OR REPLACE VIEW meter_events AS SELECT meter, to_timestamp(moment / 1000.0) AS time, ` + named("kind", "kind", 0, func(n int) string { return meter.EventKind(n).String() }) + `,
	` + named("severity", "severity", 0, func(n int) string { return meter.Severity(n).String() }) + `,
	concat_ws('.', code >> 48 & 65535, code >> 32 & 65535, code >> 16 & 65535, code & 65535) AS code, detail, to_timestamp(recorded) AS recorded, who FROM meter_event;
`
}

// named turns a small number into a word. Numbers without a word are like those of a newer program.
func named(number, column string, first int, of func(int) string) string {
	b := strings.Builder{}
	b.WriteString("CASE " + number)
	for n := first; n < 16; n++ {
		fmt.Fprintf(&b, " WHEN %d THEN '%s'", n, of(n))
	}
	return b.String() + " END AS " + column
}

// units is the unit of a reading type with the prefix of its power of ten, as meter.ReadingType tells it.
func units() string {
	b := strings.Builder{}
	b.WriteString("CASE split_part(c.reading_type, '.', 16)")
	for power := -12; power <= 12; power++ {
		if name := (meter.ReadingType{meter.PowerOfTen: int16(power)}).UnitName(); !strings.HasPrefix(name, "10^") {
			fmt.Fprintf(&b, " WHEN '%d' THEN '%s'", power, name)
		}
	}
	b.WriteString(" ELSE '10^' || split_part(c.reading_type, '.', 16) || ' ' END || CASE split_part(c.reading_type, '.', 17)")
	for unit := range 256 {
		if name := (meter.ReadingType{meter.Unit: int16(unit)}).UnitName(); !strings.HasPrefix(name, "unit(") {
			fmt.Fprintf(&b, " WHEN '%d' THEN '%s'", unit, name)
		}
	}
	return b.String() + " ELSE 'unit(' || split_part(c.reading_type, '.', 17) || ')' END"
}
