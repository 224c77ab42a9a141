package peers

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// ErrNoCitus is the error of StartCitus on a machine without the extension.
var ErrNoCitus = errors.New("the extension Citus is not installed for this machine's newest PostgreSQL: see docs/guides/meters.md")

// CitusEnv is the variable that, if it is not empty, makes every server of this package one with Citus.
const CitusEnv = "VOLTBUS_CITUS"

// StartedCitus is StartedPostgreSQL for a server whose database "voltbus" has the extension Citus, with one node: the server itself. The
// test is skipped, loudly, where that is not installed.
func StartedCitus(t testing.TB, settings ...string) *PostgreSQL {
	t.Helper()
	return started(t, func() (*PostgreSQL, error) { return StartCitus(settings...) })
}

// StartCitus is StartPostgreSQL with the extension Citus.
func StartCitus(settings ...string) (*PostgreSQL, error) {
	bin := postgreSQLPrograms()
	if bin == "" {
		return nil, ErrNoPostgreSQL
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(bin), "lib", "citus.so")); err != nil {
		return nil, ErrNoCitus
	}
	// Its connections to itself go over the socket, as those of everybody.
	p, err := startPostgreSQL(bin, append([]string{"shared_preload_libraries=citus", "citus.local_hostname=" + socketFolder, "citus.enable_statistics_collection=off"}, settings...))
	if err != nil {
		return nil, err
	}
	if err := p.run("psql", "-X", "-q", "-h", p.dir, "-p", p.port(), "-U", "postgres", "-c", "CREATE EXTENSION citus", "voltbus"); err != nil {
		return nil, errors.Join(err, p.Remove())
	}
	return p, nil
}
