// Command opcua measures what monitored items of OPC UA servers cost the driver; see README.md.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"voltbus/driver"
	"voltbus/driver/opcua"
	"voltbus/driver/opcua/pointlist"
	"voltbus/point"
	"voltbus/protocol/opcua/client"
)

func main() {
	var b bench
	flag.StringVar(&b.server, "server", "asyncua", "asyncua or node-opcua")
	flag.IntVar(&b.processes, "processes", 2, "servers, each in a process of its own")
	flag.IntVar(&b.items, "items", 10_000, "monitored items, over all servers")
	flag.StringVar(&b.security, "security", "none", "none or best")
	flag.DurationVar(&b.duration, "duration", 20*time.Second, "of the measurement")
	flag.Parse()
	if err := b.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type bench struct {
	server, security string
	processes, items int
	duration         time.Duration
	devices          []*device // that are open
}

// peer is a server that runs.
type peer struct {
	address string
	cmd     *exec.Cmd
	in      io.Closer
}

func (p *peer) stop() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}

// device is the items of one server.
type device struct {
	session driver.Session
	sub     driver.Subscriber
	got     int // reports
	bad     int
}

func (b *bench) run(ctx context.Context) (err error) {
	folder, err := os.MkdirTemp("", "bench-opcua")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	news := make(chan *device, 1<<16)
	for i := range b.processes {
		p, err := b.start(ctx, filepath.Join(folder, strconv.Itoa(i)))
		if err != nil {
			return err
		}
		defer p.stop()
		d, err := b.open(ctx, p, news)
		if err != nil {
			return err
		}
		defer func() { _ = d.session.Close() }()
	}
	if err := take(ctx, news, 5*time.Second); err != nil { // what begins
		return err
	}
	for _, d := range b.devices {
		d.got, d.bad = 0, 0
	}
	before, began := processor(), time.Now()
	if err := take(ctx, news, b.duration); err != nil {
		return err
	}
	used, lasted := processor()-before, time.Since(began)
	got, bad, lost := 0, 0, uint64(0)
	for _, d := range b.devices {
		got, bad = got+d.got, bad+d.bad
		if l, is := d.session.(driver.Lossy); is {
			lost += l.Lost()
		}
	}
	fmt.Printf("%d × %s, security %s: %d items, %.0f values/s of %d, %d bad, %d lost, %.3f cores, %.1f µs a value, %.0f MB\n",
		b.processes, b.server, b.security, b.items, float64(got)/lasted.Seconds(), b.items, bad, lost, used.Seconds()/lasted.Seconds(), float64(used.Microseconds())/float64(max(1, got)), resident())
	return nil
}

// start runs a server.
func (b *bench) start(ctx context.Context, folder string) (*peer, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	items := strconv.Itoa(b.items / b.processes)
	p := &peer{}
	switch b.server {
	case "asyncua":
		args := []string{"testing/peers/opcua_peer.py", "--items", items}
		if b.security != "none" {
			cert, key, err := certificate(folder)
			if err != nil {
				return nil, err
			}
			args = append(args, "--certificate", cert, "--key", key)
		}
		p.cmd = exec.CommandContext(ctx, ".venv/bin/python", args...) //nolint:gosec // the peer
	case "node-opcua":
		p.cmd = exec.CommandContext(ctx, "node", "testing/peers/nodeopcua/server.mjs", "--items", items, "--certificates", folder) //nolint:gosec // the peer
	default:
		return nil, fmt.Errorf("-server: %q is not known; write asyncua or node-opcua", b.server)
	}
	p.cmd.Stderr = os.Stderr
	in, errIn := p.cmd.StdinPipe()
	out, errOut := p.cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, p.cmd.Start()); err != nil {
		return nil, fmt.Errorf("%w; run `make peers` first, and this in the root of the repository", err)
	}
	p.in = in
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	port, ready := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if !ready {
		return nil, fmt.Errorf("the server says %q: %w", line, err)
	}
	p.address = "opc.tcp://127.0.0.1:" + port + "/plant"
	return p, nil
}

// certificate makes a certificate with its key in files.
func certificate(folder string) (cert, key string, err error) {
	public, secret, err := client.NewCertificate("localhost", time.Hour)
	if err != nil {
		return "", "", err
	}
	cert, key = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	return cert, key, errors.Join(os.WriteFile(cert, public, 0o600), os.WriteFile(key, secret, 0o600))
}

// open subscribes to the items of a server.
func (b *bench) open(ctx context.Context, p *peer, news chan<- *device) (*device, error) {
	c := opcua.NewConfig()
	c.Endpoint, c.Security, c.Timeout = p.address, b.security, time.Minute
	for i := range b.items / b.processes {
		c.Registry.Entries = append(c.Registry.Entries, pointlist.Entry{Name: fmt.Sprintf("v%d", i), Node: fmt.Sprintf("nsu=urn:plant;s=v%d", i)})
	}
	if b.security != "none" {
		offers, err := c.Offers(ctx)
		if err != nil || len(offers) == 0 {
			return nil, fmt.Errorf("no offers: %w", err)
		}
		c.Fingerprint = offers[0].Fingerprint
		c.SetKeep(func(_ string, create func() ([]byte, error)) ([]byte, error) { return create() })
	}
	if problems := c.Validate(); len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	line, err := opcua.Kind().Dial(ctx, c)
	if err != nil {
		return nil, err
	}
	d := &device{}
	if d.session, err = line.Open(ctx, c); err != nil {
		return nil, err
	}
	var is bool
	if d.sub, is = d.session.(driver.Subscriber); !is {
		return nil, errors.New("the driver cannot subscribe")
	}
	names := make([]string, 0, len(c.Registry.Entries))
	for _, info := range c.Points() {
		names = append(names, string(info.Path))
	}
	b.devices = append(b.devices, d)
	return d, d.sub.Subscribe(ctx, names, func() {
		select {
		case news <- d:
		default:
		}
	})
}

// take takes reports for a while.
func take(ctx context.Context, news <-chan *device, duration time.Duration) error {
	end := time.After(duration)
	for {
		select {
		case <-end:
			return nil
		case d := <-news:
			if err := d.sub.Take(ctx, func(s point.Sample) {
				d.got++
				if !s.Quality.IsGood() {
					d.bad++
				}
			}); err != nil {
				return err
			}
		}
	}
}

// processor returns the time that the process has used.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resident returns the memory of the process in MB.
func resident() float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		var kilobytes float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kilobytes); n == 1 {
			return kilobytes / 1000
		}
	}
	return 0
}
