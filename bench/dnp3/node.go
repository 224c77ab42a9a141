package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/config"
	"voltbus/driver/all"
	"voltbus/identity"
	"voltbus/internal/memory"
	"voltbus/lab/dnp3pairs"
	"voltbus/node"
	"voltbus/operation/ledger"
)

// site is a node that takes the reports of outstations: driver, recorder and log.
type site struct {
	dir, engine string
	client      *client.Client
	stop        context.CancelFunc
	done        chan error
}

// through measures what reaches the log of a node.
func through(ctx context.Context, o options) (r dnp3pairs.Result, err error) {
	memory.Tune()
	dir, err := os.MkdirTemp(o.dir, "voltbus-bench-dnp3")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := &site{dir: dir, engine: o.store}
	defer func() { err = errors.Join(err, s.end()) }()
	return dnp3pairs.MeasureConsumer(ctx, o.Options, s)
}

// Start implements dnp3pairs.Consumer.
func (s *site) Start(ctx context.Context, addresses []string) error {
	file := filepath.Join(s.dir, "voltbus.yaml")
	if err := errors.Join(
		os.WriteFile(filepath.Join(s.dir, "points.csv"), []byte(registry()), 0o600),
		os.WriteFile(file, []byte(s.configuration(addresses)), 0o600),
	); err != nil {
		return err
	}
	cfg, err := config.Load(file, all.Kinds())
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	n, err := node.Open(ctx, node.Options{Config: cfg, Kinds: all.Kinds(), Log: log, Version: answer.Version{Version: "bench"}})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop, s.done = stop, make(chan error, 1)
	go func() { s.done <- n.Run(running) }()
	token, err := identity.ReadToken(filepath.Join(s.dir, "data", identity.AdminTokenFile))
	if err != nil {
		return err
	}
	s.client, err = client.New(n.HTTPAddr(), token, nil)
	return err
}

func (s *site) end() error {
	if s.stop == nil {
		return nil
	}
	s.stop()
	return <-s.done
}

// Taken implements dnp3pairs.Consumer: what is on disk. What is on disk was confirmed, or is about to be.
func (s *site) Taken(ctx context.Context) (uint64, error) {
	l, err := client.Do(ctx, s.client, ledger.Get, ledger.Reach{})
	if err != nil || len(l.Origins) == 0 {
		return 0, err
	}
	return l.Origins[0].Acknowledged, nil
}

// configuration has a device for each outstation. Its events are at random times of years ago, which no device
// reports: they are recorded as they arrive.
func (s *site) configuration(addresses []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "node: {name: bench, data: data}\nlisten: {http: 127.0.0.1:0, bus: off}\nlog: {max_bytes: 32GiB}\nstore: {engine: %s}\ndevices:\n", s.engine)
	for i, address := range addresses {
		fmt.Fprintf(&b, "  - {path: bench/d%d, driver: dnp3, interval: 0, subscribe: true, config: {address: %q, unsolicited: [1], clock: received, registry: points.csv}}\n", i, address)
	}
	return b.String()
}

// registry lists the points of an outstation.
func registry() string {
	var b strings.Builder
	b.WriteString("name,type,index\n")
	for _, kind := range []string{"binary_input", "counter", "analog_input"} {
		for i := range dnp3pairs.Points {
			fmt.Fprintf(&b, "%s_%d,%s,%d\n", kind, i, kind, i)
		}
	}
	return b.String()
}
