package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

var errNoDevice = errors.New("belongs to no device; use Upsert for it")

// Keep makes the points exactly those of all devices: it puts those that are new or differ and
// removes every other point that belongs to a device, in one transaction. Points without a device
// and those of children stay as they are. With an error nothing was changed.
func (c *Catalog) Keep(ctx context.Context, infos []point.Info) error {
	for i := range infos {
		err := validate(&infos[i])
		if err == nil && infos[i].Device == "" {
			err = errNoDevice
		}
		if err != nil {
			return fault.E("catalog.Keep", fault.Invalid, string(infos[i].Path), err)
		}
	}
	err := c.write(ctx, func(tx *sql.Tx) error {
		return c.adjust(ctx, tx, selectPoint+` WHERE device <> '' AND child = '' AND removed IS NULL`, nil, infos)
	})
	return wrap("catalog.Keep", File, err)
}

// Replace makes the points those of the device: it puts those that are new or differ and removes
// the device's other points, in one transaction. With an error nothing was changed.
func (c *Catalog) Replace(ctx context.Context, device point.Path, infos []point.Info) error {
	for i := range infos {
		err := validate(&infos[i])
		if err == nil && infos[i].Device != device {
			err = fmt.Errorf("belongs to the device %q, not to %q", infos[i].Device, device)
		}
		if err != nil {
			return fault.E("catalog.Replace", fault.Invalid, string(infos[i].Path), err)
		}
	}
	err := c.write(ctx, func(tx *sql.Tx) error {
		return c.adjust(ctx, tx, selectPoint+` WHERE device = ? AND child = '' AND removed IS NULL`, []any{string(device)}, infos)
	})
	return wrap("catalog.Replace", string(device), err)
}

// adjust makes the points those that the query selects. It writes only what differs.
func (c *Catalog) adjust(ctx context.Context, tx *sql.Tx, query string, args []any, infos []point.Info) error {
	there := map[point.Path]point.Info{}
	err := each(ctx, tx, query, args, func(e Entry) bool { there[e.Path] = e.Info; return true })
	if err != nil {
		return err
	}
	var changed []point.Info
	stay := make(map[point.Path]bool, len(infos))
	for i := range infos {
		stay[infos[i].Path] = true
		if old, ok := there[infos[i].Path]; !ok || !same(&old, &infos[i]) {
			changed = append(changed, infos[i])
		}
	}
	if err := c.put(ctx, tx, upsertPoint, changed); err != nil {
		return err
	}
	maps.DeleteFunc(there, func(p point.Path, _ point.Info) bool { return stay[p] })
	return c.remove(ctx, tx, slices.Collect(maps.Keys(there)))
}

// same reports whether a row of b would be that of a, which was read.
func same(a, b *point.Info) bool {
	return a.Kind == b.Kind && a.Unit == b.Unit && a.Description == b.Description &&
		a.Writable == b.Writable && a.Device == b.Device &&
		a.Interval == b.Interval.Truncate(time.Microsecond) && maps.Equal(a.Tags, b.Tags)
}

func (c *Catalog) remove(ctx context.Context, tx *sql.Tx, paths []point.Path) error {
	if len(paths) == 0 {
		return nil
	}
	list, err := json.Marshal(paths)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE point SET removed = ?
		WHERE removed IS NULL AND path IN (SELECT value FROM json_each(?))`, micros(c.now()), string(list))
	return err
}
