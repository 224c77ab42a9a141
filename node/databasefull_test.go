package node_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"voltbus/config"
	"voltbus/internal/fulldisk"
	"voltbus/testing/peers"
)

// tablesOnDisk starts a server whose database "small" lies on the disk, and nothing else.
func tablesOnDisk(t *testing.T, disk string) (*peers.PostgreSQL, *config.Config) {
	t.Helper()
	server := peers.StartedPostgreSQL(t)
	var like syscall.Stat_t
	if err := syscall.Stat(strings.TrimSpace(server.Query(t, "SHOW data_directory")), &like); err != nil {
		t.Fatal(err)
	}
	tables := filepath.Join(disk, "tables")
	if err := errors.Join(os.Mkdir(tables, 0o700), os.Chown(tables, int(like.Uid), int(like.Gid))); err != nil {
		t.Fatal(err)
	}
	server.Query(t, "CREATE TABLESPACE small LOCATION '"+tables+"'")
	server.Query(t, "CREATE DATABASE small OWNER voltbus TABLESPACE small TEMPLATE template0")
	if os.Getenv(peers.TimescaleEnv) != "" {
		if err := server.Extend("small"); err != nil {
			t.Fatal(err)
		}
	}
	text := listenAnywhere + "store: {engine: postgres, url: '" + server.URL("voltbus", "small") + "', password_file: password}\n"
	return server, load(t, withPassword(t), text)
}

// serverOnDisk starts a server all of which lies on the disk, what it writes ahead too.
func serverOnDisk(t *testing.T, disk string) (*peers.PostgreSQL, *config.Config) {
	t.Helper()
	dir := withPassword(t)
	t.Setenv("TMPDIR", disk)
	server := peers.StartedPostgreSQL(t)
	return server, load(t, dir, database(server))
}

func TestWhenTheDisksOfTheDatabaseAreFullTheNodeSaysSoAndGoesOnWhenThereIsRoom(t *testing.T) {
	for name, tt := range map[string]struct {
		size  string
		begin func(*testing.T, string) (*peers.PostgreSQL, *config.Config)
		says  string
	}{
		"of its tables": {"64m", tablesOnDisk, "the server's disk is full; make room there"},
		"of all it has": {"256m", serverOnDisk, "PostgreSQL"}, // a server that cannot write ahead ends
	} {
		t.Run(name, func(t *testing.T) {
			disk := fulldisk.Mount(t, tt.size)
			server, cfg := tt.begin(t, disk)
			r := run(t, cfg)
			const portion = 40_000
			r.record(numbers("p", 0, portion))
			eventually(t, "the first samples are stored", func() bool { return r.ledger().Origins[0].Stored == portion })
			ballast := fulldisk.Fill(t, disk)
			r.record(numbers("p", portion, portion))
			eventually(t, "the ledger says why samples wait", func() bool {
				l := r.ledger()
				return l.State == "backlog" && l.Origins[0].BacklogSamples > 0 && strings.Contains(l.Reason, tt.says)
			})
			r.record(numbers("p", 2*portion, portion)) // which waits too
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
			if err := server.Start(); err != nil { // if it has ended
				t.Fatal(err)
			}
			eventually(t, "the ledger balances", func() bool {
				l := r.ledger()
				o := l.Origins[0]
				return l.State == "ok" && o.Stored == 3*portion && o.BacklogSamples == 0 && o.Missing+o.Repeated == 0 && o.Balanced
			})
			if n := r.stored("p"); n != 3*portion {
				t.Errorf("%d samples are stored, want %d", n, 3*portion)
			}
		})
	}
}
