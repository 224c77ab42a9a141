package catalog

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"

	"voltbus/fault"
)

//go:embed schema1.sql
var schema1 string

//go:embed schema2.sql
var schema2 string

//go:embed schema3.sql
var schema3 string

//go:embed schema4.sql
var schema4 string

//go:embed schema5.sql
var schema5 string

//go:embed schema6.sql
var schema6 string

//go:embed schema7.sql
var schema7 string

//go:embed schema8.sql
var schema8 string

//go:embed schema9.sql
var schema9 string

//go:embed schema10.sql
var schema10 string

// additions are tables that a program of the same file version can do without: they do not raise the version,
// so that the previous program can still use the file. Each statement can be repeated.
//
//go:embed additions.sql
var additions string

// migrations upgrade each version of the file to the next. Never change a released one: add another.
func migrations() []string {
	return []string{schema1, schema2, schema3, schema4, schema5, schema6, schema7, schema8, schema9, schema10}
}

// migrate upgrades the file to the newest version, each step in its own transaction.
func (f *file) migrate(ctx context.Context) error {
	var version int
	if err := f.db.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return err
	}
	steps := migrations()
	if version > len(steps) {
		return fault.E("catalog.Open", fault.Conflict, File, fmt.Errorf(
			"was written by a newer program (version %d, this one knows %d); use that one, or move the file away",
			version, len(steps)))
	}
	for ; version < len(steps); version++ {
		err := f.write(ctx, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, steps[version]); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, version+1))
			return err
		})
		if err != nil {
			return fmt.Errorf("bring the catalogue to version %d: %w", version+1, err)
		}
	}
	return f.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, additions)
		return err
	})
}
