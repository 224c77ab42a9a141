package peers

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// ErrNoTimescaleDB is the error of StartTimescaleDB on a machine without the extension.
var ErrNoTimescaleDB = errors.New("the extension TimescaleDB is not installed for this machine's newest PostgreSQL: see docs/guides/store-in-postgresql.md")

// TimescaleEnv is the variable that, if it is not empty, makes every server of this package one with TimescaleDB.
const TimescaleEnv = "VOLTBUS_TIMESCALEDB"

// StartedTimescaleDB is StartedPostgreSQL for a server whose database "voltbus" has the extension TimescaleDB. The
// test is skipped, loudly, where that is not installed.
func StartedTimescaleDB(t testing.TB, settings ...string) *PostgreSQL {
	t.Helper()
	return started(t, func() (*PostgreSQL, error) { return StartTimescaleDB(settings...) })
}

// StartTimescaleDB is StartPostgreSQL with the extension TimescaleDB.
func StartTimescaleDB(settings ...string) (*PostgreSQL, error) {
	bin := postgreSQLPrograms()
	if bin == "" {
		return nil, ErrNoPostgreSQL
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(bin), "lib", "timescaledb.so")); err != nil {
		return nil, ErrNoTimescaleDB
	}
	p, err := startPostgreSQL(bin, append([]string{"shared_preload_libraries=timescaledb", "timescaledb.telemetry_level=off"}, settings...))
	if err != nil {
		return nil, err
	}
	if err := p.Extend("voltbus"); err != nil {
		return nil, errors.Join(err, p.Remove())
	}
	return p, nil
}

// Extend makes the extension in a further database of a server that StartTimescaleDB started.
func (p *PostgreSQL) Extend(database string) error {
	return p.run("psql", "-X", "-q", "-h", p.dir, "-p", p.port(), "-U", "postgres", "-c", "CREATE EXTENSION timescaledb", database)
}
