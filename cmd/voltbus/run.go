package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/agents"
	"voltbus/cmd/voltbus/shell"
	"voltbus/config"
	"voltbus/config/revision"
	"voltbus/driver/all"
	"voltbus/identity"
	"voltbus/node"
	"voltbus/python"
)

func newRun(f *shell.Flags) *cobra.Command {
	file := "voltbus.yaml"
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run a node",
		Long: `Run a node until it is interrupted. It reloads its configuration on the signal SIGHUP, or
"voltbus reload": devices that did not change continue without a missed scan.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := f.Logger()
			if err != nil {
				return err
			}
			return runNode(cmd.Context(), file, log, func(n *node.Node) {
				n.Log().Info("node runs", slog.String("name", n.Config().Node.Name), slog.String("page", n.HTTPAddr()),
					slog.String("token_in", filepath.Join(n.Config().Node.Data, identity.AdminTokenFile)),
					slog.String("bus", n.BusAddr()), slog.Int("devices", len(n.Config().Devices)))
			})
		},
	}
	configFlag(cmd, &file)
	return cmd
}

func configFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVarP(file, "config", "c", *file, "configuration file")
	_ = cmd.MarkFlagFilename("config", "yaml", "yml")
}

// runNode runs the node that the file describes, until ctx ends. ready is called when it listens.
func runNode(ctx context.Context, file string, log *slog.Logger, ready func(*node.Node)) (err error) {
	back, err := revision.Recover(file)
	if err != nil {
		return err
	}
	cfg, err := config.Load(file, all.Kinds())
	if err != nil {
		return err
	}
	for _, note := range cfg.Notes {
		log.WarnContext(ctx, "part of a registry is left out", slog.String("note", note.String()))
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	lab, err := newKeeper(cfg.Node.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lab.Close()) }()
	exec, err := agents.AgentExec()
	if err != nil {
		return err
	}
	statement, err := statementExec()
	if err != nil {
		return err
	}
	// The node's files are closed to others, including agents with their own users.
	syscall.Umask(0o077)
	n, err := node.Open(ctx, node.Options{
		Config: cfg, File: file, Kinds: all.Kinds(), Log: log, Version: shell.Version(), Lab: lab, AgentExec: exec, Statement: statement, SDK: python.Wheel, WentBack: back,
	})
	if err != nil {
		return err
	}
	ready(n)
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	for {
		select {
		case err := <-done:
			return err
		case <-hangup:
			reload(ctx, n, file, n.Log())
		}
	}
}

// reload applies the file again. An invalid file changes nothing.
func reload(ctx context.Context, n *node.Node, file string, log *slog.Logger) {
	cfg, err := config.Load(file, all.Kinds())
	if err == nil {
		_, err = n.Reload(ctx, cfg)
	}
	if err != nil {
		log.ErrorContext(ctx, "configuration is not applied", slog.Any("err", err))
		fmt.Fprintln(os.Stderr, err)
	}
}
