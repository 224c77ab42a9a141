package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
	"voltbus/store/postgres"
)

func TestASecondNodeOfOneNameIsRefusedWithTheNameOfTheFirst(t *testing.T) {
	o := fresh(t)
	open(t, o)
	_, err := postgres.Open(t.Context(), o)
	wantError(t, err, fault.Conflict, `stores in the database now ("voltbus edge-1"`)
}

func TestACopyOfADataDirectoryUnderAnotherNameIsRefusedUntilTheFirstEnds(t *testing.T) {
	o := fresh(t)
	first := open(t, o)
	if err := first.Own(t.Context(), "edge-1~abc", "edge-1~abc!"); err != nil {
		t.Fatal(err)
	}
	o.Writer = "copy"
	second := open(t, o)
	wantError(t, second.Own(t.Context(), "edge-1~abc", "edge-1~abc!"), fault.Conflict, `edge-1~abc: another node of this name or with a copy of this data directory`)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := second.Own(t.Context(), "edge-1~abc", "edge-1~abc!"); err != nil {
		t.Errorf("the first has ended: %v", err)
	}
}

// merged is one block in place of an origin's blocks from first to last, as an uplink sends them.
func merged(origin string, first, last uint64, perBlock int) *point.Block {
	out := block(origin, first, perBlock)
	for n := first + 1; n <= last; n++ {
		next := block(origin, n, perBlock)
		for i := range next.Time {
			out.Append(0, &point.Sample{Value: point.IntOf(int64(next.Bits[i])), Time: time.UnixMicro(next.Time[i])})
		}
	}
	out.First, out.Sequence = first, last
	return out
}

// wantShared checks what is stored of an origin whose blocks came by two ways.
func wantShared(t *testing.T, s *postgres.Store, origin string, blocks uint64, perBlock int) {
	t.Helper()
	wantEachOnce(t, s, origin, blocks, perBlock)
	positions, err := s.Positions(t.Context())
	all := blocks * uint64(perBlock)
	if p := positions[origin]; err != nil || p.Sequence != blocks || p.Samples != all || p.Stored != all || p.Missing != 0 || p.Repeated != all {
		t.Errorf("the position is %+v, %v; want %d samples stored, and as many repeated", p, err, all)
	}
}

func TestANodeAndItsParentStoreTheSameBlocksAndEachSampleIsThereOnce(t *testing.T) {
	o := fresh(t)
	const blocks, perBlock = 60, 100
	o.Writer = "child"
	child := open(t, o)
	o.Writer = "parent"
	parent := open(t, o)
	var both sync.WaitGroup
	problems := make(chan error, 2)
	both.Go(func() {
		for n := range uint64(blocks) {
			if err := insist(t.Context(), child, block("child", n+1, perBlock)); err != nil {
				problems <- err
				return
			}
		}
	})
	both.Go(func() {
		for n := uint64(1); n <= blocks; n += 4 { // and blocks of its own
			for _, b := range []*point.Block{merged("child", n, n+3, perBlock), block("parent", n/4+1, perBlock)} {
				if err := insist(t.Context(), parent, b); err != nil {
					problems <- err
					return
				}
			}
		}
	})
	both.Wait()
	close(problems)
	for err := range problems {
		t.Error(err)
	}
	wantShared(t, child, "child", blocks, perBlock)
	wantEachOnce(t, parent, "parent", blocks/4, perBlock)
}

func TestEitherOfTwoNodesMayEndInTheMiddleOfATransactionAndTheOtherGoesOn(t *testing.T) {
	o := fresh(t)
	const blocks, perBlock = 20, 200
	name := func(n string) string { return n + " of " + o.Schema }
	child, parent := o, o
	child.Writer, parent.Writer = name("child"), name("parent")
	ways := map[string]*postgres.Store{child.Writer: open(t, child), parent.Writer: open(t, parent)}
	var both sync.WaitGroup
	problems := make(chan error, 2)
	for _, s := range ways {
		both.Go(func() {
			for n := range uint64(blocks) {
				if err := insist(t.Context(), s, block("child", n+1, perBlock)); err != nil {
					problems <- err
					return
				}
			}
		})
	}
	for i := range 10 {
		victim := []string{child.Writer, parent.Writer}[i%2]
		server.Query(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'voltbus "+victim+"'")
	}
	both.Wait()
	close(problems)
	for err := range problems {
		t.Error(err)
	}
	s := ways[parent.Writer]
	wantEachOnce(t, s, "child", blocks, perBlock)
	positions, err := s.Positions(t.Context())
	if p := positions["child"]; err != nil || p.Stored != blocks*perBlock || p.Missing != 0 || p.Samples != p.Stored {
		t.Errorf("the position is %+v, %v", p, err)
	}
}

func TestANodeKnowsHowFarItsOwnLogHasAnOrigin(t *testing.T) {
	o := fresh(t)
	o.Writer = "child"
	child := open(t, o)
	o.Writer = "parent"
	parent := open(t, o)
	appendBlocks(t, parent, block("child", 1, 10))
	appendBlocks(t, child, block("child", 1, 10), block("child", 2, 10), block("child", 3, 10))
	for s, want := range map[*postgres.Store]store.Position{child: {Sequence: 3, Samples: 30}, parent: {Sequence: 1, Samples: 10}} {
		if ways, err := s.Ways(t.Context()); err != nil || len(ways) != 1 || ways["child"] != want {
			t.Errorf("the ways are %+v, %v; want %+v", ways, err, want)
		}
	}
	if child.ID() == "" || child.ID() != parent.ID() {
		t.Errorf("the tables are called %q and %q", child.ID(), parent.ID())
	}
	if other := open(t, fresh(t)); other.ID() == child.ID() {
		t.Error("other tables have the same name")
	}
}

func TestPointsThatAnotherNodeStoresAreTold(t *testing.T) {
	o := fresh(t)
	o.Writer = "child"
	child := open(t, o)
	o.Writer = "parent"
	parent := open(t, o)
	appendBlocks(t, child, block("first", 1, 1))
	ctx, end := context.WithCancel(t.Context())
	told := make(chan []point.Path)
	var watching sync.WaitGroup
	watching.Go(func() {
		refused := false
		err := parent.Watch(ctx, func(paths []point.Path) error {
			if !refused {
				refused = true
				return fmt.Errorf("not now")
			}
			select {
			case told <- slices.Clone(paths):
			case <-ctx.Done():
			}
			return nil
		})
		if err != nil {
			t.Errorf("watching ended with %v", err)
		}
	})
	defer watching.Wait()
	defer end()
	want := func(path point.Path) {
		t.Helper()
		if got := <-told; len(got) != 1 || got[0] != path {
			t.Errorf("told %q, want %q", got, path)
		}
	}
	want("first/p") // again, since it was refused
	appendBlocks(t, child, block("first", 2, 1), block("second", 1, 1))
	want("second/p")
	server.Query(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%"+strings.TrimSpace(o.Schema)+"%' AND query LIKE 'LISTEN%' OR query = 'SELECT id, path FROM point WHERE id >= $1'")
	appendBlocks(t, child, block("third", 1, 1))
	want("third/p")
}
