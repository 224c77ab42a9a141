package table

import (
	"database/sql"
	"path/filepath"
	"strings"

	"voltbus/internal/sqlite"
	"voltbus/sink/destination"
	"voltbus/sink/setting"
)

// SQLite is the kind of a file of SQLite with the table "readings". A relative name is below the data directory.
func SQLite() destination.Kind { return destination.Kind{Make: openSQLite, Batch: 10_000, Parallel: 1} } //nolint:mnd // a transaction

const fileTable = "readings"

func openSQLite(s *setting.Sink, e destination.Environment) (destination.Writer, error) {
	file := s.Into
	if filepath.Ext(file) == "" {
		file += ".sqlite"
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(e.Dir, file)
	}
	return &writer{
		open:  func() (*sql.DB, error) { return sqlite.Open(file, sqlite.Options{}) },
		table: fileTable, tags: tagsOf(s), subject: file,
		dialect: &dialect{
			quote:  `"`,
			create: `CREATE TABLE IF NOT EXISTS %s (point TEXT NOT NULL, time TEXT NOT NULL, value REAL, exact INTEGER, text TEXT, quality TEXT NOT NULL, unit TEXT NOT NULL, PRIMARY KEY (point, time)) WITHOUT ROWID`,
			column: "TEXT NOT NULL DEFAULT ''", many: 1, columns: `SELECT name FROM pragma_table_info(?)`,
			replace: func(columns []string) string {
				return " ON CONFLICT (point, time) DO UPDATE SET " + assignments(columns, "%s=excluded.%s")
			},
			judge: func(err error) string {
				if strings.Contains(err.Error(), "constraint failed") { // the table was made by somebody else
					return err.Error()
				}
				return ""
			},
			plain: func(err error) error { return err },
		},
	}, nil
}
