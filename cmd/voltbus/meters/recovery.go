package meters

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/operation/metering"
)

func newRecovery(f *Program) *cobra.Command {
	in := metering.ToRecover{}
	var open table
	cmd := &cobra.Command{
		Use: "recovery", Short: "List missing readings of ended days, by priority and age", Args: cobra.NoArgs,
		Long: `List the channels that lack readings of a day, with the highest priority first and then the oldest. The key priority of a group of meters in
the shared document metering/rules sets the priority: 1 comes first, 9 last, 5 if nothing is set.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.With(cmd, func(ctx context.Context, c *client.Client) error { return listRecovery(ctx, cmd, c, open, in) })
		},
	}
	open = f.Table(cmd)
	cmd.Flags().StringVar(&in.From, "from", "", "the first day (default: metering.give_up ago)")
	cmd.Flags().StringVar(&in.To, "to", "", "the last day (default: yesterday)")
	cmd.Flags().IntVar(&in.Limit, "limit", 100, "the most gaps")
	cmd.Flags().StringVar(&in.After, "after", "", "where the page before ended")
	return cmd
}

func listRecovery(ctx context.Context, cmd *cobra.Command, c *client.Client, open table, in metering.ToRecover) error {
	got, err := client.Do(ctx, c, metering.Recovery, in)
	if err != nil {
		return err
	}
	rows, err := open(cmd.OutOrStdout(), "priority", "age", "meter", "channel", "day", "intervals", "first")
	if err != nil {
		return err
	}
	for i := range got.List {
		g := &got.List[i]
		age := time.Duration(g.Age * float64(time.Second)).Round(time.Minute)
		if err := rows.Row(g.Priority, age, g.Meter, g.Channel, g.Day, g.Intervals, g.First.Format(time.RFC3339)); err != nil {
			return err
		}
	}
	if err := rows.End(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s to %s: %d channels and days lack %d intervals\n", got.From, got.To, got.Gaps, got.Intervals)
	if err == nil && got.Next != "" {
		_, err = fmt.Fprintf(cmd.ErrOrStderr(), "next page: --after %s\n", got.Next)
	}
	return err
}
