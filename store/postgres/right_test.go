package postgres_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"voltbus/store/postgres"
	"voltbus/testing/peers"
)

// asSuperuser runs statements in a database of the shared server.
func asSuperuser(t *testing.T, database string, statements ...string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // also at the end of a test
	conn, err := pgx.Connect(ctx, server.URL("postgres", database))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// The rights are those of docs/guides/store-in-postgresql.md.
func TestNodesNeedNoRightsBeyondASchemaAndEachMayHaveALoginOfItsOwn(t *testing.T) {
	o := fresh(t)
	asSuperuser(t, "postgres", "CREATE DATABASE guarded_database", "REVOKE ALL ON DATABASE guarded_database FROM PUBLIC",
		"CREATE ROLE voltbus_nodes", "GRANT CONNECT, TEMPORARY ON DATABASE guarded_database TO voltbus_nodes")
	if os.Getenv(peers.TimescaleEnv) != "" {
		if err := server.Extend("guarded_database"); err != nil {
			t.Fatal(err)
		}
	}
	asSuperuser(t, "guarded_database", "CREATE SCHEMA "+o.Schema+" AUTHORIZATION voltbus_nodes")
	var stores []*postgres.Store
	for _, name := range []string{"plant", "office"} {
		asSuperuser(t, "postgres", "CREATE ROLE "+name+" LOGIN PASSWORD 'right' IN ROLE voltbus_nodes", "ALTER ROLE "+name+" SET role = voltbus_nodes")
		o.URL, o.Writer = server.URL(name, "guarded_database"), name
		o.PasswordFile = filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(o.PasswordFile, []byte("right\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		stores = append(stores, open(t, o))
	}
	appendBlocks(t, stores[0], block("plant", 1, 10))
	appendBlocks(t, stores[1], block("office", 1, 10), block("plant", 1, 10))
	wantEachOnce(t, stores[0], "office", 1, 10)
	wantEachOnce(t, stores[1], "plant", 1, 10)
	if err := stores[1].Maintain(t.Context(), noon().AddDate(0, 0, 3)); err != nil { // partitions that the other has made
		t.Error(err)
	}
	if err := stores[1].SQL(t.Context(), "SELECT count(*) FROM samples", func([]string) error { return nil }, func([]any) error { return nil }); err != nil {
		t.Error(err)
	}
	asSuperuser(t, "guarded_database", "CREATE ROLE analyst LOGIN", "GRANT CONNECT ON DATABASE guarded_database TO analyst",
		"GRANT USAGE ON SCHEMA "+o.Schema+" TO analyst", "GRANT SELECT ON "+o.Schema+".samples, "+o.Schema+".points TO analyst")
	conn, err := pgx.Connect(t.Context(), server.URL("analyst", "guarded_database"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var n int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM "+o.Schema+".samples").Scan(&n); err != nil || n != 20 {
		t.Errorf("another program reads %d samples, error %v", n, err)
	}
	if _, err := conn.Exec(t.Context(), "DELETE FROM "+o.Schema+".sample"); err == nil {
		t.Error("a reader may delete samples")
	}
}
