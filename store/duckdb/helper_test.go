package duckdb_test

import (
	"testing"

	"voltbus/store/duckdb/engine"
)

// changeDatabase runs a statement in a database that no store has open.
func changeDatabase(t *testing.T, file, statement string, args ...any) {
	t.Helper()
	db, err := engine.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c, err := db.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Exec(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}
