package manifest

import (
	"context"
	"time"

	"voltbus/store"
	"voltbus/store/duckdb/engine"
)

// Damage is a part of the history that was set aside.
type Damage struct {
	File   string
	Day    store.Day
	Days   int // 0 if unknown
	Reason string
}

// NoteDamage records damage, within the connection's transaction if it has one.
func NoteDamage(ctx context.Context, c *engine.Conn, d Damage) error {
	return c.Exec(ctx, "INSERT INTO damaged VALUES ($1, $2, $3, $4, $5)", d.File, int64(d.Day), d.Days, d.Reason, time.Now().UTC().Truncate(time.Microsecond))
}

// ListDamage lists what was set aside, oldest first.
func ListDamage(ctx context.Context, c *engine.Conn) ([]store.Damage, error) {
	var out []store.Damage
	err := c.Query(ctx, "SELECT file, day, days, reason, noticed FROM damaged ORDER BY noticed, file", func(ch *engine.Chunk) error {
		file, reason := ch.Texts(0), ch.Texts(3)
		first, days, noticed := engine.Numbers[int32](ch, 1), engine.Numbers[int32](ch, 2), engine.Numbers[int64](ch, 4)
		for i := range ch.Rows {
			d := store.Damage{File: file.At(i), Reason: reason.At(i), Noticed: engine.Time(noticed[i])}
			if days[i] > 0 {
				d.From = store.Day(first[i]).Start()
				d.To = store.Day(first[i] + days[i]).Start()
			}
			out = append(out, d)
		}
		return nil
	})
	return out, err
}
