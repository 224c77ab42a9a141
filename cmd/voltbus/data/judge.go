package data

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/operation"
	"voltbus/operation/judge"
)

// NewJudge returns the command "judge".
func NewJudge(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "judge", Short: "Show readings that rules withheld from destinations, and release or discard them",
		Long: `Show what the rules of the section judge of the configuration found in readings before they were sent to destinations.
A reading that a rule withheld is kept until a person releases or discards it.`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(listRules(f), listWithheld(f),
		withheld(f, "release", "Send readings that rules withheld", "accepted", judge.Release),
		withheld(f, "discard", "Discard readings that rules withheld; the history still has them", "discarded", judge.Discard))
	shell.StrictArgs(cmd)
	return cmd
}

func listRules(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "list", Short: "List the rules for each destination, with what they found", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := client.Do(ctx, s.Client, judge.List, struct{}{})
				if err != nil {
					return err
				}
				rows, err := out.Open(s.OutOrStdout(), "destination", "rule", "check", "withheld", "marked")
				if err != nil {
					return err
				}
				for _, r := range list.Rules {
					if err := rows.Row(r.Sink, r.Rule, r.Check, r.Withheld, r.Marked); err != nil {
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

func listWithheld(f *shell.Flags) *cobra.Command {
	var out shell.Format
	var page judge.Page
	cmd := &cobra.Command{
		Use: "withheld <destination>", Short: "List readings that rules withheld from a destination, with the reasons", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			page.Sink = args[0]
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := client.Do(ctx, s.Client, judge.Withheld, page)
				if err != nil {
					return err
				}
				rows, err := out.Open(s.OutOrStdout(), "point", "time", "value", "quality", "rule", "reason")
				if err != nil {
					return err
				}
				for i := range list.Readings {
					r := &list.Readings[i]
					if err := rows.Row(r.Point, r.Time.Format("2006-01-02T15:04:05.000000Z"), r.Value, r.Quality, r.Rule, r.Reason); err != nil {
						return err
					}
				}
				return rows.End()
			})
		},
	}
	cmd.Flags().StringVar(&page.Rule, "rule", "", "only those that this rule withheld")
	cmd.Flags().IntVar(&page.Skip, "skip", 0, "pass over so many")
	cmd.Flags().IntVar(&page.Limit, "limit", 100, "list so many at most") //nolint:mnd // what fits on a screen or two
	out.Register(cmd)
	f.Where.Register(cmd)
	return cmd
}

// withheld returns a command for an operation on readings that were withheld, which prints how many it concerned.
func withheld(f *shell.Flags, use, short, done string, o operation.Operation[judge.Held, judge.HeldCount]) *cobra.Command {
	var rule string
	cmd := &cobra.Command{
		Use: use + " <destination>", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				n, err := client.Do(ctx, s.Client, o, judge.Held{Sink: args[0], Rule: rule})
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(s.OutOrStdout(), "%s: %d, still withheld: %d\n", done, n.Readings, n.Kept)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&rule, "rule", "", "only those that this rule withheld")
	f.Where.Register(cmd)
	return cmd
}
