package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/internal/datadir"
	"voltbus/lab/demo"
	"voltbus/node"
)

// figureDir is the folder of the figure within that of the demonstration.
const figureDir = "campus-figure"

// runFigure runs a campus, its building and two zones, with an application outside that is let in.
func runFigure(cmd *cobra.Command, log *slog.Logger, site *demo.Site) error {
	figure := demo.Figure{Dir: filepath.Join(site.Dir, figureDir), HTTP: site.HTTP, Bus: site.Bus, MQTT: "127.0.0.1:1883"}
	for _, m := range demo.Members() {
		if data := filepath.Join(filepath.Dir(figure.File(&m)), "data"); datadir.InUse(data) {
			return fault.E("demo", fault.Conflict, figure.Dir, errors.New("the demonstration runs already in this directory; look at it, or give another one with --dir"))
		}
	}
	if err := figure.Write(cmd.Context()); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(cmd.Context())
	err := grow(ctx, group, figure, log, cmd)
	if err != nil {
		group.Go(func() error { return err }) // ends the nodes that run
	}
	return group.Wait()
}

// grow starts the nodes, parents first, joins them and lets the application in.
func grow(ctx context.Context, group *errgroup.Group, figure demo.Figure, log *slog.Logger, cmd *cobra.Command) error {
	clients := map[string]*client.Client{}
	cmd.Println("\n  The campus of the figure runs:")
	var top *node.Node
	for _, m := range demo.Members() {
		n, err := startMember(ctx, group, figure.File(&m), log.With(slog.String("node", m.Name)))
		if err != nil {
			return err
		}
		token, err := identity.ReadToken(filepath.Join(n.Config().Node.Data, identity.AdminTokenFile))
		if err != nil {
			return err
		}
		if clients[m.Name], err = client.New(n.HTTPAddr(), token, nil); err != nil {
			return err
		}
		if m.Parent == "" {
			top = n
		} else if err := m.Join(ctx, clients[m.Parent], clients[m.Name]); err != nil {
			return err
		}
		cmd.Printf("    %-9s %s/#token=%s\n", m.Name, n.HTTPAddr(), token)
	}
	campus := demo.Members()[0]
	if err := figure.Admit(ctx, clients[campus.Name], top.MQTTAddr(false)); err != nil {
		return err
	}
	if err := known(ctx, top, len(demo.Members())-1); err != nil {
		return err
	}
	cmd.Printf(`
  application outside, all that it is given
    %s
  In another terminal:
    python forecast.py %[1]s
    %[2]s call mqtt.applications -c %[3]s

  Ctrl-C stops all of them.
`, figure.Account(), programName(), figure.File(&campus))
	return nil
}

// known waits until a node knows as many descendants, and all are connected.
func known(ctx context.Context, top *node.Node, want int) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		connected := 0
		for _, n := range top.Subtree().Nodes() {
			if n.Away.IsZero() {
				connected++
			}
		}
		if connected == want {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil // it was stopped
		case <-tick.C:
		}
	}
}

// startMember starts a node in the group and returns it when it listens.
func startMember(ctx context.Context, group *errgroup.Group, file string, log *slog.Logger) (*node.Node, error) {
	ready, ended := make(chan *node.Node, 1), make(chan error, 1)
	group.Go(func() error {
		err := runNode(ctx, file, log, func(n *node.Node) { ready <- n })
		ended <- err
		return err
	})
	select {
	case n := <-ready:
		return n, nil
	case err := <-ended:
		return nil, err
	}
}
