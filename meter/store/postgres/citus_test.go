package postgres_test

import (
	"strings"
	"testing"
	"time"

	"voltbus/meter/store"
	"voltbus/meter/store/metertest"
	"voltbus/meter/store/postgres"
	"voltbus/store/postgres/connection"
	"voltbus/testing/peers"
)

// With Citus, tables with readings are spread over its machines, and small ones are copied to each.
func TestWithCitusTheTablesAreSpread(t *testing.T) {
	p := peers.StartedCitus(t, "fsync=off")
	s, err := postgres.Open(t.Context(), postgres.Options{
		Settings: connection.Settings{URL: p.URL("voltbus", "voltbus"), Schema: "spread"}, Writer: "mds-1", Zone: time.UTC,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	const count = "SELECT count(*) FROM citus_tables WHERE table_name::text LIKE 'spread.%' AND citus_table_type = "
	if got := strings.TrimSpace(p.Query(t, count+"'distributed'")); got != "5" {
		t.Errorf("%s tables are distributed, want 5", got)
	}
	if got := strings.TrimSpace(p.Query(t, count+"'reference'")); got != "8" {
		t.Errorf("%s are reference tables, want 8", got)
	}
}

func TestWithCitusTheStoreKeepsItsPromises(t *testing.T) {
	p := peers.StartedCitus(t, "fsync=off")
	schemaOf := map[string]string{}
	metertest.Run(t, metertest.Engine{Durable: true, Open: func(tb testing.TB, dir string, zone *time.Location, now func() time.Time) store.Store {
		tb.Helper()
		if schemaOf[dir] == "" {
			schemaOf[dir] = options(tb).Schema
		}
		s, err := postgres.Open(tb.Context(), postgres.Options{
			Settings: connection.Settings{URL: p.URL("voltbus", "voltbus"), Schema: schemaOf[dir]}, Writer: "mds-1", Zone: zone, Now: now,
		})
		if err != nil {
			tb.Fatal(err)
		}
		return s
	}})
}
