// Package parquet makes Parquet files of readings: a table in CSV, which the engine converts without holding it in memory.
package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"voltbus/fault"
	"voltbus/meter/store/duckdb/heal"
)

// Folder holds files while they are made, in the folder of a store.
const Folder = "exports"

// Clear removes what a crash left.
func Clear(dir string) error { return os.RemoveAll(filepath.Join(dir, Folder)) }

// types are the columns of a table of readings, by the names of its header.
const types = "{'meter': 'VARCHAR', 'channel': 'INTEGER', 'end': 'TIMESTAMPTZ', 'value': 'DOUBLE', 'unit': 'VARCHAR', 'stage': 'VARCHAR', " +
	"'status': 'VARCHAR', 'recorded': 'TIMESTAMPTZ', 'who': 'VARCHAR', 'rule': 'VARCHAR', 'reason': 'VARCHAR'}"

// Write has fill write a table as CSV into the folder of a store, has exec convert it, and writes the Parquet file to w.
func Write(ctx context.Context, dir string, exec func(ctx context.Context, statement string) error, fill func(io.Writer) error, w io.Writer) (err error) {
	const op = "metering.Parquet"
	folder := filepath.Join(dir, Folder)
	if err = os.MkdirAll(folder, 0o750); err == nil {
		folder, err = os.MkdirTemp(folder, "")
	}
	if err != nil {
		return fault.E(op, fault.Unavailable, folder, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	from, to := filepath.Join(folder, "readings.csv"), filepath.Join(folder, "readings.parquet")
	if err := written(from, fill); err != nil {
		return err
	}
	if err := exec(ctx, fmt.Sprintf("COPY (SELECT * FROM read_csv(%s, header=true, delim=',', quote='\"', escape='\"', columns=%s)) TO %s (FORMAT parquet, COMPRESSION zstd)",
		heal.Quoted(from), types, heal.Quoted(to))); err != nil {
		return err
	}
	f, err := os.Open(to)
	if err != nil {
		return fault.E(op, fault.Internal, folder, err)
	}
	defer f.Close()
	if _, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{f}, make([]byte, 256<<10)); err != nil { // piece by piece: each has its deadline
		return fault.E(op, fault.Canceled, "", err)
	}
	return nil
}

func written(name string, fill func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return fault.E("metering.Parquet", fault.Unavailable, name, err)
	}
	return errors.Join(fill(f), f.Close())
}
