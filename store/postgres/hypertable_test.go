package postgres_test

import (
	"bytes"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/store"
	"voltbus/store/postgres"
	"voltbus/store/storetest"
	"voltbus/testing/peers"
)

// timescale starts a server with TimescaleDB, or skips the test.
func timescale(t *testing.T) (*peers.PostgreSQL, postgres.Options) {
	t.Helper()
	p := peers.StartedTimescaleDB(t, "fsync=off", "max_locks_per_transaction=256")
	return p, postgres.Options{URL: p.URL("voltbus", "voltbus"), Writer: "edge-1", Schema: "history"}
}

func TestHypertablesKeepThePromisesOfAStore(t *testing.T) {
	if os.Getenv(peers.TimescaleEnv) != "" {
		t.Skip("all tests of this package run with hypertables")
	}
	_, o := timescale(t)
	storetest.Run(t, func(t testing.TB, r store.Retention) func() store.Store {
		o := o
		o.Schema, o.Retention = fresh(t).Schema, r
		return func() store.Store {
			s, err := postgres.Open(t.Context(), o)
			if err != nil {
				t.Fatalf("open: %v", err)
			}
			return s
		}
	})
}

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

// queryIn is Query in another database of the server.
func queryIn(t *testing.T, p *peers.PostgreSQL, database, statement string) string {
	t.Helper()
	return strings.TrimSpace(p.QueryIn(t, database, statement))
}

// wantQuery checks what a statement of the superuser prints.
func wantQuery(t *testing.T, p *peers.PostgreSQL, statement, want string) {
	t.Helper()
	if got := strings.TrimSpace(p.Query(t, statement)); got != want {
		t.Errorf("%s: %q, want %q", statement, got, want)
	}
}

const chunks = "SELECT count(*) FROM timescaledb_information.chunks WHERE hypertable_schema = 'history' AND chunk_schema = 'history'"

