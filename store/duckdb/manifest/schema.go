// Package manifest manages the tables that describe the content of a store: how far each origin is stored, what was set aside, and counts
// that cannot be derived from the samples.
package manifest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/snapshot"
)

// version is the layout of the database file, documented in docs/formats/store.md.
const version = 4

// schema creates the tables of an empty database. There are no keys: a key costs DuckDB nine tenths of its
// speed, and the store itself is the only writer.
const schema = `
CREATE TABLE IF NOT EXISTS schema_version(version INTEGER);
CREATE TABLE IF NOT EXISTS points(id UINTEGER, path VARCHAR);
CREATE TABLE IF NOT EXISTS positions(origin VARCHAR, sequence UBIGINT, samples UBIGINT, stored UBIGINT,
	repeated UBIGINT, missing UBIGINT, refused UBIGINT, time TIMESTAMP, left_out UBIGINT);
CREATE TABLE IF NOT EXISTS log_cursor(log VARCHAR, sequence UBIGINT);
CREATE TABLE IF NOT EXISTS gaps(number UBIGINT, origin VARCHAR, first UBIGINT, last UBIGINT, samples UBIGINT,
	reason VARCHAR, noticed TIMESTAMP);
CREATE TABLE IF NOT EXISTS days(day INTEGER, date DATE, file VARCHAR, rows UBIGINT, bytes BIGINT, checksum UBIGINT,
	stored VARCHAR, disordered BOOLEAN, generation UINTEGER);
CREATE TABLE IF NOT EXISTS damaged(file VARCHAR, day INTEGER, days INTEGER, reason VARCHAR, noticed TIMESTAMP);
CREATE TABLE IF NOT EXISTS latest(id UINTEGER, time TIMESTAMP, value DOUBLE, exact BIGINT, text VARCHAR,
	kind UTINYINT, quality UTINYINT);
CREATE TABLE IF NOT EXISTS counters(replaced UBIGINT, expired UBIGINT);
ALTER TABLE counters ADD COLUMN IF NOT EXISTS overwritten UBIGINT DEFAULT 0;
` + snapshot.Schema

// ErrVersion says that the database was written by an incompatible program.
var ErrVersion = errors.New("the history has a layout that this program does not know")

// Prepare creates the tables of an empty database, all or none, and refuses a database of another version.
func Prepare(ctx context.Context, c *engine.Conn) error {
	return c.Transact(ctx, func() error { return makeTables(ctx, c) })
}

func makeTables(ctx context.Context, c *engine.Conn) error {
	for statement := range strings.SplitSeq(schema, ";") {
		if err := c.Exec(ctx, statement); err != nil {
			return err
		}
	}
	found := int32(0)
	err := c.Query(ctx, "SELECT version FROM schema_version", func(ch *engine.Chunk) error {
		found = engine.Numbers[int32](ch, 0)[0]
		return nil
	})
	if err != nil {
		return err
	}
	switch found {
	case version:
		return nil
	case version - 1:
		return takeStep(ctx, c)
	case 0:
		for _, statement := range []string{
			"INSERT INTO counters VALUES (0, 0, 0)", "INSERT INTO log_cursor VALUES ('', 0)",
			fmt.Sprintf("INSERT INTO schema_version VALUES (%d)", version),
		} {
			if err := c.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%w: it has version %d, this program knows version %d; use the program that wrote it", ErrVersion, found, version)
}

// takeStep upgrades the database from the previous version to this one.
func takeStep(ctx context.Context, c *engine.Conn) error {
	if err := c.Exec(ctx, "ALTER TABLE positions ADD COLUMN left_out UBIGINT DEFAULT 0"); err != nil {
		return err
	}
	return c.Exec(ctx, fmt.Sprintf("UPDATE schema_version SET version = %d", version))
}

// Confine keeps every later statement of the database to the store's own directories.
func Confine(ctx context.Context, c *engine.Conn, dir string) error {
	for _, statement := range []string{
		"SET GLOBAL parquet_metadata_cache=true", // a day's file never changes under its name
		"SET allowed_directories=[" + engine.Quote(dir+"/days/") + "," + engine.Quote(dir+"/tmp/") + "]",
		"SET enable_external_access=false",
		"SET lock_configuration=true",
	} {
		if err := c.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
