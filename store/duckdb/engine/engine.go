// Package engine is a thin layer over DuckDB's C interface: databases, connections, statements that stream
// data chunks, and appenders that take columns. It exists because database/sql costs four times as much per
// row as the samples themselves.
package engine

import (
	"errors"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// DB is an open database file. Connect is safe for concurrent use.
type DB struct {
	db duck.Database
}

// Error is an error of DuckDB.
type Error struct {
	Type duck.ErrorType
	Text string // DuckDB's message
}

// Error returns DuckDB's message.
func (e *Error) Error() string { return e.Text }

// Fatal reports whether the error made the database unusable until it is closed and reopened.
func (e *Error) Fatal() bool {
	return e.Type == duck.ErrorTypeFatal || e.Type == duck.ErrorTypeInternal ||
		strings.Contains(e.Text, "database has been invalidated")
}

// Interrupted reports whether the statement was ended by its context.
func (e *Error) Interrupted() bool { return e.Type == duck.ErrorTypeInterrupt }

// AsError returns the DuckDB error in err's chain, or nil.
func AsError(err error) *Error {
	e, _ := errors.AsType[*Error](err)
	return e
}

// Open opens or creates the database file with DuckDB's settings. Close must be called.
func Open(path string, settings map[string]string) (*DB, error) {
	var config duck.Config
	duck.CreateConfig(&config)
	defer duck.DestroyConfig(&config)
	for name, value := range settings {
		if duck.SetConfig(config, name, value) != duck.StateSuccess {
			return nil, &Error{Type: duck.ErrorTypeSettings, Text: "the setting " + name + " does not take " + value}
		}
	}
	d := &DB{}
	var text string
	if duck.OpenExt(path, &d.db, config, &text) != duck.StateSuccess {
		return nil, &Error{Type: errorType(text), Text: text}
	}
	return d, nil
}

// Close closes the database. All its connections must be closed before.
func (d *DB) Close() { duck.Close(&d.db) }

// Connect opens a connection. Close must be called.
func (d *DB) Connect() (*Conn, error) {
	c := &Conn{}
	if duck.Connect(d.db, &c.conn) != duck.StateSuccess {
		return nil, &Error{Type: duck.ErrorTypeConnection, Text: "the database accepts no connection"}
	}
	return c, nil
}

// errorType derives the type from the beginning of a message, for calls that return only a message.
func errorType(text string) duck.ErrorType {
	for prefix, t := range map[string]duck.ErrorType{
		"IO Error":            duck.ErrorTypeErrorIO,
		"FATAL Error":         duck.ErrorTypeFatal,
		"INTERNAL Error":      duck.ErrorTypeInternal,
		"Serialization Error": duck.ErrorTypeSerialization,
		"TransactionContext":  duck.ErrorTypeTransaction,
		"INTERRUPT Error":     duck.ErrorTypeInterrupt,
		"Out of Memory":       duck.ErrorTypeOutOfMemory,
	} {
		if strings.HasPrefix(text, prefix) {
			return t
		}
	}
	return duck.ErrorTypeInvalid
}
