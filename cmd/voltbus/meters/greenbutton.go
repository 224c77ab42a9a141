package meters

import (
	"context"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/operation/metering"
)

func newGreenButton(f *Program) *cobra.Command {
	in := metering.Customer{}
	cmd := &cobra.Command{
		Use: "greenbutton <meter>", Short: "Write the readings of a meter as a Green Button file (ESPI)", Args: cobra.ExactArgs(1),
		Long:    `Writes the readings of a meter to standard output, as the customer gets them: a Green Button file (ESPI, NAESB REQ.21).`,
		Example: `  voltbus meter greenbutton 1EMH0001 --from 2026-03-01T00:00:00+01:00 --to 2026-04-01T00:00:00+02:00 > march.xml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Meter = args[0]
			return f.With(cmd, func(ctx context.Context, c *client.Client) error {
				_, err := client.Copy(ctx, c, metering.GreenButton, in, cmd.OutOrStdout())
				return err
			})
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&in.Channel, "channel", 0, "only this channel; 0 for all")
	flags.StringVar(&in.From, "from", "", "intervals that end after it")
	flags.StringVar(&in.To, "to", "", "and not after it")
	flags.StringVar(&in.KnownAt, "as-known-at", "", "as it was known at this moment (default: now)")
	return cmd
}
