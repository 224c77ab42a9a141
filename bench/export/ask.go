package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"voltbus/api/client"
	"voltbus/identity"
	"voltbus/lab/machine"
	"voltbus/node"
)

const site = `node: {name: bench}
listen: {http: 127.0.0.1:0, bus: 127.0.0.1:0}
`

// startLimit is how long a node may take until it answers.
const startLimit = 30 * time.Second

// export starts a node, asks it for everything once, and prints what that took.
func (t *task) export(ctx context.Context, format string) (err error) {
	file := filepath.Join(t.dir, "voltbus.yaml")
	if err := os.WriteFile(file, []byte(site), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, t.bin, "run", "--config", file, "--log-level", "error")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cmd.Process.Signal(syscall.SIGINT), cmd.Wait()) }()
	c, err := t.connect(ctx)
	if err != nil {
		return err
	}
	whole := client.Span{Pattern: "campus/**", From: first().Format(time.RFC3339), To: first().AddDate(1, 0, 0).Format(time.RFC3339)}
	meter := machine.NewMeter(cmd.Process.Pid)
	n, err := c.Export(ctx, whole, format, io.Discard)
	if err != nil {
		return err
	}
	used, err := meter.Usage()
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "| %s | %d | %d | %.2f | %.2f | %d MB |\n", format, t.samples, n.Bytes/1e6, used.Wall, used.CPU, used.Peak/1e6)
	return nil
}

// connect waits until the node answers.
func (t *task) connect(ctx context.Context) (*client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		c, err := t.dial()
		if err == nil {
			if _, err = c.Latest(ctx, client.Span{Pattern: "campus/b000/**"}); err == nil {
				return c, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the node does not answer: %w", err)
		case <-tick.C:
		}
	}
}

func (t *task) dial() (*client.Client, error) {
	data := filepath.Join(t.dir, "data")
	text, err := os.ReadFile(filepath.Join(data, node.AddressFile))
	if err != nil {
		return nil, err
	}
	var a node.Addresses
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, err
	}
	token, err := identity.ReadToken(filepath.Join(data, identity.AdminTokenFile))
	if err != nil {
		return nil, err
	}
	return client.New(a.HTTP, token, nil)
}
