package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
	"voltbus/store/postgres"
	"voltbus/testing/peers"
)

func appendBlocks(t *testing.T, s *postgres.Store, blocks ...*point.Block) store.Result {
	t.Helper()
	res, err := s.Append(t.Context(), blocks)
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	return res
}

// wantEachOnce checks that the samples of an origin's blocks up to last are there, each once.
func wantEachOnce(t *testing.T, s *postgres.Store, origin string, last uint64, perBlock int) {
	t.Helper()
	n := int64(0)
	r := store.Range{Points: []point.Path{point.Path(origin + "/p")}, From: noon(), To: noon().AddDate(5, 0, 0)}
	err := s.Read(t.Context(), r, func(run []point.Sample) error {
		for i := range run {
			if got, _ := run[i].Value.Int(); got != n {
				return fmt.Errorf("sample %d has the value %v", n, run[i].Value)
			}
			n++
		}
		return nil
	})
	if err != nil || n != int64(last)*int64(perBlock) {
		t.Errorf("%d samples of %s were read, want %d; error %v", n, origin, last*uint64(perBlock), err)
	}
}

func wantError(t *testing.T, err error, kind fault.Kind, words string) {
	t.Helper()
	if !fault.Is(err, kind) || !strings.Contains(fmt.Sprint(err), words) {
		t.Errorf("error is %v (%v), want %v with %q", err, fault.KindOf(err), kind, words)
	}
}

func TestSeveralNodesWriteIntoOneDatabaseAtTheSameTime(t *testing.T) {
	o := fresh(t)
	const nodes, blocks, perBlock = 4, 20, 500
	var writers sync.WaitGroup
	problems := make(chan error, nodes)
	for i := range nodes {
		o.Writer = fmt.Sprint("node", i)
		s := open(t, o)
		name := o.Writer
		writers.Go(func() {
			for n := range uint64(blocks) {
				if _, err := s.Append(t.Context(), []*point.Block{block(name, n+1, perBlock)}); err != nil {
					problems <- err
					return
				}
			}
		})
	}
	writers.Wait()
	close(problems)
	for err := range problems {
		t.Error(err)
	}
	o.Writer = "reader"
	s := open(t, o)
	positions, err := s.Positions(t.Context())
	if err != nil || len(positions) != nodes {
		t.Errorf("%d positions, error %v", len(positions), err)
	}
	for i := range nodes {
		wantEachOnce(t, s, fmt.Sprint("node", i), blocks, perBlock)
	}
	if stats, err := s.Stats(t.Context()); err != nil || stats.Samples != nodes*blocks*perBlock {
		t.Errorf("%d samples are counted, error %v", stats.Samples, err)
	}
}

func TestEachNodeHasACursorOfItsOwn(t *testing.T) {
	o := fresh(t)
	a := open(t, o)
	appendBlocks(t, a, block("edge-1", 1, 10))
	o.Writer = "edge-2"
	b := open(t, o)
	if log, sequence, err := b.Cursor(t.Context()); log != "" || sequence != 0 || err != nil {
		t.Errorf("the second node's cursor is %q %d, error %v", log, sequence, err)
	}
	appendBlocks(t, b, block("edge-2", 1, 10), block("edge-2", 2, 10))
	if log, sequence, err := a.Cursor(t.Context()); log != "log of edge-1" || sequence != 1 || err != nil {
		t.Errorf("the first node's cursor is %q %d, error %v", log, sequence, err)
	}
}

func TestSamplesOfTheSamePointFromTwoNodesReplaceEachOther(t *testing.T) {
	o := fresh(t)
	a := open(t, o)
	o.Writer = "edge-2"
	b := open(t, o)
	same := func(origin string, n uint64) *point.Block {
		out := block(origin, n, 10)
		out.Points[0] = "shared"
		return out
	}
	appendBlocks(t, a, same("edge-1", 1))
	appendBlocks(t, a, same("edge-1", 2)) // samples 10 to 19, straight into the table
	appendBlocks(t, b, same("edge-2", 1))
	appendBlocks(t, b, same("edge-2", 2)) // the same times, which b believes to be new
	stats, err := a.Stats(t.Context())
	if err != nil || stats.Samples != 20 || stats.Replaced != 20 {
		t.Errorf("%d samples, %d replaced, error %v; want 20 and 20", stats.Samples, stats.Replaced, err)
	}
}

