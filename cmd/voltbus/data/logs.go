package data

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/agents"
	"voltbus/cmd/voltbus/shell"
	"voltbus/internal/plural"
	"voltbus/operation"
	"voltbus/operation/nodelog"
)

// NewLogs returns the command for the node's own log, and for the output of its agents.
func NewLogs(f *shell.Flags) *cobra.Command {
	var lines client.Lines
	follow := false
	cmd := &cobra.Command{
		Use: "logs [agent]", Short: "Show the node's own log, or the output of an agent", Args: cobra.MaximumNArgs(1),
		Long: `Show the newest records of the node's own log, or, with the name of an agent, its output. The
node keeps its newest records in memory, up to 1 MiB, while it runs; reading them needs the role engineer, and the audit
log records the reader. With --node it is the log of another node, which must allow its ancestors
"call node:log".`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				if len(args) == 1 {
					return agents.ShowLogs(ctx, s, args[0], lines, follow)
				}
				return showNodeLog(ctx, s, lines, follow)
			})
		},
	}
	agents.LogFlags(cmd, &lines, &follow)
	return cmd
}

func showNodeLog(ctx context.Context, s shell.Session, lines client.Lines, follow bool) error {
	show := func(l answer.NodeLogLine) error {
		extra := ""
		if len(l.Extra) > 0 {
			extra = " " + string(l.Extra)
		}
		_, err := fmt.Fprintf(s.OutOrStdout(), "%s %-7s %s%s\n", l.Time.Local().Format(time.DateTime), shell.Plain(l.Level), shell.Plain(l.Message), shell.Plain(extra))
		return err
	}
	if follow {
		return s.FollowNodeLog(ctx, lines, show, func(count uint64) error {
			_, err := fmt.Fprintf(s.OutOrStdout(), "… %s left out here, since more came than were read\n", plural.Were(count, "record"))
			return err
		})
	}
	list, err := client.Do(ctx, s.Client, nodelog.Read, nodelog.Lines{Level: lines.Level, Search: lines.Search, Since: operation.Time(lines.Since), Limit: lines.Limit})
	if err == nil && len(list.Entries) == 0 {
		s.PrintErrln("the node has logged nothing of this since it started")
	}
	for i := 0; err == nil && i < len(list.Entries); i++ {
		err = show(list.Entries[i])
	}
	return err
}
