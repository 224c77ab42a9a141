//go:build !cgo

package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"

	engine "modernc.org/sqlite"
)

// connect returns connections to a file by the engine in Go, for programs without C.
func connect(file string, o Options) (driver.Connector, error) {
	query := "?_pragma=busy_timeout(5000)"
	if o.ReadOnly {
		query += "&mode=ro"
	} else {
		query += "&_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	}
	if o.ForeignKeys {
		query += "&_pragma=foreign_keys(1)"
	}
	if o.Checkpoint != 0 {
		query += fmt.Sprintf("&_pragma=wal_autocheckpoint(%d)", o.Checkpoint)
	}
	return engine.NewConnector(file + query)
}

// codeOf returns SQLite's code of an error, without what extends it.
func codeOf(err error) (code int, is bool) {
	e, is := errors.AsType[*engine.Error](err)
	if !is {
		return 0, false
	}
	return e.Code() & 0xff, true
}
