package main

import (
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/call"
	"voltbus/cmd/voltbus/convert"
	"voltbus/fault"
)

// flags are those that every subcommand has.
type flags struct {
	logLevel  string
	logFormat string
	where     where
}

const exitCodes = `0  all is well
1  something failed; the message says what
2  wrong use, or a wrong configuration
3  the node does not answer, or cannot do it now
4  not allowed: a token or role is missing, or a command was refused because of what somebody else holds
5  there is no such thing
6  the device took a command, and reports another value
7  a command was accepted, and a rate, a minimum time or a pause holds it back`

func newRoot() *cobra.Command {
	f := &flags{}
	root := &cobra.Command{
		Use:   "voltbus",
		Short: "Collect data from devices, meters and substations, keep it durably, show it",
		Long: `Voltbus collects data from devices, meters and substations, keeps every reading
durably and shows it.

  voltbus demo            see it at work, without any hardware
  voltbus init            write a configuration to start from
  voltbus check           find what is wrong with a configuration
  voltbus run             run a node`,
		SilenceErrors: true, SilenceUsage: true,
	}
	root.SetOut(os.Stdout)
	root.SetFlagErrorFunc(wrongFlag)
	calling := call.New(&call.Program{With: f.where.withClient, Show: func(cmd *cobra.Command, text string) { cmd.Println(plainLines(text)) }})
	p := root.PersistentFlags()
	p.StringVar(&f.logLevel, "log-level", "info", "least important log messages shown: debug, info, warn, error")
	p.StringVar(&f.logFormat, "log-format", "text", "form of log messages: text or json")
	root.AddGroup(&cobra.Group{ID: "node", Title: "Run a node:"}, &cobra.Group{ID: "data", Title: "Look at its data:"},
		&cobra.Group{ID: "nodes", Title: "Join nodes:"}, &cobra.Group{ID: "control", Title: "Command its devices:"})
	for _, cmd := range []*cobra.Command{
		newRun(f), newDemo(f), newInit(), newCheck(), newReload(f), newUser(f), newAgent(f), newToken(f), newAudit(f), newConfig(f), newMQTT(f), convert.New(),
	} {
		cmd.GroupID = "node"
		root.AddCommand(cmd)
	}
	for _, cmd := range []*cobra.Command{
		newPoints(f), newTail(f), newQuery(f), newExport(f), newImport(f), newSQL(f), newLedger(f), newHealth(f), newDevices(f), newAlerts(f), newMeter(f), f.where.elsewhere(newLogs(f)), f.where.elsewhere(calling),
	} {
		cmd.GroupID = "data"
		f.where.register(cmd)
		root.AddCommand(cmd)
	}
	for _, cmd := range []*cobra.Command{
		newNodes(f), newInvite(f), newChildren(f), newProvision(f), newJoin(f), newLeave(f), newUplink(f),
	} {
		cmd.GroupID = "nodes"
		root.AddCommand(cmd)
	}
	for _, cmd := range []*cobra.Command{
		newGet(f), newSet(f), newApprove(f), f.where.elsewhere(newRelease(f)), f.where.elsewhere(newRevert(f)), f.where.elsewhere(newWho(f)), f.where.elsewhere(newReserve(f)),
		f.where.elsewhere(newCancel(f)), f.where.elsewhere(newSchedule(f)), f.where.elsewhere(newOverride(f)),
	} {
		cmd.GroupID = "control"
		f.where.register(cmd)
		root.AddCommand(cmd)
	}
	root.AddCommand(newDNP3(f), newModbus(), newLab(f), newLabPart(), newVersion(), newBoiler(), newAgentExec(), newStatement(), &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: exitCodes})
	for _, cmd := range root.Commands() {
		strictArgs(cmd)
		strictGroup(cmd)
	}
	return root
}

// strictArgs makes a wrong number of arguments wrong use, with the way out.
func strictArgs(cmd *cobra.Command) {
	check := cmd.Args
	if check == nil {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return wrongArgs(cmd, args, err)
		}
		return nil
	}
}

// strictGroup makes an unknown subcommand wrong use; without one a group shows its help.
func strictGroup(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		strictGroup(sub)
	}
	if !cmd.HasSubCommands() || cmd.Runnable() {
		return
	}
	cmd.DisableFlagsInUseLine = true
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usage(fmt.Errorf("unknown command %q; see %s --help", args[0], cmd.CommandPath()))
		}
		return cmd.Help()
	}
}

// usage marks an error as wrong use of the command line.
func usage(err error) error { return fault.E("voltbus", fault.Invalid, "", err) }

// logger returns the log of the program, on standard error.
func (f *flags) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return nil, usage(fmt.Errorf("--log-level %q is not known; write debug, info, warn or error", f.logLevel))
	}
	opts := &slog.HandlerOptions{Level: level}
	switch strings.ToLower(f.logFormat) {
	case "text":
		return slog.New(slog.NewTextHandler(os.Stderr, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(os.Stderr, opts)), nil
	}
	return nil, usage(fmt.Errorf("--log-format %q is not known; write text or json", f.logFormat))
}
