package bus_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"voltbus/bus"
	"voltbus/bus/blocklog"
	"voltbus/bus/cluster"
	"voltbus/fault"
	"voltbus/testing/link"
)

// wired are three replicas, each with a link to each other one.
type wired struct {
	buses [3]*bus.Bus
	logs  [3]*blocklog.Log
	links [3][3]*link.Link // from who dials to who listens
}

func newWired(t *testing.T) *wired {
	t.Helper()
	w, f, listen := &wired{}, newThree(t), ports(t, 3)
	for from := range w.links {
		cfg := cluster.Config{Self: f.replicas[from].Name, Listen: listen[from], Key: f.key}
		for to, r := range f.replicas {
			l := link.New(t)
			l.Lead(listen[to])
			w.links[from][to] = l
			cfg.Replicas = append(cfg.Replicas, cluster.Replica{Name: r.Name, Address: l.Addr()})
		}
		b, err := bus.Open(bus.Config{
			Name: cfg.Self, Dir: filepath.Join(f.dir, cfg.Self), Key: newKey(t), Log: slog.New(slog.DiscardHandler), Cluster: cfg,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		w.buses[from] = b
	}
	for i, b := range w.buses {
		l, err := b.OpenLog(t.Context(), blocklog.Config{MaxBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		w.logs[i] = l
	}
	return w
}

// isolate cuts a replica off, without a word.
func (w *wired) isolate(lost int) {
	for i := range w.links {
		for _, l := range []*link.Link{w.links[i][lost], w.links[lost][i]} {
			l.Lead("")
			l.Cut()
		}
	}
}

// A reader's consumer is at one replica. A reader that reaches it no more and gets no other one says so: whoever waits in silence neither
// reads elsewhere nor ends.
func TestAReaderThatIsCutOffFromItsConsumerSaysSo(t *testing.T) {
	const readers, limit = 12, 45 * time.Second // each consumer is at any of the three
	w := newWired(t)
	l, err := w.buses[2].LogOf("a")
	if err != nil {
		t.Fatal(err)
	}
	got, ended := make(chan string, readers), make(chan error, readers)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for range readers {
		go func() {
			ended <- l.Read(ctx, 1, func(_ uint64, data []byte) error { got <- string(data); return nil })
		}()
	}
	for last := uint64(0); last == 0; { // the replicas may have just chosen another leader
		_ = appendOne(t, w.logs[0], "block", 0)
		_, last, _ = w.logs[0].Bounds(t.Context())
	}
	for range readers {
		select {
		case <-got:
		case err := <-ended:
			t.Fatal(err)
		}
	}
	w.isolate(2)
	select {
	case err := <-ended:
		if !fault.Is(err, fault.Unavailable) || err == nil {
			t.Errorf("it says %v", err)
		}
	case <-time.After(limit):
		t.Fatal("none says anything")
	}
	stop()
	for range readers - 1 {
		if err := <-ended; err != nil && !fault.Is(err, fault.Unavailable) {
			t.Error(err)
		}
	}
}
