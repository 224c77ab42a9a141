package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/testing/peers"
)

func database(server *peers.PostgreSQL) string {
	return listenAnywhere + "store: {engine: postgres, url: '" + server.URL("voltbus", "voltbus") + "', password_file: password}\n"
}

// withPassword returns a directory that holds the file with the database's password.
func withPassword(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "password"), []byte("hush-hush\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWhileTheDatabaseIsAwayTheLedgerShowsABacklogAndAfterwardsEverySampleIsThereOnce(t *testing.T) {
	t.Parallel()
	server := peers.StartedPostgreSQL(t)
	dir := withPassword(t)
	cfg := load(t, dir, database(server))
	r := run(t, cfg)
	r.record(numbers("p", 0, 100))
	eventually(t, "the ledger says that the database has the samples", func() bool { return r.ledger().Origins[0].Stored == 100 })
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	r.record(numbers("p", 100, 50))
	eventually(t, "the ledger shows the backlog", func() bool {
		l := r.ledger()
		return l.State == "backlog" && l.Origins[0].BacklogSamples == 50 && strings.Contains(l.Reason, "PostgreSQL")
	})
	r.halt()

	again := run(t, cfg) // while the database is still away
	again.record(numbers("p", 150, 50))
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the ledger balances", func() bool {
		l := again.ledger()
		o := l.Origins[0]
		return l.State == "ok" && o.Stored == 200 && o.BacklogSamples == 0 && o.Missing == 0 && o.Balanced
	})
	if n := again.stored("p"); n != 200 {
		t.Errorf("%d samples are stored, want 200", n)
	}
}

func TestANewNodeDoesNotStartWithoutItsDatabaseBecauseItsNumbersMayBeUsed(t *testing.T) {
	dir := withPassword(t)
	n, err := open(load(t, dir, listenAnywhere+"store: {engine: postgres, url: 'postgres:///voltbus?host="+dir+"', password_file: password}\n"))
	if err == nil {
		_ = n.Close()
		t.Fatal("it started")
	}
	if text := err.Error(); !strings.Contains(text, "start it, or correct store.url") || strings.Contains(text, "hush-hush") {
		t.Errorf("the error is %q", text)
	}
}
