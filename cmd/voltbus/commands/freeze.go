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

const freezeHelp = `Have a device copy all its counters into frozen counters at one moment, and with --clear set
them to zero then. Its points of type frozen_counter show what was frozen; they, and counters that were
cleared, are recorded at once and printed. Devices of the driver dnp3 can do this.`

// NewFreeze returns the command "freeze".
func NewFreeze(f *shell.Flags) *cobra.Command {
	var out shell.Format
	clears := false
	cmd := &cobra.Command{
		Use: "freeze <device>", Short: "Freeze the counters of a device", Long: freezeHelp, Args: cobra.ExactArgs(1),
		Example: "  voltbus devices freeze site/meter\n  voltbus devices freeze site/meter --clear",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error { return freezeCounters(s, ctx, args[0], clears, &out) })
		},
	}
	f.Where.Register(cmd)
	out.Register(cmd)
	cmd.Flags().BoolVar(&clears, "clear", false, "set the counters to zero then")
	shell.StrictArgs(cmd)
	return cmd
}

func freezeCounters(s shell.Session, ctx context.Context, device string, clears bool, out *shell.Format) error {
	frozen, err := client.Do(ctx, s.Client, control.Freeze, answer.Freeze{Device: device, Clear: clears})
	if err != nil {
		return err
	}
	rows, err := out.Open(s.OutOrStdout(), "point", "value", "quality", "time")
	if err != nil {
		return err
	}
	for _, r := range frozen.Readings {
		if err := rows.Row(r.Point, r.Value, r.Quality, r.Time.Format(time.RFC3339Nano)); err != nil {
			return err
		}
	}
	return rows.End()
}
