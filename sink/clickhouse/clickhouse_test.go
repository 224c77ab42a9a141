package clickhouse_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"voltbus/point"
	"voltbus/sink/clickhouse"
	"voltbus/sink/destination"
	"voltbus/sink/setting"
	"voltbus/sink/sinktest"
	"voltbus/testing/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask returns the answer of the server to a statement, "" after an error.
func ask(t testing.TB, server *peers.Server, statement string) string {
	t.Helper()
	answer, err := http.Post("http://"+server.Addr, "text/plain", strings.NewReader(statement)) //nolint:gosec // on loopback
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return ""
	}
	return string(text)
}

func peer(t testing.TB, server *peers.Server, table string) *sinktest.Peer {
	t.Helper()
	return &sinktest.Peer{
		Entry: setting.Sink{URL: "http://" + server.Addr, Into: table}, Kind: clickhouse.Kind(), Late: true,
		Kill: server.Kill, Start: func() { server.Start(t) },
		Read: func(t testing.TB) map[string]string {
			found := map[string]string{}
			for line := range strings.Lines(ask(t, server, "SELECT point, toUnixTimestamp64Micro(time)::Float64 AS micro, value, text, quality FROM "+table+" FINAL")) {
				var row struct {
					Point, Text, Quality string
					Micro, Value         float64
				}
				if err := json.Unmarshal([]byte(line), &row); err != nil {
					t.Fatal(err, line)
				}
				if !strings.HasPrefix(row.Quality, "bad") {
					found[sinktest.Key(row.Point, int64(row.Micro))] = sinktest.Text(row.Value, row.Text)
				}
			}
			return found
		},
	}
}

func TestRowsOfClickHouse(t *testing.T) {
	server, n := peers.StartClickHouse(t), 0
	sinktest.Run(t, func(t *testing.T) *sinktest.Peer {
		n++
		return peer(t, server, fmt.Sprint("t", n))
	})
	t.Run("a table that was dropped is made anew", func(t *testing.T) {
		p, log := peer(t, server, "gone"), sinktest.NewLog()
		r := sinktest.Open(t, t.TempDir(), log, nil, p)
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)))
		r.Until(t, "the first is sent", func(s *destination.State) bool { return s.Sent == 1 })
		ask(t, server, "DROP TABLE gone")
		log.Add(t, sinktest.At("plant/a", 2, point.IntOf(1<<60+1)))
		r.Until(t, "the second is sent", func(s *destination.State) bool { return s.Sent == 2 && s.Err == nil })
		if got := ask(t, server, "SELECT exact FROM gone"); !strings.Contains(got, "1152921504606846977") {
			t.Errorf("there is %s", got)
		}
	})
	t.Run("a column of another type refuses readings, which are kept", func(t *testing.T) {
		p, log := peer(t, server, "narrow"), sinktest.NewLog()
		ask(t, server, "CREATE TABLE narrow (point String, time DateTime64(6, 'UTC'), value Nullable(Float64), exact Nullable(Int64), text Nullable(UInt8), quality String, unit String) ENGINE = MergeTree ORDER BY time")
		r := sinktest.Open(t, t.TempDir(), log, nil, p)
		log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(1)), sinktest.At("plant/mode", 2, point.TextOf("heat")), sinktest.At("plant/b", 3, point.FloatOf(3)))
		r.Until(t, "one is refused", func(s *destination.State) bool { return s.Sent == 2 && s.Kept == 1 })
	})
}

func BenchmarkCatchUp(b *testing.B) {
	server, n := peers.StartClickHouse(b), 0
	sinktest.CatchUp(b, func() *sinktest.Peer {
		n++
		return peer(b, server, fmt.Sprint("t", n))
	})
}
