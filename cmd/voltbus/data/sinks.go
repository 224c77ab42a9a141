package data

import (
	"context"
	"fmt"

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
	cmd.AddCommand(listSinks(f), listRefused(f), resendRefused(f), discardRefused(f), backfill(f))
	shell.StrictArgs(cmd)
	return cmd
}

func listSinks(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "list", Short: "List the destinations, with what each got", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := client.Do(ctx, s.Client, sinks.List, struct{}{})
				if err != nil {
					return err
				}
				rows, err := out.Open(s.OutOrStdout(), "name", "kind", "state", "waiting", "sent", "left out", "refused", "kept", "withheld", "missing", "from history", "reason")
				if err != nil {
					return err
				}
				for i := range list.Sinks {
					d := &list.Sinks[i]
					if err := rows.Row(d.Name, d.Kind, d.State, d.Waiting, d.Sent, d.Left, d.Refused, d.Kept, d.Withheld, d.Missing, d.Filled, d.Reason); err != nil {
						return err
					}
				}
				return rows.End()
			})
		},
	}
	out.Register(cmd)
	f.Where.Register(cmd)
	return cmd
}

func listRefused(f *shell.Flags) *cobra.Command {
	var out shell.Format
	var page sinks.Page
	cmd := &cobra.Command{
		Use: "refused <destination>", Short: "List readings that a destination refused, with its reasons", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			page.Sink = args[0]
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := client.Do(ctx, s.Client, sinks.Refused, page)
				if err != nil {
					return err
				}
				rows, err := out.Open(s.OutOrStdout(), "point", "time", "value", "quality", "reason")
				if err != nil {
					return err
				}
				for i := range list.Refusals {
					r := &list.Refusals[i]
					if err := rows.Row(r.Point, r.Time.Format("2006-01-02T15:04:05.000000Z"), r.Value, r.Quality, r.Reason); err != nil {
						return err
					}
				}
				return rows.End()
			})
		},
	}
	cmd.Flags().IntVar(&page.Skip, "skip", 0, "pass over so many")
	cmd.Flags().IntVar(&page.Limit, "limit", 100, "list so many at most") //nolint:mnd // what fits on a screen or two
	out.Register(cmd)
	f.Where.Register(cmd)
	return cmd
}

// counted returns a command that asks for an operation on what was refused, and prints how many it concerned.
func counted(f *shell.Flags, use, short, done string, o operation.Operation[sinks.Sink, sinks.SinkCount]) *cobra.Command {
	cmd := &cobra.Command{
		Use: use + " <destination>", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				n, err := client.Do(ctx, s.Client, o, sinks.Sink{Sink: args[0]})
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(s.OutOrStdout(), "%s: %d, still kept: %d\n", done, n.Readings, n.Kept)
				return err
			})
		},
	}
	f.Where.Register(cmd)
	return cmd
}

func resendRefused(f *shell.Flags) *cobra.Command {
	return counted(f, "resend", "Send readings again that a destination refused", "accepted", sinks.Resend)
}

func discardRefused(f *shell.Flags) *cobra.Command {
	return counted(f, "discard", "Discard readings that a destination refused; the history still has them", "discarded", sinks.Discard)
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
