package meters

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/operation/metering"
)

var errNotAnswered = errors.New("some meters did not answer")

func newRead(f *Program) *cobra.Command {
	in := metering.ReadRequest{}
	timeout, node := time.Duration(0), ""
	var open table
	cmd := &cobra.Command{
		Use: "read <meter>...", Short: "Read meters now", Args: cobra.MinimumNArgs(1),
		Long: `Read meters now, from the points that metering.reads of the node maps to their channels. Registers that answer become readings.
With --node a concentrator reads them.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Meters, in.Timeout = args, int(timeout.Round(time.Second).Seconds())
			return f.With(cmd, func(ctx context.Context, c *client.Client) error {
				got, err := client.Do(ctx, c.At(node), metering.ReadMeters, in)
				if err != nil {
					return err
				}
				return listReads(cmd, open, &got)
			})
		},
	}
	open = f.Table(cmd)
	cmd.Flags().DurationVar(&timeout, "timeout", 30*time.Second, "how long meters may take to answer, up to 2m")
	cmd.Flags().StringVar(&in.Correlation, "correlation", "", "a text that comes back with the answer and stands in the audit log")
	cmd.Flags().StringVar(&node, "node", "", "ask this node of the tree instead, by its name")
	return cmd
}

// listReads prints the outcomes. It fails if a meter did not answer.
func listReads(cmd *cobra.Command, open table, got *metering.MeterReads) error {
	rows, err := open(cmd.OutOrStdout(), "meter", "channel", "outcome", "value", "at", "recorded", "reason")
	if err != nil {
		return err
	}
	missing := false
	for i := range got.Outcomes {
		o := &got.Outcomes[i]
		value := ""
		if o.Value != nil {
			value = fmt.Sprint(*o.Value)
		}
		missing = missing || o.Value == nil
		if err := rows.Row(o.Meter, o.Channel, o.Outcome, value, written(o.At), o.Recorded, o.Reason); err != nil {
			return err
		}
	}
	if err := rows.End(); err != nil {
		return err
	}
	if _, err = fmt.Fprintf(cmd.ErrOrStderr(), "correlation %s\n", got.Correlation); err == nil && missing {
		err = fault.E("voltbus", fault.Timeout, "meters", errNotAnswered)
	}
	return err
}
