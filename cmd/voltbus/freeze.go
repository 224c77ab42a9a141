package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/operation/control"
)

const freezeHelp = `Have a device copy all its counters into frozen counters at one moment, and with --clear set
them to zero then. Its points of type frozen_counter show what was frozen; they, and counters that were
cleared, are recorded at once and printed. Devices of the driver dnp3 can do this.`

func newFreeze(f *flags) *cobra.Command {
	var out format
	clears := false
	cmd := &cobra.Command{
		Use: "freeze <device>", Short: "Freeze the counters of a device", Long: freezeHelp, Args: cobra.ExactArgs(1),
		Example: "  voltbus devices freeze site/meter\n  voltbus devices freeze site/meter --clear",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.where.with(cmd, func(ctx context.Context, s session) error { return s.freeze(ctx, args[0], clears, &out) })
		},
	}
	f.where.register(cmd)
	out.register(cmd)
	cmd.Flags().BoolVar(&clears, "clear", false, "set the counters to zero then")
	strictArgs(cmd)
	return cmd
}

func (s session) freeze(ctx context.Context, device string, clears bool, out *format) error {
	frozen, err := client.Do(ctx, s.Client, control.Freeze, answer.Freeze{Device: device, Clear: clears})
	if err != nil {
		return err
	}
	rows, err := out.open(s.OutOrStdout(), "point", "value", "quality", "time")
	if err != nil {
		return err
	}
	for _, r := range frozen.Readings {
		if err := rows.row(r.Point, r.Value, r.Quality, r.Time.Format(time.RFC3339Nano)); err != nil {
			return err
		}
	}
	return rows.end()
}
