package bus_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/bus"
	"voltbus/bus/blocklog"
	"voltbus/bus/cluster"
	"voltbus/fault"
)

// member is a replica whose list may change.
type member struct {
	*bus.Bus
	*cluster.Membership
	log   *blocklog.Log
	last  uint64
	close func()
}

// members starts four replicas, each with a log.
func members(t *testing.T) (list map[string]*member) {
	t.Helper()
	f := &three{dir: t.TempDir(), key: make([]byte, cluster.KeyBytes)}
	for i, a := range ports(t, 4) {
		f.replicas = append(f.replicas, cluster.Replica{Name: string(rune('a' + i)), Address: a})
	}
	list = map[string]*member{}
	for _, r := range f.replicas {
		known, err := cluster.OpenMembers("", r.Name, f.replicas)
		if err != nil {
			t.Fatal(err)
		}
		b, err := bus.Open(bus.Config{
			Name: r.Name, Dir: filepath.Join(f.dir, r.Name), Key: newKey(t), Log: slog.New(slog.DiscardHandler),
			Cluster: cluster.Config{Self: r.Name, Key: f.key, Replicas: f.replicas, Members: known},
		})
		if err != nil {
			t.Fatal(err)
		}
		m, err := bus.MembershipOf(b, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = m.Run(ctx) })
		end := sync.OnceFunc(func() {
			stop()
			running.Wait()
			_ = b.Close()
		})
		t.Cleanup(end)
		list[r.Name] = &member{Bus: b, Membership: m, close: end}
	}
	var opening errgroup.Group
	for name, m := range list {
		opening.Go(func() (err error) {
			if m.log, err = m.OpenLog(t.Context(), blocklog.Config{MaxBytes: 1 << 30}); err == nil {
				err = m.append(t.Context(), "of "+name)
			}
			return err
		})
	}
	if err := opening.Wait(); err != nil {
		t.Fatal(err)
	}
	return list
}

// append appends a block as soon as there is a leader.
func (m *member) append(ctx context.Context, text string) error {
	for {
		err := m.log.Recover(ctx)
		if err == nil {
			if _, m.last, err = m.log.Last(ctx); err == nil {
				var wait func(context.Context) error
				if wait, err = m.log.Append([]byte(text), m.last); err == nil {
					err = wait(ctx)
				}
			}
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

// When a replica has been removed nothing depends on it: of the three that are left any one may be lost at once.
func TestWhenAReplicaIsRemovedAnotherOneMayBeLost(t *testing.T) {
	for what, before := range map[string]func(list map[string]*member){
		"that runs":    func(map[string]*member) {},
		"that is lost": func(list map[string]*member) { list["d"].close() },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			list := members(t)
			for i := range 50 {
				if err := list["a"].append(t.Context(), fmt.Sprint("block ", i)); err != nil {
					t.Fatal(err)
				}
			}
			before(list)
			if err := list["a"].Remove(t.Context(), "d"); err != nil {
				t.Fatal(err)
			}
			list["b"].close()
			for _, name := range []string{"a", "c"} {
				if err := list[name].append(t.Context(), "after"); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if err := list["a"].Remove(t.Context(), "d"); !fault.Is(err, fault.NotFound) {
				t.Errorf("it is removed twice: %v", err)
			}
		})
	}
}

// A removal goes on when nobody waits for it, and can be waited for again.
func TestARemovalThatNobodyWaitsForGoesOn(t *testing.T) {
	t.Parallel()
	list := members(t)
	ctx, stop := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() { asked <- list["a"].Remove(ctx, "d") }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for list["a"].Cluster().Voting != 3 {
		<-tick.C
	}
	stop()
	if err := <-asked; err != nil && (!fault.Is(err, fault.Timeout) || !strings.Contains(err.Error(), "goes on to: ")) {
		t.Fatalf("a removal that is given up: %v", err)
	}
	if err := list["b"].Remove(t.Context(), "d"); err != nil && !fault.Is(err, fault.NotFound) {
		t.Fatal(err)
	}
	for s := list["b"].Cluster(); s.Voting != 3 || len(s.Replicas) != 3; s = list["b"].Cluster() { // it reads the list each second
		<-tick.C
	}
}
