package node_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"voltbus/config"
	"voltbus/testing/peers"
)

// smallShelf returns a disk in memory of so many megabytes that every user may enter.
func smallShelf(t *testing.T, size string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "vb-disk-") //nolint:usetesting // short, and another user must reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("NOT TESTED: a full disk needs the right to mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	return dir
}

// fill takes all the room of a disk, and returns the file that does.
func fill(t *testing.T, disk string) string {
	t.Helper()
	name := filepath.Join(disk, "ballast")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for piece := make([]byte, 64<<10); err == nil; {
		_, err = f.Write(piece)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return name
}

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
			disk := smallShelf(t, tt.size)
			server, cfg := tt.begin(t, disk)
			r := run(t, cfg)
			const portion = 40_000
			r.record(numbers("p", 0, portion))
			eventually(t, "the first samples are stored", func() bool { return r.ledger().Origins[0].Stored == portion })
			ballast := fill(t, disk)
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
