package node_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/api/client"
	"voltbus/internal/sqlite"
	"voltbus/operation"
	"voltbus/operation/sinks"
	"voltbus/point"
	"voltbus/testing/peers"
)

// countRows returns how many rows a table of SQLite has, 0 if it is not there yet.
func countRows(t testing.TB, file string) (n int) {
	t.Helper()
	db, err := sqlite.Open(file, sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM readings").Scan(&n); err != nil && !strings.Contains(err.Error(), "no such") { // neither file nor table yet
		t.Fatal(err)
	}
	return n
}

func countRemote(t testing.TB, server *peers.Server) (n int) {
	t.Helper()
	db, err := sql.Open("mysql", peers.MariaUser+":"+peers.MariaPassword+"@tcp("+server.Addr+")/"+peers.MariaDatabase)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM readings").Scan(&n); err != nil && !strings.Contains(err.Error(), "doesn't exist") {
		t.Log(err)
	}
	return n
}

// Two destinations: while one is away the other goes on, health says so, and in the end both have everything.
func TestADestinationThatWasAwayGetsEverythingAndHoldsNothingUp(t *testing.T) {
	t.Parallel()
	server, dir := peers.StartMariaDB(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "password"), []byte(peers.MariaPassword), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "out.sqlite")
	r := run(t, load(t, dir, listenAnywhere+fmt.Sprintf(`
sinks:
  - {name: file, kind: sqlite, into: %q, points: ["plant/**"]}
  - {name: database, kind: mysql, url: "mysql://%s/%s", user: %s, password_file: password, into: readings, points: ["plant/**"]}
`, file, server.Addr, peers.MariaDatabase, peers.MariaUser)))
	begun := time.Now().UTC().Truncate(time.Millisecond)
	record := func(from, n int) {
		t.Helper()
		var list []point.Sample
		for i := from; i < from+n; i++ {
			list = append(list, point.Sample{Point: "plant/n", Time: begun.Add(time.Duration(i) * time.Millisecond), Value: point.IntOf(int64(i))})
		}
		if err := r.Record(wait(t), append(list, point.Sample{Point: "other/x", Time: time.Now(), Value: point.IntOf(9)})); err != nil {
			t.Fatal(err)
		}
	}
	state := func(i int) sinks.SinkState {
		list, err := client.Do(wait(t), r.Client, sinks.List, struct{}{})
		if err != nil || len(list.Sinks) != 2 {
			t.Fatal(list, err)
		}
		return list.Sinks[i]
	}
	record(0, 10)
	eventually(t, "both have the first", func() bool { return countRows(t, file) == 10 && countRemote(t, server) == 10 })
	server.Kill()
	record(10, 10)
	eventually(t, "one goes on, and the other is told", func() bool {
		away := state(1)
		return countRows(t, file) == 20 && away.State == "paused" && away.Waiting > 0 && strings.Contains(away.Reason, "nothing listens there")
	})
	if h := r.Node.Health(wait(t)); !strings.Contains(fmt.Sprint(h.Concerns), `Nothing is sent to the destination \"database\"`) && !strings.Contains(fmt.Sprint(h.Concerns), `Nothing is sent to the destination "database"`) {
		t.Errorf("health says %v", h.Concerns)
	}
	server.Start(t)
	eventually(t, "both have all", func() bool { s := state(1); return countRemote(t, server) == 20 && s.State == "ok" && s.Sent == 20 })
	if err := client.Tell(wait(t), r.Client, sinks.Backfill, sinks.Span{Sink: "database", From: operation.Time("now-1d")}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the history is sent once more, and each reading is there once", func() bool { return state(1).Filled == 20 && countRemote(t, server) == 20 })
	if err := client.Tell(wait(t), r.Client, sinks.Backfill, sinks.Span{Sink: "nobody", From: "now-1d"}); err == nil || !strings.Contains(err.Error(), "voltbus sinks list") {
		t.Errorf("a destination that does not exist: %v", err)
	}
}
