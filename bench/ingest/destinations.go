package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"voltbus/point"
	"voltbus/sink"
	"voltbus/sink/destination"
	"voltbus/sink/influxdb"
	"voltbus/sink/setting"
	"voltbus/sink/table"
)

// destinations opens so many destinations of what is recorded: files of SQLite and, for each of these, four databases that take line
// protocol and keep nothing, in this process.
func destinations(ctx context.Context, n int, dir string, blocks sink.Log) (d *destination.Destinations, stop func() error, err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNoContent)
	})}
	go func() { _ = server.Serve(l) }()
	var list []setting.Sink
	for i := range n {
		entry := setting.Sink{Name: fmt.Sprint("out", i), Kind: "influxdb", URL: "http://" + l.Addr().String() + "/write", Into: "readings"}
		if i%5 == 0 {
			entry = setting.Sink{Name: entry.Name, Kind: "sqlite", Into: filepath.Join(dir, entry.Name+".sqlite")}
		}
		list = append(list, entry)
	}
	d, err = destination.Open(ctx, destination.Config{
		Sinks: list, Kinds: map[string]destination.Kind{"influxdb": influxdb.Kind(), "sqlite": table.SQLite()}, Dir: dir, Node: "bench", Blocks: blocks,
		Unit: func(point.Path) string { return "degC" }, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	return d, server.Close, err
}

// sent is how many samples all destinations have together.
func sent(ctx context.Context, d *destination.Destinations) (n uint64) {
	for _, s := range d.States(ctx) {
		n += s.Sent
	}
	return n
}

// delays are how long calls waited for their answer. Safe for concurrent use.
type delays struct {
	mu   sync.Mutex
	list []time.Duration
}

func (d *delays) add(took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, took)
}

// report prints the middle and the 99th percentile.
func (d *delays) report() {
	slices.Sort(d.list)
	if n := len(d.list); n > 0 {
		fmt.Printf("answers after            p50 %.2f ms, p99 %.2f ms\n", d.list[n/2].Seconds()*1e3, d.list[n*99/100].Seconds()*1e3)
	}
}
