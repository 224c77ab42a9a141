package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"voltbus/agent/jail"
	"voltbus/cmd/voltbus/agents"
	"voltbus/store/duckdb"
)

// statementCommand is the hidden subcommand that answers one SQL statement.
const statementCommand = "sql-statement"

func newStatement() *cobra.Command {
	return &cobra.Command{
		Use: statementCommand, Hidden: true, Args: cobra.NoArgs,
		Short: "Execute one SQL statement for a node",
		RunE:  func(cmd *cobra.Command, _ []string) error { return duckdb.ServeStatement(cmd.Context()) },
	}
}

// statementExec returns the command for the process of a statement: this program, in a jail if the kernel supports it,
// with read access to the store's files and write access to one folder.
func statementExec() (func(read []string, write string) []string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return func(read []string, write string) []string {
		spec, err := json.Marshal(jail.Spec{
			Args: []string{self, statementCommand}, Dir: "/", Parent: os.Getpid(), Landlock: jail.Version() > 0,
			Read: append([]string{self, "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/proc", "/sys/fs/cgroup"}, read...), Write: []string{write},
		})
		if err != nil {
			return nil
		}
		return []string{self, agents.AgentExecCommand, string(spec)}
	}, nil
}
