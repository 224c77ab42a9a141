package data

import (
	"context"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/operation"
	"voltbus/operation/sinks"
)

// NewSinks returns the command "sinks".
func NewSinks(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "sinks", Short: "Show destinations of readings outside: what each got, and what waits",
		Long: `Show the destinations of readings that the section sinks of the configuration names: Elasticsearch, Kafka, InfluxDB and others.
Each has a position of its own in the log, so that one that is away loses nothing and slows nothing down.`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(listSinks(f), listRefused(f),
		countRefused(f, "resend", "Send readings again that a destination refused", "accepted", sinks.Resend),
		countRefused(f, "discard", "Discard readings that a destination refused; the history still has them", "discarded", sinks.Discard),
		backfill(f))
	shell.StrictArgs(cmd)
	return cmd
}

func listSinks(f *shell.Flags) *cobra.Command {
	return listing[struct{}, sinks.AllSinks]{
		use: "list", short: "List the destinations, with what each got", args: cobra.NoArgs, operation: sinks.List, in: nothing,
		columns: []string{"name", "kind", "state", "waiting", "sent", "left out", "refused", "kept", "withheld", "missing", "from history", "reason"},
		rows: func(list *sinks.AllSinks) (rows [][]any) {
			for i := range list.Sinks {
				d := &list.Sinks[i]
				rows = append(rows, []any{d.Name, d.Kind, d.State, d.Waiting, d.Sent, d.Left, d.Refused, d.Kept, d.Withheld, d.Missing, d.Filled, d.Reason})
			}
			return rows
		},
	}.command(f)
}

func listRefused(f *shell.Flags) *cobra.Command {
	var page sinks.Page
	return paged(listing[sinks.Page, sinks.SinkRefusals]{
		use: "refused <destination>", short: "List readings that a destination refused, with its reasons", args: cobra.ExactArgs(1), operation: sinks.Refused,
		in:      func(args []string) sinks.Page { page.Sink = args[0]; return page },
		columns: []string{"point", "time", "value", "quality", "reason"},
		rows: func(list *sinks.SinkRefusals) (rows [][]any) {
			for i := range list.Refusals {
				r := &list.Refusals[i]
				rows = append(rows, []any{r.Point, r.Time.Format(microseconds), r.Value, r.Quality, r.Reason})
			}
			return rows
		},
	}.command(f), &page.Skip, &page.Limit)
}

// countRefused returns a command for an operation on what a destination refused.
func countRefused(f *shell.Flags, use, short, done string, o operation.Operation[sinks.Sink, sinks.SinkCount]) *cobra.Command {
	return counting[sinks.Sink, sinks.SinkCount]{
		use: use + " <destination>", short: short, operation: o, in: func(name string) sinks.Sink { return sinks.Sink{Sink: name} },
		done: done, left: "kept", counts: func(n *sinks.SinkCount) (int, int) { return n.Readings, n.Kept },
	}.command(f)
}

func backfill(f *shell.Flags) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use: "backfill <destination> <from>", Short: "Have a destination get a part of the history", Args: cobra.ExactArgs(2), //nolint:mnd // the two
		Example: "  voltbus sinks backfill cloud 2026-01-01\n  voltbus sinks backfill cloud now-7d --to now-1d",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				return client.Tell(ctx, s.Client, sinks.Backfill, sinks.Span{Sink: args[0], From: operation.Time(args[1]), To: operation.Time(to)})
			})
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the time after the last reading; now if left out")
	f.Where.Register(cmd)
	return cmd
}
