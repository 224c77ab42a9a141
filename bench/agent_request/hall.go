package main

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"voltbus/bus/client"
	"voltbus/config"
	"voltbus/driver/all"
	"voltbus/identity"
	"voltbus/node"
)

const site = "node: {name: bench, data: data}\nlisten: {http: 127.0.0.1:0, bus: 127.0.0.1:0}\n"

// hall is a node in a folder of its own.
type hall struct {
	dir  string
	node *node.Node
	end  context.CancelFunc
	done chan error
}

func open(ctx context.Context) (*hall, error) {
	dir, err := os.MkdirTemp("", "voltbus-bench-agents")
	if err != nil {
		return nil, err
	}
	h := &hall{dir: dir, done: make(chan error, 1)}
	if err := h.start(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return h, nil
}

func (h *hall) start(ctx context.Context) error {
	file := filepath.Join(h.dir, "voltbus.yaml")
	if err := os.WriteFile(file, []byte(site), 0o600); err != nil {
		return err
	}
	cfg, err := config.Load(file, all.Kinds())
	if err != nil {
		return err
	}
	if h.node, err = node.Open(ctx, node.Options{Config: cfg, File: file, Kinds: all.Kinds(), Log: slog.New(slog.DiscardHandler)}); err != nil {
		return err
	}
	ctx, h.end = context.WithCancel(ctx)
	go func() { h.done <- h.node.Run(ctx) }()
	return nil
}

func (h *hall) close() error {
	h.end()
	return errors.Join(<-h.done, os.RemoveAll(h.dir))
}

// register lets an agent in, with a key that is made in the folder.
func (h *hall) register(ctx context.Context, name string, grants identity.Grants) error {
	key, err := identity.OpenKey(filepath.Join(h.dir, name+".nk"))
	if err != nil {
		return err
	}
	_, err = h.node.Agents().Add(ctx, name, key.Public(), grants)
	return err
}

// join registers and connects an agent.
func (h *hall) join(ctx context.Context, name string, grants identity.Grants) (*client.Client, error) {
	if err := h.register(ctx, name, grants); err != nil {
		return nil, err
	}
	return connect(ctx, h.dir, h.node.BusAddr(), name)
}

// connect connects an agent whose key is in the folder of the node.
func connect(ctx context.Context, dir, address, name string) (*client.Client, error) {
	pem, err := os.ReadFile(filepath.Join(dir, "data", "tls", "ca.pem")) //nolint:gosec // a folder of the program
	if err != nil {
		return nil, err
	}
	ca := x509.NewCertPool()
	ca.AppendCertsFromPEM(pem)
	key, err := identity.OpenKey(filepath.Join(dir, name+".nk"))
	if err != nil {
		return nil, err
	}
	return client.Connect(ctx, client.Options{Address: address, CA: ca, Key: key, Name: name})
}
