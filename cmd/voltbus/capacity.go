package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/lab/capacity"
)

func newLabCapacity() *cobra.Command {
	var w shell.Target
	asJSON := false
	cmd := &cobra.Command{
		Use: "capacity", Short: "Measure how many devices, points and clients this machine carries",
		Long: `Measure this machine with short loads on the loopback interface, for about a minute, and estimate
how many devices, points and clients it carries and which resource is the limit. The result is
kept in the data directory of the node on this machine, where the page and the API show it;
without a node it is only printed. The node may run meanwhile; then its load counts as used.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return measureCapacity(cmd, &w, asJSON) },
	}
	cmd.Flags().StringVarP(&w.Config, "config", "c", "", "configuration of the node on this machine (default voltbus.yaml, else that of the demonstration)")
	cmd.Flags().StringVar(&w.Data, "data", "", "data directory of the node on this machine")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, for programs")
	_ = cmd.MarkFlagFilename("config", "yaml", "yml")
	_ = cmd.MarkFlagDirname("data")
	return cmd
}

func measureCapacity(cmd *cobra.Command, w *shell.Target, asJSON bool) (err error) {
	data, err := w.Directory()
	if err != nil && (w.Config != "" || !fault.Is(err, fault.NotFound)) {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if data != "" {
		if err := os.MkdirAll(data, 0o750); err != nil {
			return fault.E("lab capacity", fault.Unavailable, data, err)
		}
	}
	dir, err := os.MkdirTemp(data, ".capacity") // on the node's disk
	if err != nil {
		return fault.E("lab capacity", fault.Unavailable, data, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	found, err := capacity.Measure(cmd.Context(), capacity.Options{
		Dir: dir, Program: []string{self, labPartCommand},
		Report: func(step string) { cmd.PrintErrln(step) },
	})
	if err != nil {
		return err
	}
	if data != "" {
		if err := found.Keep(filepath.Join(data, capacityFile)); err != nil {
			return err
		}
	}
	if asJSON {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(found)
	}
	for _, line := range found.Words {
		cmd.Println(line)
	}
	return nil
}
