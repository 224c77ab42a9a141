package main

import "github.com/spf13/cobra"

func newAgent(f *flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "agent", Short: "Say which programs may use the bus, and for what",
		Long: `Say which programs may use the bus, and for what. An agent is a program with a key of its own;
it may do what it was granted, and nothing else.`,
	}
	for _, sub := range newAgentIdentity(f) {
		f.where.register(sub)
		strictArgs(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}
