package data

import (
	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/operation"
	"voltbus/operation/judge"
)

// NewJudge returns the command "judge".
func NewJudge(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "judge", Short: "Show readings that rules withheld from destinations or the parent, and release or discard them",
		Long: `Show what the rules of the section judge of the configuration found in readings before they were sent to destinations and to the parent.
A reading that a rule withheld is kept until a person releases or discards it. The parent of the node is the destination "parent".`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(listRules(f), listWithheld(f),
		countWithheld(f, "release", "Send readings that rules withheld", "accepted", judge.Release),
		countWithheld(f, "discard", "Discard readings that rules withheld; the history still has them", "discarded", judge.Discard))
	shell.StrictArgs(cmd)
	return cmd
}

func listRules(f *shell.Flags) *cobra.Command {
	return listing[struct{}, judge.AllRules]{
		use: "list", short: "List the rules for each destination, with what they found", args: cobra.NoArgs, operation: judge.List, in: nothing,
		columns: []string{"destination", "rule", "check", "withheld", "marked", "unjudged", "failing"},
		rows: func(list *judge.AllRules) (rows [][]any) {
			for _, r := range list.Rules {
				rows = append(rows, []any{r.Sink, r.Rule, r.Check, r.Withheld, r.Marked, r.Unjudged, r.Failing})
			}
			return rows
		},
	}.command(f)
}

func listWithheld(f *shell.Flags) *cobra.Command {
	var page judge.Page
	cmd := paged(listing[judge.Page, judge.WithheldReadings]{
		use: "withheld <destination>", short: "List readings that rules withheld from a destination, with the reasons", args: cobra.ExactArgs(1),
		operation: judge.Withheld, in: func(args []string) judge.Page { page.Sink = args[0]; return page },
		columns: []string{"point", "time", "value", "quality", "rule", "reason"},
		rows: func(list *judge.WithheldReadings) (rows [][]any) {
			for i := range list.Readings {
				r := &list.Readings[i]
				rows = append(rows, []any{r.Point, r.Time.Format(microseconds), r.Value, r.Quality, r.Rule, r.Reason})
			}
			return rows
		},
	}.command(f), &page.Skip, &page.Limit)
	return byRule(cmd, &page.Rule)
}

// byRule adds the flag that chooses a rule.
func byRule(cmd *cobra.Command, rule *string) *cobra.Command {
	cmd.Flags().StringVar(rule, "rule", "", "only those that this rule withheld")
	return cmd
}

// countWithheld returns a command for an operation on readings that rules withheld.
func countWithheld(f *shell.Flags, use, short, done string, o operation.Operation[judge.Held, judge.HeldCount]) *cobra.Command {
	var rule string
	return byRule(counting[judge.Held, judge.HeldCount]{
		use: use + " <destination>", short: short, operation: o, in: func(name string) judge.Held { return judge.Held{Sink: name, Rule: rule} },
		done: done, left: "withheld", counts: func(n *judge.HeldCount) (int, int) { return n.Readings, n.Kept },
	}.command(f), &rule)
}
