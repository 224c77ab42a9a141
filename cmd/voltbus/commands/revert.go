package commands

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/operation/control"
)

// NewRevert returns the command "revert".
func NewRevert(f *shell.Flags) *cobra.Command {
	var spread time.Duration
	cmd := &cobra.Command{
		Use: "revert <path>", Short: "End all commands of a device or branch, whoever made them, so that its points revert",
		Long: `End all commands of a point, or of all points of a device or branch, whoever made them, so that they revert to their
defaults. It needs the role engineer. With --spread the points revert one after the other, in
the order of their paths, the first at once. What is commanded after the revert stays, and so do
reservations; to keep others from commanding, use override --failsafe.`,
		Example: `  voltbus revert site/zone1
  voltbus revert site --spread 10m
  voltbus revert site --node plant-1`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				done, err := client.Do(ctx, s.Client, control.Revert, answer.Revert{Path: args[0], Spread: spread.Seconds()})
				if err != nil {
					return err
				}
				s.PrintErrf("points that go back: %d", done.Points)
				if done.Until != nil {
					s.PrintErrf(", the last one at %s", done.Until.Format(time.RFC3339))
				}
				s.PrintErrf("\n")
				return nil
			})
		},
	}
	cmd.Flags().DurationVar(&spread, "spread", 0, "the time over which the points go back, such as 10m, at most 24h; 0: all at once")
	return cmd
}
