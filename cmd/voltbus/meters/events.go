package meters

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/operation/metering"
)

func newEvents(f *Program) *cobra.Command {
	in := metering.Happened{}
	var open table
	cmd := &cobra.Command{
		Use: "events [meter]", Short: "List events of meters, such as last gasps: the newest first", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				in.Meter = args[0]
			}
			return f.With(cmd, func(ctx context.Context, c *client.Client) error {
				got, err := client.Do(ctx, c, metering.ListEvents, in)
				if err != nil {
					return err
				}
				rows, err := open(cmd.OutOrStdout(), "number", "at", "meter", "kind", "severity", "code", "detail", "recorded", "who")
				if err != nil {
					return err
				}
				for i := range got.Events {
					e := &got.Events[i]
					if err := rows.Row(e.Number, e.At.Format(time.RFC3339), e.Meter, e.Kind, e.Severity, e.Code, e.Detail, e.Recorded.Format(time.RFC3339), e.Who); err != nil {
						return err
					}
				}
				return rows.End()
			})
		},
	}
	open = f.Table(cmd)
	cmd.Flags().StringSliceVar(&in.Kinds, "kind", nil, "only those of these kinds, such as last-gasp,restoration")
	cmd.Flags().StringVar(&in.From, "from", "", "events after it")
	cmd.Flags().StringVar(&in.To, "to", "", "and not after it")
	cmd.Flags().IntVar(&in.After, "after", 0, "the number of the event behind which the list begins")
	cmd.Flags().IntVar(&in.Limit, "limit", 100, "the most events")
	return cmd
}
