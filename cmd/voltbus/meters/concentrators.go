package meters

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/operation/metering"
)

func newConcentrators(f *Program) *cobra.Command {
	var open table
	refused := false
	cmd := &cobra.Command{
		Use: "concentrators", Short: "Show the readings of a concentrator, their status and their destination", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.With(cmd, func(ctx context.Context, c *client.Client) error {
				got, err := client.Do(ctx, c, metering.Concentrators, metering.Nothing{})
				if err != nil {
					return err
				}
				if refused {
					return listRefused(cmd, open, &got)
				}
				return listTargets(cmd, open, &got)
			})
		},
	}
	open = f.Table(cmd)
	cmd.Flags().BoolVar(&refused, "refused", false, "list the newest readings that were refused, and why")
	return cmd
}

func listTargets(cmd *cobra.Command, open table, got *answer.MeterConcentrators) error {
	rows, err := open(cmd.OutOrStdout(), "to", "state", "requests", "failed", "sent", "next", "reason")
	if err != nil {
		return err
	}
	for i := range got.Concentrators {
		c := &got.Concentrators[i]
		if len(c.Systems) == 0 {
			if err := rows.Row(c.To, "", c.Requests, 0, c.Sent, "", c.Reason); err != nil {
				return err
			}
		}
		for _, s := range c.Systems {
			if err := rows.Row(s.URL, s.State, s.Requests, s.Failed, s.Sent, written(s.Next), s.Reason); err != nil {
				return err
			}
		}
	}
	if err := rows.End(); err != nil {
		return err
	}
	for i := range got.Concentrators {
		c := &got.Concentrators[i]
		_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%d taken = %d sent + %d refused + %d waiting; %.0f readings/s\n", c.Taken, c.Sent, c.Refused, c.Waiting, c.Rate)
		if err != nil {
			return err
		}
	}
	return nil
}

func listRefused(cmd *cobra.Command, open table, got *answer.MeterConcentrators) error {
	rows, err := open(cmd.OutOrStdout(), "time", "meter", "channel", "end", "value", "reason", "system")
	if err != nil {
		return err
	}
	for i := range got.Concentrators {
		for _, r := range got.Concentrators[i].Refusals {
			channel := r.ReadingType
			if r.Channel != 0 {
				channel = strconv.Itoa(r.Channel)
			}
			if err := rows.Row(r.Time.Format(time.RFC3339), r.Meter, channel, r.End.Format(time.RFC3339), r.Value, r.Reason, r.System); err != nil {
				return err
			}
		}
	}
	return rows.End()
}

func written(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339)
}
