package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"voltbus/fault"
	"voltbus/point"
)

const ownedHere = `SELECT path FROM point
WHERE path IN (SELECT value FROM json_each(?)) AND child = '' AND device <> '' AND removed IS NULL`

const ownPoint = `UPDATE point SET child = ? WHERE path = ? AND child <> ?`

// Below puts points of a child here as it describes them, and marks others as removed, in one
// transaction. Points of this node's own devices stay as they are: here this node is right. With an
// error nothing was changed.
func (c *Catalog) Below(ctx context.Context, child string, infos []point.Info, removed []point.Path) error {
	const op = "catalog.Below"
	for i := range infos {
		if err := validate(&infos[i]); err != nil {
			return fault.E(op, fault.Invalid, string(infos[i].Path), err)
		}
	}
	return wrap(op, File, c.write(ctx, func(tx *sql.Tx) error { return c.below(ctx, tx, child, infos, removed) }))
}

func (c *Catalog) below(ctx context.Context, tx *sql.Tx, child string, infos []point.Info, removed []point.Path) error {
	paths := make([]point.Path, 0, len(infos)+len(removed))
	for i := range infos {
		paths = append(paths, infos[i].Path)
	}
	own, err := ownPaths(ctx, tx, append(paths, removed...))
	if err != nil {
		return err
	}
	var theirs []point.Info
	for i := range infos {
		if !own[infos[i].Path] {
			theirs = append(theirs, infos[i])
		}
	}
	var gone []point.Path
	for _, p := range removed {
		if !own[p] {
			gone = append(gone, p)
		}
	}
	if err := c.put(ctx, tx, upsertPoint, theirs); err != nil {
		return err
	}
	for i := range theirs {
		if _, err := tx.ExecContext(ctx, ownPoint, child, string(theirs[i].Path), child); err != nil {
			return fmt.Errorf("note whose %q is: %w", theirs[i].Path, err)
		}
	}
	return c.remove(ctx, tx, gone)
}

const ownersOf = `SELECT path, child FROM point
WHERE path IN (SELECT value FROM json_each(?)) AND (child <> '' OR device <> '')`

// Owners returns which child described each of the points, "" for points of this node's own devices.
// Points of which nobody told whose they are are left out.
func (c *Catalog) Owners(ctx context.Context, paths []point.Path) (map[point.Path]string, error) {
	const op = "catalog.Owners"
	list, err := json.Marshal(paths)
	if err != nil {
		return nil, wrap(op, File, err)
	}
	rows, err := c.db.QueryContext(ctx, ownersOf, string(list))
	if err != nil {
		return nil, wrap(op, File, err)
	}
	defer rows.Close()
	owners := map[point.Path]string{}
	for rows.Next() {
		var p, child string
		if err := rows.Scan(&p, &child); err != nil {
			return nil, wrap(op, File, err)
		}
		owners[point.Path(p)] = child
	}
	return owners, wrap(op, File, rows.Err())
}

// ownPaths returns which of the paths are points of this node's own devices.
func ownPaths(ctx context.Context, tx *sql.Tx, paths []point.Path) (map[point.Path]bool, error) {
	list, err := json.Marshal(paths)
	if err != nil {
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, ownedHere, string(list))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	own := map[point.Path]bool{}
	for rows.Next() {
		var p string
		if err := rows.Scan(&p); err != nil {
			return nil, err
		}
		own[point.Path(p)] = true
	}
	return own, rows.Err()
}
