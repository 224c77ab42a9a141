// Package catalog stores points, accounts and access rights of a node in one SQLite file; points are also held in memory for reading. It
// holds no samples: those are in the store.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"voltbus/fault"
)

// File is the catalogue's name in the data directory.
const File = "catalog.sqlite"

// Catalog is the open catalogue: parts that share a file. It is safe for concurrent use. Methods return
// fault.Unavailable when the disk is full, fault.Corrupt when the file is damaged, fault.Invalid for wrong
// arguments. Times are kept in microseconds, UTC.
type Catalog struct {
	*file
	*Points
	*Accounts
	*Registry
	*DocumentStore
	*AlertStore
	*HeadStore
	*notes // of writes with a key
}

// Damage says that the catalogue was unreadable when opened: it was set aside and replaced by an empty one.
// Points reappear as devices start; tokens other than the local administrator's have to be created again.
type Damage struct {
	File    string // where the damaged file is now
	Reason  string
	Noticed time.Time
}

// Open opens the catalogue in the data directory, and creates it if absent. now is the clock. A damaged file
// is renamed and replaced, see Damage; one written by a newer program gives fault.Conflict. The caller closes
// the catalogue.
func Open(ctx context.Context, dir string, now func() time.Time) (*Catalog, error) {
	file := filepath.Join(dir, File)
	c, err := open(ctx, file, now)
	if !fault.Is(err, fault.Corrupt) {
		return c, err
	}
	damage := &Damage{
		File:   file + ".damaged-" + now().UTC().Format("20060102T150405"),
		Reason: err.Error(), Noticed: now(),
	}
	if err := setAside(file, damage.File); err != nil {
		return nil, fault.E("catalog.Open", fault.Corrupt, file, fmt.Errorf(
			"is damaged (%s) and cannot be moved aside: %w", damage.Reason, err))
	}
	c, err = open(ctx, file, now)
	if err != nil {
		return nil, err
	}
	c.file.damage = damage
	return c, nil
}

func open(ctx context.Context, name string, now func() time.Time) (*Catalog, error) {
	f, err := openFile(ctx, name, now)
	if err != nil {
		return nil, wrap("catalog.Open", name, err)
	}
	c := &Catalog{file: f, Registry: &Registry{f}, DocumentStore: &DocumentStore{f}, AlertStore: &AlertStore{f}, HeadStore: &HeadStore{f}}
	c.Points, err = openPoints(ctx, f)
	if err == nil {
		c.Accounts, err = openAccounts(ctx, f)
	}
	if err == nil {
		c.notes, err = openNotes(ctx, f)
	}
	if err != nil {
		return nil, errors.Join(wrap("catalog.Open", name, err), f.db.Close())
	}
	return c, nil
}

// Close closes the file.
func (c *Catalog) Close() error {
	_ = c.kept.writeRows(context.Background()) // they only serve an older program; the disk may be full
	if err := c.db.Close(); err != nil {
		return wrap("catalog.Close", File, err)
	}
	return nil
}
