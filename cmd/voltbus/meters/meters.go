// Package meters is the command "meter".
package meters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/operation/metering"
)

// Program is what the command shares with the program's other commands.
type Program struct {
	// With calls do with a client of the command's node.
	With func(cmd *cobra.Command, do func(ctx context.Context, c *client.Client) error) error
	// Table adds the flags of a table to a command, and returns the function that begins one.
	Table func(cmd *cobra.Command) func(w io.Writer, columns ...string) (Rows, error)
	// Open opens a file for reading.
	Open func(name string) (io.ReadCloser, error)
	// Complete adds the common flags to a command.
	Complete func(cmd *cobra.Command)
	// Strict makes a command refuse unexpected arguments, explaining the expected ones.
	Strict func(cmd *cobra.Command)
}

// Rows is a table being written.
type Rows struct {
	Row func(values ...any) error
	End func() error
}

// New returns the command.
func New(f *Program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "meter", Short: "Manage meters and their readings, and find missing readings",
		Long: `Meters and their readings, in a node whose metering.role is mds or concentrator. Times are written 2026-03-01T00:15:00Z,
days 2026-03-01.`,
	}
	for _, sub := range []*cobra.Command{newMeterRegister(f), newMeterReadings(f), newMeterMissing(f), newRecovery(f), newRecover(f), newMeterValidate(f), newMeterExceptions(f), newMeterEdit(f), newSettle(f), newExchange(f), newBill(f), newGreenButton(f), newExport(f), newConcentrators(f), newEvents(f), newRead(f), newCluster(f)} {
		f.Complete(sub)
		cmd.AddCommand(sub)
	}
	for _, sub := range []*cobra.Command{newMeterPlan(), newSimulate()} { // which do not contact a node with a person's token
		f.Strict(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

// registerPart is how many meters are sent in one request.
const registerPart = 20_000

func newMeterRegister(f *Program) *cobra.Command {
	return &cobra.Command{
		Use: "register file", Short: "Register the meters in a JSON file: {\"meters\": [...]}", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := f.Open(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			var all metering.Registration
			d := json.NewDecoder(file)
			d.DisallowUnknownFields()
			if err := d.Decode(&all); err != nil {
				return fault.E("voltbus", fault.Invalid, args[0], fmt.Errorf("read the meters: %w", err))
			}
			return f.With(cmd, func(ctx context.Context, c *client.Client) error { return registerMeters(ctx, cmd, c, all.Meters) })
		},
	}
}

var errMetersRefused = errors.New("some meters were refused; the others are registered")

func registerMeters(ctx context.Context, cmd *cobra.Command, c *client.Client, list []answer.MeterEntry) error {
	var sum answer.MeterRegistered
	for from := 0; from < len(list); from += registerPart {
		part := list[from:min(from+registerPart, len(list))]
		r, err := client.Do(ctx, c, metering.Register, metering.Registration{Meters: part})
		if err != nil {
			return err
		}
		sum.Added, sum.Known, sum.Adopted = sum.Added+r.Added, sum.Known+r.Known, sum.Adopted+r.Adopted
		for _, one := range r.Refused {
			_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", part[one.Index].ID, one.Reason)
			sum.Refused = append(sum.Refused, one)
		}
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%d registered, %d were there, %d refused, %d readings that came before\n", sum.Added, sum.Known, len(sum.Refused), sum.Adopted)
	if err == nil && len(sum.Refused) > 0 {
		err = fault.E("voltbus", fault.Invalid, "meters", errMetersRefused)
	}
	return err
}

// table begins a table.
type table func(w io.Writer, columns ...string) (Rows, error)

func newMeterReadings(f *Program) *cobra.Command {
	in := metering.Span{}
	var open table
	cmd := &cobra.Command{
		Use: "readings <meter>", Short: "List readings of a channel, as known now or at a past time", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Meter = args[0]
			return f.With(cmd, func(ctx context.Context, c *client.Client) error {
				got, err := client.Do(ctx, c, metering.Readings, in)
				if err != nil {
					return err
				}
				warn(cmd, got.Cluster)
				rows, err := open(cmd.OutOrStdout(), "end", "value", "unit", "stage", "status", "recorded", "who", "rule", "reason")
				if err != nil {
					return err
				}
				for _, v := range got.Readings {
					if err := rows.Row(v.End.Format(time.RFC3339), v.Value, got.Unit, v.Stage, v.Status, v.Recorded.Format(time.RFC3339), v.Who, v.Rule, v.Reason); err != nil {
						return err
					}
				}
				return rows.End()
			})
		},
	}
	open = f.Table(cmd)
	cmd.Flags().IntVar(&in.Channel, "channel", 1, "the number of the channel")
	cmd.Flags().StringVar(&in.From, "from", "", "intervals that end after it")
	cmd.Flags().StringVar(&in.To, "to", "", "and not after it")
	cmd.Flags().StringVar(&in.KnownAt, "as-known-at", "", "as it was known at this moment (default: now)")
	cmd.Flags().BoolVar(&in.Versions, "versions", false, "all versions, not only the one that counts")
	return cmd
}

func newMeterMissing(f *Program) *cobra.Command {
	in := metering.Lacking{}
	var open table
	cmd := &cobra.Command{
		Use: "missing <day>", Short: "List the intervals of a day that have no reading", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Day = args[0]
			return f.With(cmd, func(ctx context.Context, c *client.Client) error { return listMissing(ctx, cmd, c, open, in) })
		},
	}
	open = f.Table(cmd)
	cmd.Flags().IntVar(&in.Limit, "limit", 100, "the most channels")
	cmd.Flags().StringVar(&in.After, "after", "", "the meter behind which the list begins")
	return cmd
}

func listMissing(ctx context.Context, cmd *cobra.Command, c *client.Client, open table, in metering.Lacking) error {
	m, err := client.Do(ctx, c, metering.Missing, in)
	if err != nil {
		return err
	}
	rows, err := open(cmd.OutOrStdout(), "meter", "channel", "intervals", "ends")
	if err != nil {
		return err
	}
	for _, lacks := range m.List {
		var ends []string
		for _, e := range lacks.Ends {
			ends = append(ends, e.Format(time.RFC3339))
		}
		if err := rows.Row(lacks.Meter, lacks.Channel, len(lacks.Ends), strings.Join(ends, " ")); err != nil {
			return err
		}
	}
	if err := rows.End(); err != nil {
		return err
	}
	warn(cmd, m.Cluster)
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d intervals are there; channels with gaps: %d\n", m.Received, m.Expected, m.Channels)
	return err
}

func newMeterValidate(f *Program) *cobra.Command {
	return &cobra.Command{
		Use: "validate <day>", Short: "Validate the readings of a day, and estimate missing ones", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.With(cmd, func(ctx context.Context, c *client.Client) error {
				j, err := client.Do(ctx, c, metering.Validate, metering.Validation{Day: args[0]})
				if err == nil {
					warn(cmd, j.Cluster)
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "channels: %d; readings: %d valid, %d doubted, %d estimated; exceptions: %d\n", j.Channels, j.Validated, j.Doubted, j.Estimated, j.Exceptions)
				}
				return err
			})
		},
	}
}