func TestTablesOfANewerProgramAreRefused(t *testing.T) {
	o := fresh(t)
	if err := open(t, o).Close(); err != nil {
		t.Fatal(err)
	}
	server.Query(t, "UPDATE "+o.Schema+".schema_version SET version = 99")
	_, err := postgres.Open(t.Context(), o)
	wantError(t, err, fault.Conflict, "a newer program made its tables")
	if got := strings.TrimSpace(server.Query(t, "SELECT version FROM "+o.Schema+".schema_version")); got != "99" {
		t.Errorf("the version is now %s", got)
	}
}

func TestTwoNodesThatBeginAtOnceMakeTheTablesOnce(t *testing.T) {
	o := fresh(t)
	var openers sync.WaitGroup
	problems := make(chan error, 4)
	for i := range 4 {
		o := o
		o.Writer = fmt.Sprint("node", i)
		openers.Go(func() {
			s, err := postgres.Open(t.Context(), o)
			if err == nil {
				err = s.Close()
			}
			problems <- err
		})
	}
	openers.Wait()
	close(problems)
	for err := range problems {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestWhatIsWrongWithTheDatabaseIsSaid(t *testing.T) {
	o := fresh(t)
	absent := filepath.Join(t.TempDir(), "absent")
	secret := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secret, []byte("hush-hush\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		change func(*postgres.Options)
		kind   fault.Kind
		words  string
	}{
		"no address":         {func(o *postgres.Options) { o.URL = "" }, fault.Invalid, "set store.url"},
		"no node":            {func(o *postgres.Options) { o.Writer = "" }, fault.Invalid, "set node.name"},
		"no schema's name":   {func(o *postgres.Options) { o.Schema = `x"; DROP` }, fault.Invalid, "not the name of a schema"},
		"password in it":     {func(o *postgres.Options) { o.URL = "postgres://u:hush-hush@localhost/db" }, fault.Invalid, "store.password_file"},
		"password behind it": {func(o *postgres.Options) { o.URL = "postgresql://u@localhost/db?password=hush-hush" }, fault.Invalid, "store.password_file"},
		"not an address":     {func(o *postgres.Options) { o.URL = "host=localhost password=hush-hush" }, fault.Invalid, "set store.url"},
		"no server":          {func(o *postgres.Options) { o.URL = "postgres:///db?host=" + absent }, fault.Unreachable, "start it, or correct store.url"},
		"no database":        {func(o *postgres.Options) { o.URL = server.URL("voltbus", "nothing") }, fault.NotFound, "make it with createdb"},
		"unknown user":       {func(o *postgres.Options) { o.URL = server.URL("nobody", "voltbus") }, fault.Refused, "does not admit this user"},
		"no right":           {func(o *postgres.Options) { o.URL = server.URL("voltbus", "postgres"); o.Schema = "x" }, fault.Refused, "make it the owner"},
		"no password file":   {func(o *postgres.Options) { o.PasswordFile = absent }, fault.Refused, "the password cannot be read"},
		"no authorities":     {func(o *postgres.Options) { o.URL = "postgres://u@localhost/db"; o.TLS.CA = absent }, fault.Invalid, "the authorities cannot be read"},
		"not an authority":   {func(o *postgres.Options) { o.URL = "postgres://u@localhost/db"; o.TLS.CA = secret }, fault.Invalid, "holds no certificate"},
		"not a certificate": {func(o *postgres.Options) {
			o.URL = "postgres://u@localhost/db"
			o.TLS.Certificate, o.TLS.Key = secret, secret
		}, fault.Invalid, "certificate and key"},
		"a password's place": {func(o *postgres.Options) { o.URL = "postgres:///db?host=" + absent; o.PasswordFile = secret }, fault.Unreachable, "does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			o := o
			tt.change(&o)
			s, err := postgres.Open(t.Context(), o)
			if err == nil {
				_ = s.Close()
			}
			wantError(t, err, tt.kind, tt.words)
			if strings.Contains(fmt.Sprint(err), "hush-hush") {
				t.Errorf("the error tells the password: %v", err)
			}
		})
	}
}

// ownServer starts a server that flushes, for tests that end it.
func ownServer(t *testing.T) (*peers.PostgreSQL, postgres.Options) {
	t.Helper()
	own := peers.StartedPostgreSQL(t)
	return own, postgres.Options{URL: own.URL("voltbus", "voltbus"), Writer: "edge-1"}
}

// appendUntilStored sends the block again, as a sink does, until it is stored.
func appendUntilStored(t *testing.T, s *postgres.Store, b *point.Block) {
	t.Helper()
	if err := insist(t.Context(), s, b); err != nil {
		t.Fatal(err)
	}
}

// insist is appendUntilStored for any goroutine.
func insist(ctx context.Context, s *postgres.Store, b *point.Block) error {
	for limit := time.Now().Add(3 * time.Minute); ; {
		_, err := s.Append(ctx, []*point.Block{b})
		if err == nil {
			return nil
		}
		if kind := fault.KindOf(err); (kind != fault.Unavailable && kind != fault.Unreachable) || time.Now().After(limit) {
			return fmt.Errorf("append while the server is away (%v): %w", kind, err)
		}
	}
}

func TestAStoreGoesOnAfterARestartOfTheServer(t *testing.T) {
	own, o := ownServer(t)
	s := open(t, o)
	appendBlocks(t, s, block("edge-1", 1, 100))
	wantEachOnce(t, s, "edge-1", 1, 100)
	if err := own.Stop(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Append(t.Context(), []*point.Block{block("edge-1", 2, 100)})
	if kind := fault.KindOf(err); err == nil || (kind != fault.Unavailable && kind != fault.Unreachable) {
		t.Errorf("append without a server: %v (%v)", err, kind)
	}
	if _, err := s.Latest(t.Context(), []point.Path{"edge-1/p"}); err == nil {
		t.Error("latest without a server: no error")
	}
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	appendUntilStored(t, s, block("edge-1", 2, 100))
	appendUntilStored(t, s, block("edge-1", 3, 100))
	wantEachOnce(t, s, "edge-1", 3, 100)
}

func TestAServerThatIsKilledUnderLoadHasEverySampleOnce(t *testing.T) {
	own, o := ownServer(t)
	s := open(t, o)
	const rounds, perBlock = 4, 2000
	var stored uint64
	for range rounds {
		enough := make(chan struct{})
		var writer sync.WaitGroup
		failed := errors.New("not yet")
		writer.Go(func() {
			for first := stored; ; {
				if _, failed = s.Append(t.Context(), []*point.Block{block("edge-1", stored+1, perBlock)}); failed != nil {
					if stored < first+5 {
						t.Errorf("the server lives, and yet: %v", failed)
						close(enough)
					}
					return
				}
				if stored++; stored == first+5 {
					close(enough)
				}
			}
		})
		<-enough
		if err := own.Kill(); err != nil {
			t.Fatal(err)
		}
		writer.Wait()
		if err := own.Start(); err != nil {
			t.Fatal(err)
		}
		appendUntilStored(t, s, block("edge-1", stored+1, perBlock)) // whose outcome was unknown
		stored++
		wantEachOnce(t, s, "edge-1", stored, perBlock)
	}
	if positions, err := s.Positions(t.Context()); err != nil || positions["edge-1"].Sequence != stored || positions["edge-1"].Missing != 0 {
		t.Errorf("position %+v, error %v; want %d", positions["edge-1"], err, stored)
	}
}

func TestConnectionsThatBreakUnderLoadLoseAndRepeatNothing(t *testing.T) {
	o := fresh(t)
	o.Writer = "broken " + o.Schema
	s := open(t, o)
	const breaks, perBlock = 8, 500
	var stored uint64
	for range breaks {
		server.Query(t, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'voltbus "+o.Writer+"'")
		done := make(chan error, 1)
		go func() {
			var err error
			for i := 0; i < 5 && err == nil; i++ {
				err = insist(t.Context(), s, block("edge-1", stored+1, perBlock))
				stored++
			}
			done <- err
		}()
		server.Query(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'voltbus "+o.Writer+"'")
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	wantEachOnce(t, s, "edge-1", breaks*5, perBlock)
	if positions, err := s.Positions(t.Context()); err != nil || positions["edge-1"].Stored != breaks*5*perBlock {
		t.Errorf("position %+v, error %v", positions["edge-1"], err)
	}
}
