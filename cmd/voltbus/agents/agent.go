package agents

import (
	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
)

// NewAgent returns the command "agent".
func NewAgent(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "agent", Short: "Write, install and run agents, and say what they may do",
		Long: `Write, install and run agents, and say what they may do. An agent is a program in a process of its
own, with a key of its own; it may do what it was granted, and nothing else.`,
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