func newMeterExceptions(f *Program) *cobra.Command {
	in := metering.Waiting{}
	var open table
	cmd := &cobra.Command{
		Use: "exceptions", Short: "List validation exceptions that are not settled", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.With(cmd, func(ctx context.Context, c *client.Client) error {
				list, err := client.Do(ctx, c, metering.Exceptions, in)
				if err != nil {
					return err
				}
				rows, err := open(cmd.OutOrStdout(), "number", "meter", "channel", "day", "status", "intervals", "noticed", "member")
				if err != nil {
					return err
				}
				for _, e := range list.Exceptions {
					if err := rows.Row(e.Number, e.Meter, e.Channel, e.Day, e.Status, e.Intervals, e.Noticed.Format(time.RFC3339), e.Member); err != nil {
						return err
					}
				}
				warn(cmd, list.Cluster)
				return rows.End()
			})
		},
	}
	open = f.Table(cmd)
	cmd.Flags().StringVar(&in.Meter, "meter", "", "only those of this meter")
	cmd.Flags().IntVar(&in.Limit, "limit", 100, "the most exceptions")
	return cmd
}

func newMeterEdit(f *Program) *cobra.Command {
	in := metering.Edit{Value: new(float64)}
	cmd := &cobra.Command{
		Use: "edit <meter>", Short: "Set the value of an interval; all earlier versions stay", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Meter = args[0]
			return f.With(cmd, func(ctx context.Context, c *client.Client) error {
				_, err := client.Do(ctx, c, metering.EditReading, in)
				return err
			})
		},
	}
	cmd.Flags().IntVar(&in.Channel, "channel", 1, "the number of the channel")
	cmd.Flags().StringVar(&in.End, "end", "", "the end of the interval")
	cmd.Flags().Float64Var(in.Value, "value", 0, "the value, in the unit of the channel")
	cmd.Flags().StringVar(&in.Reason, "reason", "", "why it is set")
	for _, name := range []string{"end", "value", "reason"} {
		_ = cmd.MarkFlagRequired(name) // the flag exists
	}
	return cmd
}
