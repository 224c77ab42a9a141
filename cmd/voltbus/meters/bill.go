package meters

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/operation/metering"
)

func newBill(f *Program) *cobra.Command {
	in := metering.Billing{}
	var open table
	cmd := &cobra.Command{
		Use: "bill [meter]", Short: "Show the determinants of a bill, as known now or at a past time", Args: cobra.MaximumNArgs(1),
		Long: `Shows what a meter used from a local day up to another one, by period of a tariff: the shared document metering/tariffs/<name>.
With --service-point instead of a meter, all meters that were there in this time.`,
		Example: `  voltbus meter bill 1EMH0001 --from 2026-03-01 --to 2026-04-01 --tariff households --demand 15
  voltbus meter bill 1EMH0001 --from 2026-03-01 --to 2026-04-01 --as-known-at 2026-04-03T08:00:00Z`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				in.Meter = args[0]
			}
			return f.With(cmd, func(ctx context.Context, c *client.Client) error {
				b, err := client.Do(ctx, c, metering.Bill, in)
				if err != nil {
					return err
				}
				return showBill(cmd, open, &b)
			})
		},
	}
	open = f.Table(cmd)
	flags := cmd.Flags()
	flags.StringVar(&in.ServicePoint, "service-point", "", "all meters that were at this service point")
	flags.IntVar(&in.Channel, "channel", 1, "the channel of the consumption")
	flags.IntVar(&in.Export, "export", 0, "the channel of what was fed in; 0 for none")
	flags.StringVar(&in.From, "from", "", "the first local day")
	flags.StringVar(&in.To, "to", "", "the local day after the last one")
	flags.StringVar(&in.KnownAt, "as-known-at", "", "as it was known at this moment (default: now)")
	flags.StringVar(&in.Tariff, "tariff", "", "the name of a tariff (default: one period)")
	flags.IntVar(&in.Window, "demand", 0, "minutes over which demand is averaged; 0 for no demand")
	flags.BoolVar(&in.Rolling, "rolling", false, "a window of demand ends with each interval")
	return cmd
}

func showBill(cmd *cobra.Command, open table, b *answer.MeterBill) error {
	rows, err := open(cmd.OutOrStdout(), "period", "quantity", "unit", "intervals", "missing", "estimated", "edited", "demand", "demand_end", "net")
	if err != nil {
		return err
	}
	for i := range b.Periods {
		p := &b.Periods[i]
		demand, end, net := "", "", ""
		if p.Demand != nil {
			demand, end = number(p.Demand.Demand), written(p.Demand.End)
		}
		if p.Net != nil {
			net = number(p.Net.Net)
		}
		if err := rows.Row(p.Period, p.Quantity, b.Unit, p.Intervals, p.Missing, p.Estimated, p.Edited, demand, end, net); err != nil {
			return err
		}
	}
	if err := rows.End(); err != nil {
		return err
	}
	for i := range b.Registers {
		if err := showRegister(cmd, &b.Registers[i]); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "meters: %s; from %s to %s; readings at no end of an interval: %d\n",
		strings.Join(b.Meters, ", "), b.From.Format(time.RFC3339), b.To.Format(time.RFC3339), b.Stray)
	return err
}

func showRegister(cmd *cobra.Command, r *answer.MeterRegister) error {
	name := fmt.Sprintf("register %d of %s", r.Channel, r.Meter)
	if r.Unknown != "" {
		_, err := fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", name, r.Unknown)
		return err
	}
	how := ""
	if r.Interpolated {
		how = ", interpolated"
	}
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s to %s, used %s %s%s\n", name, number(r.First), number(r.Last), number(r.Used), r.Unit, how)
	return err
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

var errNumber = errors.New("write the number of an exception, as voltbus meter exceptions lists it")

func newSettle(f *Program) *cobra.Command {
	in := metering.Settlement{}
	cmd := &cobra.Command{
		Use: "settle <number>", Short: "Settle a validation exception, with what was found or done", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if in.Number, err = strconv.Atoi(args[0]); err != nil || in.Number < 1 {
				return fault.E("voltbus", fault.Invalid, args[0], errNumber)
			}
			return f.With(cmd, func(ctx context.Context, c *client.Client) error {
				_, err := client.Do(ctx, c, metering.Settle, in)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&in.Why, "why", "", "what was found, or done")
	cmd.Flags().StringVar(&in.Member, "member", "", "the member of the cluster whose number it is (only in a cluster)")
	return cmd
}

func newExchange(f *Program) *cobra.Command {
	in := metering.Replacement{}
	cmd := &cobra.Command{
		Use: "exchange <service-point> <new-meter>", Short: "Replace the meter of a service point by another that is registered", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ServicePoint, in.Meter = args[0], args[1]
			return f.With(cmd, func(ctx context.Context, c *client.Client) error {
				_, err := client.Do(ctx, c, metering.Exchange, in)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&in.At, "at", "", "when it was exchanged, such as 2026-03-14T10:30:00+01:00")
	return cmd
}
