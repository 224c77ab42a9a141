package meters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/operation/metering"
	"voltbus/operation/metering/account"
)

func newRecover(f *Program) *cobra.Command {
	in, node := account.ToSend{}, ""
	cmd := &cobra.Command{
		Use: "recover", Short: "Have a concentrator send readings again", Args: cobra.NoArgs,
		Long: `Have a concentrator send the readings of a time again that are still in its log, for those that its metering data systems refused or lost.
Readings that a system has are not stored twice.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.With(cmd, func(ctx context.Context, c *client.Client) error { return recoverAll(ctx, cmd, c.At(node), in) })
		},
	}
	cmd.Flags().StringVar(&in.From, "from", "", "intervals that end after it")
	cmd.Flags().StringVar(&in.To, "to", "", "and not after it")
	cmd.Flags().StringVar(&in.System, "system", "", "the only address to send to (default: all in turn)")
	cmd.Flags().StringVar(&node, "node", "", "ask this concentrator of the tree, by its name")
	for _, name := range []string{"from", "to"} {
		_ = cmd.MarkFlagRequired(name) // the flag exists
	}
	return cmd
}

// recoverAll repeats the request until there is nothing left.
func recoverAll(ctx context.Context, cmd *cobra.Command, c *client.Client, in account.ToSend) error {
	sent, refused := 0, 0
	oldest := ""
	for {
		got, err := client.Do(ctx, c, metering.Recover, in)
		if err != nil {
			return err
		}
		sent, refused = sent+got.Sent, refused+got.Refused
		for i := range got.Refusals {
			r := &got.Refusals[i]
			_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s, %s: %s\n", r.Meter, r.End.Format(time.RFC3339), r.Reason)
		}
		if oldest == "" {
			oldest = written(got.Oldest)
		}
		if !got.More || got.Reason != "" || got.Place == in.After {
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d readings sent again, %d refused; the log begins at %s\n", sent, refused, oldest)
			if err == nil && got.More {
				err = fault.E("voltbus", fault.Unavailable, "recover", errors.New(cmp.Or(got.Reason, "it stopped before the end: try again")))
			}
			return err
		}
		in.After = got.Place
	}
}
