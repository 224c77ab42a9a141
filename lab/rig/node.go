package rig

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"

	"voltbus/config"
	"voltbus/driver/all"
	"voltbus/fault"
	"voltbus/internal/memory"
	"voltbus/node"
)

// Node is a whole node in a process of its own, on a configuration file.
type Node struct {
	Config string `json:"config"`
}

const nodeKind = "node"

// NodeReady is what a node's process says when it listens.
type NodeReady struct {
	HTTP string `json:"http"` // an URL
	Bus  string `json:"bus"`
	Data string `json:"data"`
}

// statementCommand starts this process's command again, which then answers a statement, see Serve.
func statementCommand([]string, string) []string { return os.Args }

// serveNode runs a node in this process, as "voltbus run" does.
func serveNode(ctx context.Context, raw []byte, out io.Writer) error {
	var n Node
	if err := json.Unmarshal(raw, &n); err != nil {
		return fault.E("rig.Serve", fault.Invalid, nodeKind, err)
	}
	memory.Tune()
	cfg, err := config.Load(n.Config, all.Kinds())
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	opened, err := node.Open(ctx, node.Options{Config: cfg, Kinds: all.Kinds(), Log: log, Statement: statementCommand})
	if err != nil {
		return err
	}
	if err := say(out, NodeReady{HTTP: opened.HTTPAddr(), Bus: opened.BusAddr(), Data: cfg.Node.Data}); err != nil {
		return err
	}
	return opened.Run(ctx)
}
