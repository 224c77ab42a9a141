package main

import (
	"os"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/agents"
	"voltbus/cmd/voltbus/call"
	"voltbus/cmd/voltbus/commands"
	"voltbus/cmd/voltbus/convert"
	"voltbus/cmd/voltbus/data"
	"voltbus/cmd/voltbus/fieldtool"
	"voltbus/cmd/voltbus/nodes"
	"voltbus/cmd/voltbus/settings"
	"voltbus/cmd/voltbus/shell"
	"voltbus/cmd/voltbus/virtual"
)

const exitCodes = `0  all is well
1  something failed; the message says what
2  wrong use, or a wrong configuration
3  the node does not answer, or cannot do it now
4  not allowed: a token or role is missing, or a command was refused because of what somebody else holds
5  there is no such thing
6  the device took a command, and reports another value
7  a command was accepted, and a rate, a minimum time or a pause holds it back`

func newRoot() *cobra.Command {
	f := &shell.Flags{}
	root := &cobra.Command{
		Use:   "voltbus",
		Short: "Collect data from devices, meters and substations, store it durably, show it",
		Long: `Voltbus collects data from devices, meters and substations, keeps every reading
durably and shows it.

  voltbus demo            see it at work, without any hardware
  voltbus init            write a configuration to start from
  voltbus check           find what is wrong with a configuration
  voltbus run             run a node`,
		SilenceErrors: true, SilenceUsage: true,
	}
	root.SetOut(os.Stdout)
	root.SetFlagErrorFunc(shell.WrongFlag)
	calling := call.New(&call.Program{With: f.Where.WithClient, Show: func(cmd *cobra.Command, text string) { cmd.Println(shell.PlainLines(text)) }})
	p := root.PersistentFlags()
	p.StringVar(&f.LogLevel, "log-level", "info", "least important log messages shown: debug, info, warn, error")
	p.StringVar(&f.LogFormat, "log-format", "text", "form of log messages: text or json")
	root.AddGroup(&cobra.Group{ID: "node", Title: "Run a node:"}, &cobra.Group{ID: "data", Title: "Look at its data:"},
		&cobra.Group{ID: "nodes", Title: "Join nodes:"}, &cobra.Group{ID: "control", Title: "Command its devices:"})
	for _, cmd := range []*cobra.Command{
		newRun(f), newDemo(f), newInit(), newCheck(), newReload(f), settings.NewUser(f), agents.NewAgent(f), settings.NewToken(f), settings.NewAudit(f), settings.NewConfig(f), settings.NewMQTT(f), convert.New(),
	} {
		cmd.GroupID = "node"
		root.AddCommand(cmd)
	}
	for _, cmd := range []*cobra.Command{
		data.NewPoints(f), data.NewTail(f), data.NewQuery(f), data.NewExport(f), data.NewImport(f), data.NewSQL(f), data.NewLedger(f), data.NewHealth(f), data.NewDevices(f), data.NewAlerts(f), data.NewAlarms(f), data.NewSinks(f), data.NewSources(f), data.NewJudge(f), newMeter(f), f.Where.Elsewhere(data.NewLogs(f)), f.Where.Elsewhere(calling),
	} {
		cmd.GroupID = "data"
		f.Where.Register(cmd)
		root.AddCommand(cmd)
	}
	for _, cmd := range []*cobra.Command{
		nodes.NewNodes(f), nodes.NewCluster(f), nodes.NewInvite(f), nodes.NewChildren(f), nodes.NewProvision(f), nodes.NewJoin(f), nodes.NewLeave(f), nodes.NewUplink(f),
	} {
		cmd.GroupID = "nodes"
		root.AddCommand(cmd)
	}
	for _, cmd := range []*cobra.Command{
		commands.NewGet(f), commands.NewSet(f), commands.NewApprove(f), f.Where.Elsewhere(commands.NewRelease(f)), f.Where.Elsewhere(commands.NewRevert(f)), f.Where.Elsewhere(commands.NewWho(f)), f.Where.Elsewhere(commands.NewReserve(f)),
		f.Where.Elsewhere(commands.NewCancel(f)), f.Where.Elsewhere(commands.NewSchedule(f)), f.Where.Elsewhere(commands.NewOverride(f)),
	} {
		cmd.GroupID = "control"
		f.Where.Register(cmd)
		root.AddCommand(cmd)
	}
	root.AddCommand(fieldtool.Commands(f)...)
	root.AddCommand(newLab(f), newLabPart(), virtual.NewWorld(), virtual.NewReplay(f), newVersion(), newBoiler(), newCampus(), agents.NewAgentExec(), newStatement(), &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: exitCodes})
	for _, cmd := range root.Commands() {
		shell.StrictArgs(cmd)
		shell.StrictGroup(cmd)
	}
	return root
}
