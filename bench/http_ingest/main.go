// Command http_ingest measures how many readings a second a node accepts over HTTP and has on disk when it answers. See README.md beside
// it.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/config"
	"voltbus/driver/all"
	"voltbus/identity"
	"voltbus/internal/memory"
	"voltbus/node"
	"voltbus/operation/ledger"
)

func main() {
	memory.Tune()
	var b bench
	flag.DurationVar(&b.time, "time", 10*time.Second, "how long readings are sent")
	flag.StringVar(&b.format, "format", "line", "form of the bodies: line, json or senml")
	flag.IntVar(&b.points, "points", 10_000, "different points, and readings in one body")
	flag.IntVar(&b.senders, "senders", 8, "connections, each with one request at a time")
	flag.StringVar(&b.dir, "dir", "", "directory for the data, on the disk to measure; default: a temporary one")
	flag.StringVar(&b.profile, "cpuprofile", "", "file for a CPU profile")
	flag.Parse()
	if err := b.run(); err != nil {
		fmt.Fprintln(os.Stderr, "http_ingest:", err)
		os.Exit(1)
	}
}

type bench struct {
	time            time.Duration
	format          string
	points, senders int
	dir, profile    string

	token, url string
	second     atomic.Int64 // of the next body's readings: no two bodies have the same
	sent       atomic.Int64
	bytes      atomic.Int64
}

func (b *bench) run() (err error) {
	dir, err := os.MkdirTemp(b.dir, "voltbus-bench-http")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	n, err := open(dir)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	defer func() {
		stop()
		err = errors.Join(err, <-done)
	}()
	b.url = n.HTTPAddr()
	if b.token, err = identity.ReadToken(filepath.Join(dir, "data", identity.AdminTokenFile)); err != nil {
		return err
	}
	if b.profile != "" {
		f, err := os.Create(b.profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	return b.measure(ctx)
}

func open(dir string) (*node.Node, error) {
	file := filepath.Join(dir, "voltbus.yaml")
	text := "node: {name: bench, data: data}\nlisten: {http: 127.0.0.1:0, bus: off}\nlog: {max_bytes: 8GiB}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	cfg, err := config.Load(file, all.Kinds())
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return node.Open(context.Background(), node.Options{Config: cfg, Kinds: all.Kinds(), Log: log, Version: answer.Version{Version: "bench"}})
}

func (b *bench) measure(ctx context.Context) error {
	b.second.Store(1_750_000_000)
	if err := b.send(ctx, time.Now().Add(time.Nanosecond)); err != nil { // the points are listed
		return err
	}
	first := b.sent.Swap(0)
	b.bytes.Store(0)
	before := cpu()
	begin := time.Now()
	end := begin.Add(b.time)
	var group errgroup.Group
	for range b.senders {
		group.Go(func() error { return b.send(ctx, end) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	took := time.Since(begin).Seconds()
	fmt.Printf("acknowledged (on disk)   %12d samples  %10.0f samples/s  %6.1f MB/s of %s\n",
		b.sent.Load(), float64(b.sent.Load())/took, float64(b.bytes.Load())/took/1e6, b.format)
	return b.settle(ctx, begin, first, before)
}

// settle waits until the store has everything, and prints the account.
func (b *bench) settle(ctx context.Context, begin time.Time, first int64, before time.Duration) error {
	c, err := client.New(b.url, b.token, nil)
	if err != nil {
		return err
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		l, err := client.Do(ctx, c, ledger.Get, ledger.Reach{})
		if err != nil {
			return err
		}
		o := l.Origins[0]
		if o.Stored >= o.Acknowledged {
			took := time.Since(begin).Seconds()
			fmt.Printf("stored                   %12d samples  %10.0f samples/s\n", b.sent.Load(), float64(b.sent.Load())/took)
			fmt.Printf("CPU of node, store and senders   %.2f µs a sample\n", (cpu()-before).Seconds()*1e6/float64(b.sent.Load()))
			fmt.Printf("sent = acknowledged = stored: %v\n", uint64(b.sent.Load()+first) == o.Acknowledged && o.Acknowledged == o.Stored)
			return nil
		}
		<-tick.C
	}
}

// cpu returns the processor time of this process, which holds senders and node.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// send sends bodies over one connection until end.
func (b *bench) send(ctx context.Context, end time.Time) error {
	body, err := newBody(b.format, b.points)
	if err != nil {
		return err
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 1, WriteBufferSize: 256 << 10}
	defer transport.CloseIdleConnections()
	for again := true; again; again = time.Now().Before(end) {
		body.set(b.second.Add(1))
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url+"/api/v1/samples", bytes.NewReader(body.text))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+b.token)
		req.Header.Set("Content-Type", body.media)
		resp, err := transport.RoundTrip(req)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d: %.300s", resp.StatusCode, text)
		}
		b.sent.Add(int64(b.points))
		b.bytes.Add(int64(len(body.text)))
	}
	return nil
}

// body is a body whose seconds are written anew for each request.
type body struct {
	media string
	text  []byte
	times []int // where seconds stand, ten digits each
}

const fieldsOfLine = 10

func newBody(format string, points int) (*body, error) {
	b := &body{}
	switch format {
	case "line":
		b.media = "text/plain"
		b.lines(points)
	case "json":
		b.media = "application/json"
		b.text = append(b.text, '[')
		for i := range points {
			b.text = fmt.Appendf(b.text, `{"point":"campus/building%d/device%d/point%d","time":`, i/1000, i/18, i%18)
			b.second()
			b.text = fmt.Appendf(b.text, `000,"value":%d.%d},`, 20+i%10, i%7)
		}
		b.text[len(b.text)-1] = ']'
	case "senml":
		b.media = "application/senml+json"
		b.text = append(b.text, `[{"bn":"campus/","bt":`...)
		b.second()
		b.text = append(b.text, `},`...)
		for i := range points {
			b.text = fmt.Appendf(b.text, `{"n":"device%d/point%d","v":%d.%d},`, i/18, i%18, 20+i%10, i%7)
		}
		b.text[len(b.text)-1] = ']'
	default:
		return nil, fmt.Errorf("there is no format %q", format)
	}
	return b, nil
}

// lines writes lines as Telegraf does: a measurement with two tags and ten fields.
func (b *body) lines(points int) {
	for i := range points {
		if i%fieldsOfLine == 0 {
			b.text = fmt.Appendf(b.text, "ahu,building=b%d,device=d%d ", i/1000, i/fieldsOfLine)
		}
		b.text = fmt.Appendf(b.text, "point%d=%d.%d", i%fieldsOfLine, 20+i%10, i%7)
		if i%fieldsOfLine < fieldsOfLine-1 && i < points-1 {
			b.text = append(b.text, ',')
			continue
		}
		b.text = append(b.text, ' ')
		b.second()
		b.text = append(b.text, "000000000\n"...)
	}
}

// second leaves room for a time.
func (b *body) second() {
	b.times = append(b.times, len(b.text))
	b.text = append(b.text, "0000000000"...)
}

func (b *body) set(second int64) {
	text := strconv.FormatInt(second, 10)
	for _, at := range b.times {
		copy(b.text[at:], text)
	}
}
