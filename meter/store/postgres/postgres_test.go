package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"voltbus/meter/store"
	"voltbus/meter/store/metertest"
	"voltbus/meter/store/postgres"
	"voltbus/store/postgres/connection"
	"voltbus/testing/peers"
)

// server is shared by the tests that do not end it. It does not flush: no test cuts its power.
var server *peers.PostgreSQL

func TestMain(m *testing.M) {
	var err error
	server, err = peers.StartPostgreSQL("fsync=off", "max_locks_per_transaction=256")
	if errors.Is(err, peers.ErrNoCitus) {
		fmt.Println("NOT TESTED:", err)
		os.Exit(0)
	}
	if err != nil && !errors.Is(err, peers.ErrNoPostgreSQL) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if server != nil {
		if err := server.Remove(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

var schemas atomic.Int32

// options are those of an empty schema of the shared server.
func options(t testing.TB) postgres.Options {
	t.Helper()
	if server == nil {
		t.Skipf("NOT TESTED: %v", peers.ErrNoPostgreSQL)
	}
	return postgres.Options{
		Settings: connection.Settings{URL: server.URL("voltbus", "voltbus"), Schema: "test_" + strconv.Itoa(int(schemas.Add(1)))},
		Writer:   "mds-1", Zone: time.UTC,
	}
}

// engine opens stores in schemas of the shared server, one for each directory.
func engine(t *testing.T, with func(*postgres.Options)) metertest.Engine {
	t.Helper()
	options(t) // skips without a server
	var mu sync.Mutex
	schemaOf, last := map[string]string{}, ""
	lastSchema := func() string {
		mu.Lock()
		defer mu.Unlock()
		return last
	}
	asking := func(store.Store) metertest.Query {
		return func(t *testing.T, statement string) [][]any { return ask(t, lastSchema(), statement) }
	}
	return metertest.Engine{Durable: true, Progress: func(s store.Store) store.Progressive { return s.(*postgres.Store) }, SQL: asking, Open: func(tb testing.TB, dir string, zone *time.Location, now func() time.Time) store.Store {
		tb.Helper()
		o := options(tb)
		mu.Lock()
		if schemaOf[dir] == "" {
			schemaOf[dir] = o.Schema
		}
		o.Schema = schemaOf[dir]
		last = o.Schema
		mu.Unlock()
		o.Zone, o.Now = zone, now
		with(&o)
		s, err := postgres.Open(tb.Context(), o)
		if err != nil {
			tb.Fatal(err)
		}
		return s
	}}
}

// ask asks the views of a schema.
func ask(t *testing.T, schema, statement string) (list [][]any) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), server.URL("voltbus", "voltbus"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }() // nothing is lost
	if _, err := c.Exec(t.Context(), "SET jit = off; SET search_path = "+schema); err != nil {
		t.Fatal(err)
	}
	rows, err := c.Query(t.Context(), statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, values)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return list
}

func TestPostgreSQLKeepsThePromisesOfAMeteringStore(t *testing.T) {
	metertest.Run(t, engine(t, func(*postgres.Options) {}))
}

func TestStoreThatJudgesInSmallBlocks(t *testing.T) {
	metertest.Run(t, engine(t, func(o *postgres.Options) { o.Cells, o.Slice = 1, 1 }))
}
