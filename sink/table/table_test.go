package table_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"voltbus/internal/sqlite"
	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/setting"
	"voltbus/sink/sinktest"
	"voltbus/sink/table"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// read returns the rows of a table.
func read(t testing.TB, db *sql.DB, name string) map[string]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT point, time, COALESCE(value, 0), COALESCE(text, ''), quality FROM "+name)
	if err != nil {
		t.Log(err)
		return nil
	}
	defer rows.Close()
	found := map[string]string{}
	for rows.Next() {
		var path, at, text, quality string
		var value float64
		if err := rows.Scan(&path, &at, &value, &text, &quality); err != nil {
			t.Fatal(err)
		}
		when, err := time.Parse("2006-01-02 15:04:05.999999", at)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(quality, "bad") {
			found[sinktest.Key(path, when.UnixMicro())] = sinktest.Text(value, text)
		}
	}
	return found
}

func TestAFileOfSQLite(t *testing.T) {
	sinktest.Run(t, func(t *testing.T) *sinktest.Peer {
		file := filepath.Join(t.TempDir(), "out.db")
		return &sinktest.Peer{
			Entry: setting.Sink{Into: file}, Kind: table.SQLite(), Late: true,
			Read: func(t testing.TB) map[string]string {
				db, err := sqlite.Open(file, sqlite.Options{ReadOnly: true})
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				return read(t, db, "readings")
			},
		}
	})
}

// maria returns a destination of its own in a server.
func maria(t testing.TB, server *peers.Server, name string) *sinktest.Peer {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secret, []byte(peers.MariaPassword+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &sinktest.Peer{
		Entry: setting.Sink{URL: "mysql://" + server.Addr + "/" + peers.MariaDatabase, User: peers.MariaUser, PasswordFile: secret, Into: name},
		Kind:  table.MySQL(), Late: true, Kill: server.Kill, Start: func() { server.Start(t) },
		Read: func(t testing.TB) map[string]string {
			db := open(t, server)
			defer db.Close()
			return read(t, db, name)
		},
	}
}

func open(t testing.TB, server *peers.Server) *sql.DB {
	t.Helper()
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName, c.Logger = peers.MariaUser, peers.MariaPassword, "tcp", server.Addr, peers.MariaDatabase, &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	return sql.OpenDB(connector)
}

func TestATableOfMariaDB(t *testing.T) {
	server := peers.StartMariaDB(t)
	n := 0
	sinktest.Run(t, func(t *testing.T) *sinktest.Peer {
		n++
		return maria(t, server, fmt.Sprint("t", n))
	})
	t.Run("a reading that does not fit is refused and kept, and is sent again when the table was changed", func(t *testing.T) {
		p := maria(t, server, "narrow")
		db := open(t, server)
		defer db.Close()
		statement := "CREATE TABLE narrow (point VARCHAR(10), time DATETIME(6), value DOUBLE, exact BIGINT, text TEXT, quality VARCHAR(32), unit VARCHAR(32), PRIMARY KEY (point, time))"
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		log := sinktest.NewLog()
		r := sinktest.Open(t, t.TempDir(), log, nil, p)
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)), sinktest.At("plant/a-long-name", 2, point.FloatOf(2)), sinktest.At("plant/b", 3, point.FloatOf(3)))
		r.Until(t, "one is refused", func(s *destination.State) bool { return s.Sent == 2 && s.Counts.Refused == 1 && s.Kept == 1 })
		list, err := r.Refused("there", 0, 10)
		if err != nil || len(list) != 1 || list[0].Point != "plant/a-long-name" || !strings.Contains(list[0].Reason, "too long") {
			t.Fatalf("refused: %+v %v", list, err)
		}
		if _, err := db.ExecContext(t.Context(), "ALTER TABLE narrow MODIFY point VARCHAR(255)"); err != nil {
			t.Fatal(err)
		}
		n, err := r.Resend(t.Context(), "there")
		if s := r.State(t); err != nil || n != 1 || s.Kept != 0 || s.Accepted != 1 {
			t.Errorf("resend: %d %v, %+v", n, err, s)
		}
		if got := p.Read(t); len(got) != 3 {
			t.Errorf("there are %v", got)
		}
	})
	t.Run("a wrong password is told in a sentence", func(t *testing.T) {
		p := maria(t, server, "closed")
		p.Entry.User = "nobody"
		log := sinktest.NewLog()
		r := sinktest.Open(t, t.TempDir(), log, nil, p)
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)))
		r.Until(t, "it is told", func(s *destination.State) bool {
			return s.Err != nil && strings.Contains(s.Problem(), `does not accept the user "nobody" or the password; look at user and password_file`)
		})
	})
}

func BenchmarkCatchUpMariaDB(b *testing.B) {
	server, n := peers.StartMariaDB(b), 0
	sinktest.CatchUp(b, func() *sinktest.Peer {
		n++
		return maria(b, server, fmt.Sprint("t", n))
	})
}

func BenchmarkCatchUpSQLite(b *testing.B) {
	sinktest.CatchUp(b, func() *sinktest.Peer {
		return &sinktest.Peer{Entry: setting.Sink{Into: filepath.Join(b.TempDir(), "out.db")}, Kind: table.SQLite()}
	})
}
