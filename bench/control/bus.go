package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/bus/client"
	"voltbus/config"
	"voltbus/driver/all"
	"voltbus/identity"
	"voltbus/node"
	"voltbus/point"
)

// overBus has a whole node with simulated devices carry out single commands, and one call for all devices,
// of an agent on its bus. Node, agent and devices are this process.
func (b *bench) overBus(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp(b.dir, "control-bus-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	n, err := b.open(ctx, dir)
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- n.Run(running) }()
	agent, err := admit(ctx, n, dir)
	if err == nil {
		err = b.asked(ctx, agent)
		agent.Close()
	}
	stop()
	return errors.Join(err, <-done)
}

// open makes a node that owns the devices.
func (b *bench) open(ctx context.Context, dir string) (*node.Node, error) {
	var text strings.Builder
	text.WriteString("node: {name: bench, data: data}\nlisten: {http: 127.0.0.1:0, bus: 127.0.0.1:0}\nstore: {engine: none}\ndevices:\n")
	for i := range b.devices {
		fmt.Fprintf(&text, "  - {path: site/d%d, driver: sim, interval: 1h, read_at_start: false, config: {model: zone, seed: %d}}\n", i, i+1)
		b.points = append(b.points, point.Path(fmt.Sprintf("site/d%d/setpoint", i)))
	}
	file := filepath.Join(dir, "voltbus.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		return nil, err
	}
	cfg, err := config.Load(file, all.Kinds())
	if err != nil {
		return nil, err
	}
	return node.Open(ctx, node.Options{Config: cfg, File: file, Kinds: all.Kinds(), Log: slog.New(slog.DiscardHandler)})
}

// admit connects an agent that may command everything.
func admit(ctx context.Context, n *node.Node, dir string) (*client.Client, error) {
	key, err := identity.OpenKey(filepath.Join(dir, "bench.nk"))
	if err != nil {
		return nil, err
	}
	grants := identity.Grants{Command: []identity.CommandGrant{{Path: "site/**", Level: 8}}}
	if _, err := n.Agents().Add(ctx, "bench", key.Public(), grants); err != nil {
		return nil, err
	}
	pem, err := os.ReadFile(filepath.Join(dir, "data", "tls", "ca.pem")) //nolint:gosec // a folder of the program
	if err != nil {
		return nil, err
	}
	ca := x509.NewCertPool()
	ca.AppendCertsFromPEM(pem)
	return client.Connect(ctx, client.Options{Address: n.BusAddr(), CA: ca, Key: key, Name: "bench"})
}

// asked measures one call for every device, and single commands.
func (b *bench) asked(ctx context.Context, agent *client.Client) error {
	best, used := time.Hour, time.Hour
	for round := range b.rounds + 1 { // the first one opens every line
		commands := make([]client.Command, len(b.points))
		for i, path := range b.points {
			commands[i] = client.Command{Point: path, Value: point.FloatOf(float64(20 + round%5))}
		}
		start, begin := processor(), time.Now()
		results, err := agent.Control().WriteMany(ctx, commands)
		if err != nil {
			return err
		}
		for i := range results {
			if err := client.FailedCommand(&results[i]); err != nil {
				return err
			}
		}
		if round > 0 {
			best, used = min(best, time.Since(begin)), min(used, processor()-start)
		}
	}
	fmt.Printf("bus  one call: %v with the devices', %v of processor\n", best.Round(time.Millisecond/10), used.Round(time.Millisecond/10))
	return b.singly(ctx, agent)
}

// singly has many callers command one point after another, each waiting for the device.
func (b *bench) singly(ctx context.Context, agent *client.Client) error {
	var done atomic.Int64
	var failed atomic.Pointer[error]
	var callers sync.WaitGroup
	before, begin := processor(), time.Now()
	for k := range b.callers {
		callers.Go(func() {
			for n := 0; time.Since(begin) < b.time; n++ {
				path := b.points[k+n%(len(b.points)/b.callers)*b.callers] // its own ones
				if _, err := agent.Control().Write(ctx, client.Command{Point: path, Value: point.FloatOf(float64(20 + n%7))}); err != nil {
					failed.Store(&err)
					return
				}
				done.Add(1)
			}
		})
	}
	callers.Wait()
	n := float64(done.Load())
	fmt.Printf("bus  single: %.0f/s from %d callers, %.0f µs of processor each\n",
		n/time.Since(begin).Seconds(), b.callers, float64((processor()-before).Microseconds())/n)
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}
