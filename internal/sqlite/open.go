package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/mattn/go-sqlite3"
)

// Options tell how a file is opened.
type Options struct {
	ReadOnly    bool // statements that write fail
	ForeignKeys bool // references to other tables are checked
	Checkpoint  int  // pages of the write-ahead log after which they are written back; 0: SQLite's 1,000
}

// Open returns connections to the file; the first use opens it. Each waits up to five seconds for another program.
// Unless read-only, transactions begin with the write lock, and committed data is on disk, in a write-ahead log.
func Open(file string, o Options) (*sql.DB, error) {
	name, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	query := "?_busy_timeout=5000"
	if o.ReadOnly {
		query += "&mode=ro"
	} else {
		query += "&_txlock=immediate&_journal_mode=WAL&_synchronous=FULL"
	}
	if o.ForeignKeys {
		query += "&_foreign_keys=1"
	}
	source := (&url.URL{Scheme: "file", Path: filepath.ToSlash(name)}).String() + query
	return sql.OpenDB(&connector{source: source, options: o}), nil
}

// connector opens connections with settings that a data source name cannot express.
type connector struct {
	engine  sqlite3.SQLiteDriver
	source  string
	options Options
}

func (c *connector) Driver() driver.Driver { return &c.engine }

func (c *connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.engine.Open(c.source)
	if err != nil || c.options.Checkpoint == 0 {
		return conn, err
	}
	set := fmt.Sprintf("PRAGMA wal_autocheckpoint = %d", c.options.Checkpoint)
	if _, err := conn.(*sqlite3.SQLiteConn).Exec(set, nil); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}
