package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/settings"
	"voltbus/cmd/voltbus/shell"
	"voltbus/config"
	"voltbus/driver/all"
	"voltbus/fault"
	"voltbus/internal/plural"
)

func newInit() *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use:   "init [file]",
		Short: "Write a commented configuration to start from",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := "voltbus.yaml"
			if len(args) > 0 {
				file = args[0]
			}
			mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
			if force {
				mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
			}
			out, err := os.OpenFile(file, mode, 0o600)
			if errors.Is(err, os.ErrExist) {
				return fault.E("init", fault.Conflict, file, errors.New("exists already; --force writes over it"))
			} else if err != nil {
				return fmt.Errorf("write the configuration: %w", err)
			}
			if _, err := out.Write(config.Template()); err != nil {
				return errors.Join(fmt.Errorf("write the configuration: %w", err), out.Close())
			}
			cmd.Printf("wrote %s\nnext: edit it, then run\n  voltbus check -c %s\n  voltbus run -c %s\n", file, file, file)
			return out.Close()
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "write over a file that exists")
	return cmd
}

func newCheck() *cobra.Command {
	file, asJSON := "voltbus.yaml", false
	cmd := &cobra.Command{
		Use:   "check [file]",
		Short: "Check a configuration and report all problems",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				file = args[0]
			}
			cfg, err := config.Load(file, all.Kinds())
			if asJSON {
				return checkJSON(cmd, cfg, err)
			}
			if err != nil {
				return err
			}
			points := 0
			for i := range cfg.Devices {
				points += len(cfg.Devices[i].Config.Points())
			}
			for _, note := range cfg.Notes {
				cmd.Println(note)
			}
			cmd.Printf("%s is fine: %s, %s\n", file, plural.Of(len(cfg.Devices), "device"), plural.Of(points, "point"))
			return nil
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the problems as JSON")
	return cmd
}

func checkJSON(cmd *cobra.Command, _ *config.Config, err error) error {
	var problems config.Problems
	if err != nil && !errors.As(err, &problems) {
		return err
	}
	if problems == nil {
		cmd.Println("[]")
		return nil
	}
	data, marshal := json.MarshalIndent(problems, "", "  ")
	if marshal != nil {
		return fmt.Errorf("print the problems: %w", marshal)
	}
	cmd.Println(string(data))
	return fault.E("check", fault.Invalid, "", errors.New("the configuration has problems"))
}

func newReload(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Make a running node on this machine reload its configuration",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.Where.Node != "" {
				return settings.ReloadElsewhere(f, cmd)
			}
			dir, err := f.Where.Directory()
			if err != nil {
				return err
			}
			addresses, err := shell.ReadAddresses(dir)
			if err != nil {
				return err
			}
			if err := syscall.Kill(addresses.Process, syscall.SIGHUP); err != nil {
				return fault.E("reload", fault.Unreachable, dir, fmt.Errorf("tell process %d: %w", addresses.Process, err))
			}
			cmd.Printf("told process %d; its log says what changed\n", addresses.Process)
			return nil
		},
	}
	f.Where.Register(cmd)
	return f.Where.Elsewhere(cmd)
}

func newVersion() *cobra.Command {
	var asJSON, notices bool
	var bill string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the program's version, or the third-party software that it contains",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case notices:
				return writeText(cmd.OutOrStdout(), thirdParty)
			case bill != "":
				return writeBill(cmd.OutOrStdout(), bill)
			}
			v := shell.Version()
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(v)
			}
			cmd.Printf("voltbus %s %s (%s)\n", v.Version, v.Commit, v.Go)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&notices, "notices", false, "print the licences of the software by others in this program")
	cmd.Flags().StringVar(&bill, "sbom", "", "print the bill of materials in JSON: spdx (2.3) or cyclonedx (1.6)")
	cmd.Flags().Lookup("sbom").NoOptDefVal = "spdx"
	cmd.MarkFlagsMutuallyExclusive("json", "notices", "sbom")
	return cmd
}
