package data

import (
	"github.com/spf13/cobra"

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
		countUnread(f, "retry", "Read messages once more that could not be read, such as after a change of the templates", "read", sources.Retry),
		countUnread(f, "discard", "Discard messages that could not be read", "discarded", sources.Discard))
	shell.StrictArgs(cmd)
	return cmd
}

func listSources(f *shell.Flags) *cobra.Command {
	return listing[struct{}, sources.AllSources]{
		use: "list", short: "List the sources, with what became of their messages", args: cobra.NoArgs, operation: sources.List, in: nothing,
		columns: []string{"name", "kind", "state", "messages", "samples", "refused", "misdated", "unread", "dead letters", "kept", "dropped", "reason"},
		rows: func(list *sources.AllSources) (rows [][]any) {
			for i := range list.Sources {
				o := &list.Sources[i]
				rows = append(rows, []any{o.Name, o.Kind, o.State, o.Messages, o.Samples, o.Refused, o.Misdated, o.Unread, o.Diverted, o.Kept, o.Dropped, o.Reason})
			}
			return rows
		},
	}.command(f)
}

func listUnread(f *shell.Flags) *cobra.Command {
	var page sources.Page
	return paged(listing[sources.Page, sources.UnreadMessages]{
		use: "unread <source>", short: "List messages that could not be read, with the reasons", args: cobra.ExactArgs(1), operation: sources.Unread,
		in:      func(args []string) sources.Page { page.Source = args[0]; return page },
		columns: []string{"topic", "place", "taken", "reason", "payload", "bytes"},
		rows: func(list *sources.UnreadMessages) (rows [][]any) {
			for i := range list.Messages {
				m := &list.Messages[i]
				rows = append(rows, []any{m.Topic, m.Place, m.At.Format("2006-01-02T15:04:05.000Z"), m.Reason, m.Payload, m.Size})
			}
			return rows
		},
	}.command(f), &page.Skip, &page.Limit)
}

// countUnread returns a command for an operation on messages that could not be read.
func countUnread(f *shell.Flags, use, short, done string, o operation.Operation[sources.Source, sources.SourceCount]) *cobra.Command {
	return counting[sources.Source, sources.SourceCount]{
		use: use + " <source>", short: short, operation: o, in: func(name string) sources.Source { return sources.Source{Source: name} },
		done: done, left: "kept", counts: func(n *sources.SourceCount) (int, int) { return n.Messages, n.Kept },
	}.command(f)
}
