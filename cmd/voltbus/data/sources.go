package data

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/operation"
	"voltbus/operation/sources"
)

// NewSources returns the command "sources".
func NewSources(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "sources", Short: "Show brokers whose messages are recorded: what was taken, and what could not be read",
		Long: `Show the brokers that the section sources of the configuration names: Kafka and AMQP. A message is answered when its readings are on
disk, so that nothing is lost, whichever end fails.`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(listSources(f), listUnread(f),
		countedMessages(f, "retry", "Read messages once more that could not be read, such as after a change of the templates", "read", sources.Retry),
		countedMessages(f, "discard", "Discard messages that could not be read", "discarded", sources.Discard))
	shell.StrictArgs(cmd)
	return cmd
}

func listSources(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "list", Short: "List the sources, with what became of their messages", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := client.Do(ctx, s.Client, sources.List, struct{}{})
				if err != nil {
					return err
				}
				rows, err := out.Open(s.OutOrStdout(), "name", "kind", "state", "messages", "samples", "refused", "misdated", "unread", "dead letters", "kept", "dropped", "reason")
				if err != nil {
					return err
				}
				for i := range list.Sources {
					o := &list.Sources[i]
					if err := rows.Row(o.Name, o.Kind, o.State, o.Messages, o.Samples, o.Refused, o.Misdated, o.Unread, o.Diverted, o.Kept, o.Dropped, o.Reason); err != nil {
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

func listUnread(f *shell.Flags) *cobra.Command {
	var out shell.Format
	var page sources.Page
	cmd := &cobra.Command{
		Use: "unread <source>", Short: "List messages that could not be read, with the reasons", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			page.Source = args[0]
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := client.Do(ctx, s.Client, sources.Unread, page)
				if err != nil {
					return err
				}
				rows, err := out.Open(s.OutOrStdout(), "topic", "place", "taken", "reason", "payload", "bytes")
				if err != nil {
					return err
				}
				for i := range list.Messages {
					m := &list.Messages[i]
					if err := rows.Row(m.Topic, m.Place, m.At.Format("2006-01-02T15:04:05.000Z"), m.Reason, m.Payload, m.Size); err != nil {
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

// countedMessages returns a command that asks for an operation on what could not be read, and prints how many it concerned.
func countedMessages(f *shell.Flags, use, short, done string, o operation.Operation[sources.Source, sources.SourceCount]) *cobra.Command {
	cmd := &cobra.Command{
		Use: use + " <source>", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				n, err := client.Do(ctx, s.Client, o, sources.Source{Source: args[0]})
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(s.OutOrStdout(), "%s: %d, still kept: %d\n", done, n.Messages, n.Kept)
				return err
			})
		},
	}
	f.Where.Register(cmd)
	return cmd
}
