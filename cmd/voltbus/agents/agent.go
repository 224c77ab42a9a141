package agents

import (
	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
)

// NewAgent returns the command "agent".
func NewAgent(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "agent", Short: "Create, install, run and authorise agents",
		Long: `Create, install, run and authorise agents. An agent is a program in a process of its
own, with a key of its own; it may do only what it was granted.`,
	}
	for _, sub := range append(newAgentProcess(f), newAgentIdentity(f)...) {
		if sub.Name() != "new" && sub.Name() != "sdk" {
			f.Where.Register(sub)
		}
		shell.StrictArgs(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}
