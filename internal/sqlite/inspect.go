package sqlite

import (
	"context"
	"database/sql"
)

// Inspection is what a file says of itself.
type Inspection struct {
	Damage      string // what SQLite's quick check found; "" for nothing
	Application int    // whose file it is: the pragma application_id
	Version     int    // of its tables: the pragma user_version
	Tables      int    // and indexes; 0 for an empty file
}

// Inspect checks a file, and reads whose it is. An error may also say that it is no SQLite file.
func Inspect(ctx context.Context, db *sql.DB) (i Inspection, err error) {
	if err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&i.Damage); err != nil {
		return i, err
	}
	if i.Damage == "ok" {
		i.Damage = ""
	}
	err = db.QueryRowContext(ctx, `SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_user_version, pragma_application_id`).Scan(&i.Version, &i.Application, &i.Tables)
	return i, err
}
