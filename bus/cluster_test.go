package bus_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"voltbus/bus"
	"voltbus/bus/blocklog"
	"voltbus/bus/cluster"
	"voltbus/fault"
	"voltbus/testing/peers"
)

// ports returns addresses on loopback that nobody uses.
func ports(t testing.TB, n int) (addresses []string) {
	t.Helper()
	for range n {
		addresses = append(addresses, "127.0.0.1:"+peers.FreePort(t))
	}
	return addresses
}

// three are the buses of three replicas.
type three struct {
	dir      string
	replicas []cluster.Replica
	key      []byte
}

func newThree(t testing.TB) *three {
	f := &three{dir: t.TempDir(), key: make([]byte, cluster.KeyBytes)}
	for i, a := range ports(t, 3) {
		f.replicas = append(f.replicas, cluster.Replica{Name: string(rune('a' + i)), Address: a})
	}
	return f
}

func (f *three) open(t testing.TB, self string) (*bus.Bus, error) {
	t.Helper()
	return bus.Open(bus.Config{
		Name: self, Dir: filepath.Join(f.dir, self), Key: newKey(t), Log: slog.New(slog.DiscardHandler),
		Cluster: cluster.Config{Self: self, Key: f.key, Replicas: f.replicas},
	})
}

func (f *three) all(t testing.TB) (list []*bus.Bus, logs []*blocklog.Log) {
	t.Helper()
	for _, r := range f.replicas {
		b, err := f.open(t, r.Name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		list = append(list, b)
	}
	for _, b := range list {
		l, err := b.OpenLog(t.Context(), blocklog.Config{MaxBytes: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, l)
	}
	return list, logs
}

func TestWhatAReplicaAcknowledgedTheOthersHave(t *testing.T) {
	f := newThree(t)
	buses, logs := f.all(t)
	for i := range 20 {
		if err := appendOne(t, logs[0], fmt.Sprint("block ", i+1), uint64(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := buses[0].Close(); err != nil { // who acknowledged is gone
		t.Fatal(err)
	}
	for _, b := range buses[1:] {
		l, err := b.LogOf("a")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		ctx, done := context.WithCancel(t.Context())
		for ctx.Err() == nil { // until there is a new leader
			_ = l.Read(ctx, uint64(n+1), func(sequence uint64, data []byte) error {
				if n++; sequence != uint64(n) || string(data) != fmt.Sprint("block ", n) {
					t.Errorf("at %d stands %q, want block %d", sequence, data, n)
				}
				if n == 20 {
					done()
				}
				return nil
			})
		}
		done()
	}
	// The logs of the others go on.
	for i, l := range logs[1:] {
		if err := appendOne(t, l, "after", 0); err != nil {
			t.Errorf("log %d: %v", i+1, err)
		}
	}
}

func TestAMinorityRefusesAndSaysSo(t *testing.T) {
	f := newThree(t)
	buses, logs := f.all(t)
	if err := appendOne(t, logs[0], "one", 0); err != nil {
		t.Fatal(err)
	}
	for _, b := range buses[1:] {
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for s := buses[0].Cluster(); s.Connected > 1; s = buses[0].Cluster() {
		<-tick.C
	}
	err := appendOne(t, logs[0], "two", 1)
	if !fault.Is(err, fault.Unavailable) || err == nil {
		t.Fatalf("a minority acknowledges: %v", err)
	}
	t.Log(err)
	// One comes back, and all goes on.
	back, err := f.open(t, "b")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = back.Close() })
	for {
		if err = logs[0].Recover(t.Context()); err == nil {
			if _, last, err := logs[0].Last(t.Context()); err == nil {
				if err = appendOne(t, logs[0], "three", last); err == nil {
					return
				}
			}
		}
		if errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

func TestAttackAReplicaWithAnotherKeyStaysOutside(t *testing.T) {
	f := newThree(t)
	a, err := f.open(t, "a")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	f.key = []byte("another key, which is 32 bytes..")
	b, err := f.open(t, "b")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	ctx, end := context.WithTimeout(t.Context(), 3*time.Second)
	defer end()
	if _, err := b.OpenLog(ctx, blocklog.Config{MaxBytes: 1 << 20}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("two replicas with different keys have a log: %v", err)
	}
	if n := a.Cluster().Connected; n != 1 {
		t.Errorf("a reaches %d replicas, want itself only", n)
	}
}

// BenchmarkAppendToThree appends blocks of 10 kB, 32 of them on their way at once.
func BenchmarkAppendToThree(b *testing.B) {
	f := newThree(b)
	_, logs := f.all(b)
	data := make([]byte, 10_000)
	var waits []func(context.Context) error
	for i := 0; b.Loop(); i++ {
		wait, err := logs[0].Append(data, uint64(i))
		if err != nil {
			b.Fatal(err)
		}
		if waits = append(waits, wait); len(waits) == 32 {
			for _, wait := range waits {
				if err := wait(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			waits = waits[:0]
		}
	}
}
