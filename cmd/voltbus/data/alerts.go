package data

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/operation/alerts"
)

// NewAlerts returns the command "alerts".
func NewAlerts(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "alerts", Short: "List alerts of agents",
		Long: `List the open alerts of agents, the most severe and then the newest first. An alert stays open, also over restarts,
until its agent clears it. If you clear it, the node asks the agent: it stays open if the cause lasts or the agent does
not answer. An alert of a disconnected agent opens again when the agent returns.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error { return listAlerts(s, ctx, &out) })
		},
	}
	out.Register(cmd)
	clearing := &cobra.Command{
		Use: "clear <agent> <key>", Short: "Clear an alert, unless its agent reports that its cause lasts", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				return client.Tell(ctx, s.Client, alerts.Clear, alerts.Alert{Agent: args[0], Key: args[1]})
			})
		},
	}
	f.Where.Register(clearing)
	shell.StrictArgs(clearing)
	cmd.AddCommand(clearing)
	return cmd
}

func listAlerts(s shell.Session, ctx context.Context, out *shell.Format) error {
	list, err := client.Do(ctx, s.Client, alerts.List, struct{}{})
	if err != nil {
		return err
	}
	rows, err := out.Open(s.OutOrStdout(), "severity", "agent", "key", "text", "since", "last", "count")
	if err != nil {
		return err
	}
	for _, a := range list.Alerts {
		err := rows.Row(a.Severity, a.Agent, a.Key, a.Text, a.First.Format(time.RFC3339), a.Last.Format(time.RFC3339), a.Count)
		if err != nil {
			return err
		}
	}
	return rows.End()
}
