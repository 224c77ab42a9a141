package data

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/operation"
)

// listing is a command that prints what an operation returns as a table.
type listing[In, Out any] struct {
	use, short string
	args       cobra.PositionalArgs
	operation  operation.Operation[In, Out]
	in         func(args []string) In
	columns    []string
	rows       func(*Out) [][]any
}

func (l listing[In, Out]) command(f *shell.Flags) *cobra.Command {
	var format shell.Format
	cmd := &cobra.Command{
		Use: l.use, Short: l.short, Args: l.args,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				out, err := client.Do(ctx, s.Client, l.operation, l.in(args))
				if err != nil {
					return err
				}
				table, err := format.Open(s.OutOrStdout(), l.columns...)
				if err != nil {
					return err
				}
				for _, row := range l.rows(&out) {
					if err := table.Row(row...); err != nil {
						return err
					}
				}
				return table.End()
			})
		},
	}
	format.Register(cmd)
	f.Where.Register(cmd)
	return cmd
}

// microseconds is how times of readings are printed.
const microseconds = "2006-01-02T15:04:05.000000Z"

func nothing([]string) struct{} { return struct{}{} }

// paged adds the flags that choose a part of a list.
func paged(cmd *cobra.Command, skip, limit *int) *cobra.Command {
	cmd.Flags().IntVar(skip, "skip", 0, "pass over so many")
	cmd.Flags().IntVar(limit, "limit", 100, "list so many at most") //nolint:mnd // what fits on a screen or two
	return cmd
}

// counting is a command for an operation on what is kept, which prints how many it concerned and how many are left.
type counting[In, Out any] struct {
	use, short string
	operation  operation.Operation[In, Out]
	in         func(name string) In
	done, left string // what became of them, and of the rest
	counts     func(*Out) (done, left int)
}

func (c counting[In, Out]) command(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: c.use, Short: c.short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				out, err := client.Do(ctx, s.Client, c.operation, c.in(args[0]))
				if err != nil {
					return err
				}
				done, left := c.counts(&out)
				_, err = fmt.Fprintf(s.OutOrStdout(), "%s: %d, still %s: %d\n", c.done, done, c.left, left)
				return err
			})
		},
	}
	f.Where.Register(cmd)
	return cmd
}