func TestWithTimescaleDBEachDayIsAChunkAndIsDroppedWhole(t *testing.T) {
	p, o := timescale(t)
	o.Retention = store.Retention{Age: 48 * time.Hour}
	s := open(t, o)
	const perBlock = 24 * 3600 // a day and more
	for n := range uint64(3) {
		appendBlocks(t, s, block("edge-1", n+1, perBlock))
	}
	wantQuery(t, p, chunks, "4") // from noon to noon
	wantQuery(t, p, "SELECT count(*) FROM history.sample WHERE id = 0", "0")
	before, err := s.Stats(t.Context())
	if err != nil || before.Samples != 3*perBlock || before.Bytes < 3*perBlock*50 {
		t.Errorf("the stats are %+v, %v", before, err)
	}
	now := noon().AddDate(0, 0, 3)
	if err := s.Maintain(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	after, err := s.Stats(t.Context())
	if err != nil || after.Expired == 0 || after.Samples+after.Expired != 3*perBlock || after.Bytes >= before.Bytes {
		t.Errorf("the stats are %+v, %v", after, err)
	}
	first := after.Oldest.Format(time.DateOnly)
	wantQuery(t, p, "SELECT min(time) = '"+first+" 00:00Z', count(*) = "+itoa(after.Samples)+" FROM history.sample", "t|t")
	wantQuery(t, p, chunks+" AND range_end <= '"+first+" 00:00Z'", "0")
}

func TestADayThatAnotherNodeDroppedIsMadeAgainAndDroppedAgain(t *testing.T) {
	p, o := timescale(t)
	writer := open(t, o)
	appendBlocks(t, writer, block("edge-1", 1, 10))
	o.Writer, o.Retention = "keeper", store.Retention{Age: 48 * time.Hour}
	keeper := open(t, o)
	late := noon().AddDate(0, 0, 9)
	for n := uint64(2); n < 4; n++ {
		if err := keeper.Maintain(t.Context(), late); err != nil {
			t.Fatal(err)
		}
		wantQuery(t, p, "SELECT count(*) FROM history.sample", "0")
		appendBlocks(t, writer, block("edge-1", n, 10)) // which believes the day to be there
		wantQuery(t, p, "SELECT count(*) FROM history.sample", "10")
	}
	stats, err := keeper.Stats(t.Context())
	if err != nil || stats.Samples != 10 || stats.Expired != 20 {
		t.Errorf("the stats are %+v, %v", stats, err)
	}
}

func TestNodesStoreWhileAnotherDropsDays(t *testing.T) {
	p, o := timescale(t)
	const blocks, perBlock = 60, 100
	writer, parent, keeper := o, o, o
	parent.Writer, keeper.Writer, keeper.Retention = "parent", "keeper", store.Retention{Age: 48 * time.Hour}
	k := open(t, keeper)
	var nodes sync.WaitGroup
	stored := make(chan error, 2)
	for _, s := range []*postgres.Store{open(t, writer), open(t, parent)} {
		nodes.Go(func() {
			for n := range uint64(blocks) {
				if err := insist(t.Context(), s, block("edge-1", n+1, perBlock)); err != nil {
					stored <- err
					return
				}
			}
			stored <- nil
		})
	}
	for left := 2; left > 0; {
		select {
		case err := <-stored:
			if err != nil {
				t.Error(err)
			}
			left--
		default:
			if err := k.Maintain(t.Context(), noon().AddDate(0, 0, 9)); err != nil && !fault.Is(err, fault.Unavailable) {
				t.Error(err)
			}
		}
	}
	nodes.Wait()
	stats, err := k.Stats(t.Context())
	if err != nil || stats.Samples+stats.Expired != blocks*perBlock || stats.Replaced != 0 {
		t.Errorf("the stats are %+v, %v; want %d samples kept or expired", stats, err, blocks*perBlock)
	}
	wantQuery(t, p, "SELECT count(*) FROM history.sample", itoa(stats.Samples))
	positions, err := k.Positions(t.Context())
	if at := positions["edge-1"]; err != nil || at.Stored != blocks*perBlock || at.Repeated != at.Stored || at.Missing != 0 {
		t.Errorf("the position is %+v, %v", at, err)
	}
}

// withoutExtension returns options for a database of the server that does not have the extension yet.
func withoutExtension(t *testing.T, p *peers.PostgreSQL, o postgres.Options) postgres.Options {
	t.Helper()
	p.Query(t, "CREATE DATABASE later OWNER voltbus TEMPLATE template0")
	o.URL = p.URL("voltbus", "later")
	return o
}

func TestASmallHistoryMovesIntoAHypertableWhileNodesStoreAndALargeOneStays(t *testing.T) {
	for name, tt := range map[string]struct {
		counted string // how many samples the tables say that they have
		says    string
		want    string // kind of the table
	}{
		"small": {"samples", "they lie in a hypertable", "r"},
		"large": {"2000000", "they stay in partitions", "p"},
	} {
		t.Run(name, func(t *testing.T) {
			p, o := timescale(t)
			o = withoutExtension(t, p, o)
			first := open(t, o)
			appendBlocks(t, first, block("edge-1", 1, 100))
			in := func(statement string) string { return queryIn(t, p, "later", statement) }
			in("CREATE ROLE analyst LOGIN; GRANT USAGE ON SCHEMA history TO analyst; GRANT SELECT ON history.samples TO analyst")
			in("UPDATE history.tally SET samples = " + tt.counted)
			if err := p.Extend("later"); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			o.Writer, o.Log = "edge-2", slog.New(slog.NewTextHandler(&log, nil))
			second := open(t, o)
			if !strings.Contains(log.String(), tt.says) {
				t.Errorf("the log says %q", log.String())
			}
			if got := in("SELECT relkind FROM pg_class WHERE oid = 'history.sample'::regclass"); got != tt.want {
				t.Errorf("the table is of the kind %q, want %q", got, tt.want)
			}
			appendBlocks(t, first, block("edge-1", 2, 100_000)) // into days that are new too
			appendBlocks(t, second, block("edge-2", 1, 100))
			wantEachOnce(t, second, "edge-2", 1, 100)
			if got := in("SET ROLE analyst; SELECT count(*) FROM history.samples"); got != "100200" {
				t.Errorf("another program reads %s samples", got)
			}
		})
	}
}

func TestAHypertableWithoutItsExtensionIsRefusedWithWordsThatHelp(t *testing.T) {
	p, o := timescale(t)
	o = withoutExtension(t, p, o)
	if err := open(t, o).Close(); err != nil {
		t.Fatal(err)
	}
	queryIn(t, p, "later", "ALTER TABLE history.sample RENAME TO parted; CREATE TABLE history.sample (LIKE history.parted INCLUDING ALL)")
	_, err := postgres.Open(t.Context(), o)
	wantError(t, err, fault.Unavailable, "the database has no extension TimescaleDB")
}

func TestAUserWhoMayNotMakeAHypertableKeepsPartitions(t *testing.T) {
	p, o := timescale(t)
	p.Query(t, "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC")
	var log bytes.Buffer
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	s := open(t, o)
	appendBlocks(t, s, block("edge-1", 1, 100))
	wantEachOnce(t, s, "edge-1", 1, 100)
	if !strings.Contains(log.String(), "cannot be made a hypertable") {
		t.Errorf("the log says %q", log.String())
	}
}
