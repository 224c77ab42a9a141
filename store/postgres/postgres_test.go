package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/point"
	"voltbus/store"
	"voltbus/store/postgres"
	"voltbus/store/storetest"
	"voltbus/testing/peers"
)

// server is shared by the tests that do not end it. It does not flush: no test cuts its power.
var server *peers.PostgreSQL

func TestMain(m *testing.M) {
	var err error
	server, err = peers.StartPostgreSQL("fsync=off", "max_locks_per_transaction=256")
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

// fresh returns options for an empty schema of the shared server.
func fresh(t testing.TB) postgres.Options {
	t.Helper()
	if server == nil {
		t.Skipf("NOT TESTED: %v", peers.ErrNoPostgreSQL)
	}
	return postgres.Options{
		URL: server.URL("voltbus", "voltbus"), Writer: "edge-1",
		Schema: "test_" + strconv.Itoa(int(schemas.Add(1))),
	}
}

// open opens a store that must open, and closes it when the test ends.
func open(t testing.TB, o postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestPostgreSQLKeepsThePromisesOfAStore(t *testing.T) {
	storetest.Run(t, func(t testing.TB, r store.Retention) func() store.Store {
		o := fresh(t)
		o.Retention = r
		return func() store.Store {
			s, err := postgres.Open(t.Context(), o)
			if err != nil {
				t.Fatalf("open: %v", err)
			}
			return s
		}
	})
}

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// block is block n of an origin: samples of one point, a second apart, whose values count on.
func block(origin string, n uint64, samples int) *point.Block {
	b := &point.Block{
		Origin: origin, Sequence: n, Before: (n - 1) * uint64(samples), Created: noon(),
		Log: "log of " + origin, LogSequence: n, Points: []point.Path{point.Path(origin + "/p")},
	}
	for i := range samples {
		k := int64(n-1)*int64(samples) + int64(i)
		b.Append(0, &point.Sample{Time: noon().Add(time.Duration(k) * time.Second), Value: point.IntOf(k)})
	}
	return b
}
