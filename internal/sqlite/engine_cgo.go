//go:build cgo

package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/mattn/go-sqlite3"
)

// connect returns connections to a file by the engine in C.
func connect(file string, o Options) (driver.Connector, error) {
	query := "?_busy_timeout=5000"
	if o.ReadOnly {
		query += "&mode=ro"
	} else {
		query += "&_txlock=immediate&_journal_mode=WAL&_synchronous=FULL"
	}
	if o.ForeignKeys {
		query += "&_foreign_keys=1"
	}
	return &connector{source: file + query, options: o}, nil
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

// codeOf returns SQLite's code of an error, without what extends it.
func codeOf(err error) (code int, is bool) {
	e, is := errors.AsType[sqlite3.Error](err)
	return int(e.Code), is
}
