// Command agent_request measures calls between two agents through a node, over TLS on loopback. See
// README.md beside it.
package main

import (
	"context"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/bus/client"
	"voltbus/config"
	"voltbus/driver/all"
	"voltbus/identity"
	"voltbus/node"
)

func main() {
	calls := flag.Int("calls", 100_000, "calls in each measurement")
	flag.Parse()
	if err := measure(*calls); err != nil {
		fmt.Fprintln(os.Stderr, "agent_request:", err)
		os.Exit(1)
	}
}

const site = "node: {name: bench, data: data}\nlisten: {http: 127.0.0.1:0, bus: 127.0.0.1:0}\n"

// measure runs a node with a callee and a caller in this process.
func measure(calls int) (err error) {
	dir, err := os.MkdirTemp("", "voltbus-bench-agents")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "voltbus.yaml")
	if err := os.WriteFile(file, []byte(site), 0o600); err != nil {
		return err
	}
	cfg, err := config.Load(file, all.Kinds())
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute)
	defer stop()
	n, err := node.Open(ctx, node.Options{Config: cfg, File: file, Kinds: all.Kinds(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	run, end := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- n.Run(run) }()
	defer func() { end(); err = errors.Join(err, <-done) }()
	callee, err := join(ctx, n, dir, "callee", identity.Grants{})
	if err != nil {
		return err
	}
	defer callee.Close()
	caller, err := join(ctx, n, dir, "caller", identity.Grants{Call: []identity.CallGrant{{Agent: "callee"}}})
	if err != nil {
		return err
	}
	defer caller.Close()
	for _, at := range []int{1, 100} {
		rate, err := callMany(ctx, caller, calls, at)
		if err != nil {
			return err
		}
		fmt.Printf("%d at once: %.0f calls/s\n", at, rate)
	}
	return nil
}

// join registers and connects an agent.
func join(ctx context.Context, n *node.Node, dir, name string, grants identity.Grants) (*client.Client, error) {
	pem, err := os.ReadFile(filepath.Join(dir, "data", "tls", "ca.pem"))
	if err != nil {
		return nil, err
	}
	ca := x509.NewCertPool()
	ca.AppendCertsFromPEM(pem)
	key, err := identity.OpenKey(filepath.Join(dir, name+".nk"))
	if err != nil {
		return nil, err
	}
	if _, err := n.Agents().Add(ctx, name, key.Public(), grants); err != nil {
		return nil, err
	}
	return client.Connect(ctx, client.Options{Address: n.BusAddr(), CA: ca, Key: key, Name: name})
}

// callMany pings with so many calls at once, and returns the calls a second.
func callMany(ctx context.Context, c *client.Client, calls, at int) (float64, error) {
	var left atomic.Int64
	left.Store(int64(calls))
	errs := make([]error, at)
	var group sync.WaitGroup
	began := time.Now()
	for i := range at {
		group.Go(func() {
			for errs[i] == nil && left.Add(-1) >= 0 {
				errs[i] = c.Call(ctx, "callee", "ping", nil)
			}
		})
	}
	group.Wait()
	return float64(calls) / time.Since(began).Seconds(), errors.Join(errs...)
}
