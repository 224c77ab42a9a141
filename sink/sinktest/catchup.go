package sinktest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"voltbus/internal/await"
	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/setting"
)

// The backlog of a benchmark: blocks of a node with 10,000 points, of which a block has one reading each.
const (
	backlogPoints = 10_000
	backlogBlocks = 60
)

// CatchUp measures how fast a destination gets what was recorded while it was away, in samples a second, until the destination has
// confirmed all of it.
func CatchUp(b *testing.B, open func() *Peer) {
	b.Helper()
	for b.Loop() {
		p := open()
		blocks := cmp.Or(p.Blocks, backlogBlocks)
		log := backlog(b, blocks)
		entry := p.Entry
		entry.Name, entry.Kind = "there", "tested"
		empty := NewLog() // a new destination begins at its end
		dir := b.TempDir()
		config := destination.Config{
			Sinks: []setting.Sink{entry}, Kinds: map[string]destination.Kind{"tested": p.Kind}, Dir: dir, Node: "home", Blocks: empty,
			Unit: func(point.Path) string { return "degC" }, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		}
		if _, err := destination.Open(b.Context(), config); err != nil {
			b.Fatal(err)
		}
		config.Blocks = log
		d, err := destination.Open(b.Context(), config)
		if err != nil {
			b.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		begun := time.Now()
		go func() { ended <- d.Run(ctx) }()
		await.Until(b, "all is sent", func() bool { return d.States(ctx)[0].Sent == uint64(backlogPoints*blocks) }, func() string { return fmt.Sprintf("%+v", d.States(ctx)[0]) })
		b.ReportMetric(float64(backlogPoints*blocks)/time.Since(begun).Seconds(), "samples/s")
		stop()
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
	}
}

// backlog is what was recorded.
func backlog(b *testing.B, blocks int) *Log {
	b.Helper()
	log := NewLog()
	for i := range blocks {
		list := make([]point.Sample, backlogPoints)
		for n := range list {
			list[n] = At(fmt.Sprintf("plant/building-%d/device-%d/point-%d", n/1000, n/20, n%20), i*1000, point.FloatOf(float64(n%977)/8))
		}
		log.Add(b, list...)
	}
	return log
}
