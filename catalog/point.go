package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Entry is a point as the catalogue knows it.
type Entry struct {
	point.Info
	FirstSeen time.Time // when it was first put here
	Removed   time.Time // when it left the configuration; zero if it is there
	Since     time.Time // when its interval last changed or it last came back; zero if never
}

// most lengths that the catalogue takes; a device may send anything.
const (
	maxUnit        = 64
	maxDescription = 1024
	maxTags        = 64
	maxTag         = 256
)

const insertPoint = `
INSERT INTO point (path, kind, unit, description, writable, device, interval, tags, first_seen, removed)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)
`

const upsertPoint = insertPoint + `ON CONFLICT (path) DO UPDATE SET
    kind = excluded.kind, unit = excluded.unit, description = excluded.description,
    writable = excluded.writable, device = excluded.device, interval = excluded.interval,
    tags = excluded.tags, removed = NULL,
    since = CASE WHEN removed IS NOT NULL OR interval <> excluded.interval THEN excluded.first_seen ELSE since END
WHERE removed IS NOT NULL OR
    (kind, unit, description, writable, device, interval, tags) IS NOT
    (excluded.kind, excluded.unit, excluded.description, excluded.writable, excluded.device,
     excluded.interval, excluded.tags)`

// Upsert adds the points, or changes those that are there, in one transaction. A point that was
// removed is there again. With an error nothing was changed.
func (c *Catalog) Upsert(ctx context.Context, infos []point.Info) error {
	for i := range infos {
		if err := validate(&infos[i]); err != nil {
			return fault.E("catalog.Upsert", fault.Invalid, string(infos[i].Path), err)
		}
	}
	err := c.write(ctx, func(tx *sql.Tx) error { return c.put(ctx, tx, upsertPoint, infos) })
	return wrap("catalog.Upsert", File, err)
}

// Adopt adds the points that are not known, in one transaction. What is known stays as it is, also removed points. With
// an error nothing was changed.
func (c *Catalog) Adopt(ctx context.Context, infos []point.Info) error {
	for i := range infos {
		if err := validate(&infos[i]); err != nil {
			return fault.E("catalog.Adopt", fault.Invalid, string(infos[i].Path), err)
		}
	}
	err := c.write(ctx, func(tx *sql.Tx) error { return c.put(ctx, tx, insertPoint+"ON CONFLICT DO NOTHING", infos) })
	return wrap("catalog.Adopt", File, err)
}

func (c *Catalog) put(ctx context.Context, tx *sql.Tx, statement string, infos []point.Info) error {
	insert, err := tx.PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	defer insert.Close()
	now := micros(c.now())
	for i := range infos {
		p := &infos[i]
		tags, err := tagText(p.Tags)
		if err != nil {
			return err
		}
		_, err = insert.ExecContext(ctx, string(p.Path), int64(p.Kind), p.Unit, p.Description,
			p.Writable, string(p.Device), p.Interval.Microseconds(), tags, now)
		if err != nil {
			return fmt.Errorf("put %q: %w", p.Path, err)
		}
	}
	return nil
}

// Remove marks the points as removed. Their samples stay where they are. Unknown paths are no
// error.
func (c *Catalog) Remove(ctx context.Context, paths []point.Path) error {
	err := c.write(ctx, func(tx *sql.Tx) error { return c.remove(ctx, tx, paths) })
	return wrap("catalog.Remove", File, err)
}

func validate(p *point.Info) error {
	switch err := p.Path.Validate(); {
	case err != nil:
		return err
	case len(p.Unit) > maxUnit:
		return fmt.Errorf("the unit has more than %d bytes", maxUnit)
	case len(p.Description) > maxDescription:
		return fmt.Errorf("the description has more than %d bytes", maxDescription)
	case len(p.Tags) > maxTags:
		return fmt.Errorf("there are more than %d tags", maxTags)
	case p.Interval < 0:
		return fmt.Errorf("the interval %v is negative", p.Interval)
	}
	for k, v := range p.Tags {
		if k == "" || len(k)+len(v) > maxTag {
			return fmt.Errorf("the tag %.32q needs a name, and at most %d bytes with its value", k, maxTag)
		}
	}
	return nil
}

func tagText(tags map[string]string) (string, error) {
	if len(tags) == 0 {
		return "{}", nil
	}
	b, err := json.Marshal(tags) // in the order of the names: equal tags are equal text
	return string(b), err
}

func micros(t time.Time) int64 { return t.UnixMicro() }

func fromMicros(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMicro(n.Int64).UTC()
}
