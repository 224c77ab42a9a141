package meters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/lab/metersim"
	"voltbus/operation/metering"
)

// simulateFlags are the flags of "meter simulate".
type simulateFlags struct {
	meters, zone, day string
	from, until       string
	list              bool
	to, tokens        []string
	ca                string
	out               metersim.Upload
}

func newSimulate() *cobra.Command {
	in := simulateFlags{}
	cmd := &cobra.Command{
		Use: "simulate", Short: "Send readings as many meters would, to concentrators or a metering data system", Args: cobra.NoArgs,
		Long: `Send readings as many meters would: each its load profile of a day, or of a part of it, in one request, to one of the nodes
in turn. A meter's reading of an interval is the same whenever it is sent, so sending again changes nothing.

  voltbus meter simulate --meters 1000 --day 2026-03-01 --list > meters.json
  voltbus meter simulate --meters 1000 --day 2026-03-01 --to http://127.0.0.1:8081 --token-file a.token`,
		RunE: func(cmd *cobra.Command, _ []string) error { return in.simulate(cmd) },
	}
	fs := cmd.Flags()
	fs.StringVar(&in.meters, "meters", "1000", "how many meters, such as 500 or 100k")
	fs.StringVar(&in.day, "day", "", "the local day, such as 2026-03-01")
	fs.StringVar(&in.zone, "zone", "UTC", "the time zone of the day, such as Europe/Berlin")
	fs.StringVar(&in.from, "from", "00:00", "the time of day at which the profile begins")
	fs.StringVar(&in.until, "until", "24:00", "the time of day at which it ends")
	fs.BoolVar(&in.list, "list", false, "send nothing: print the meters, for meter register")
	fs.StringArrayVar(&in.to, "to", nil, "the address of a node; repeat it for several")
	fs.StringArrayVar(&in.tokens, "token-file", nil, "the file with the token for a node, one for each --to")
	fs.StringVar(&in.ca, "ca", "", "the file with the certificate of who vouches for the nodes")
	fs.StringVar(&in.out.Form, "form", metersim.SOAP, "of the messages: "+strings.Join(metersim.Forms(), ", "))
	fs.IntVar(&in.out.AtOnce, "at-once", 16, "meters that send at a time, to each node")
	_ = cmd.MarkFlagRequired("day")
	return cmd
}

var (
	errTokens  = errors.New("write one --token-file for each --to")
	errNowhere = errors.New("write --to with the address of a node, or --list to print the meters")
	errLeft    = errors.New("send again when the node is there: readings that it has do not change")
)

func (in *simulateFlags) simulate(cmd *cobra.Command) (err error) {
	if in.out.Meters, err = count(in.meters); err != nil {
		return err
	}
	zone, err := time.LoadLocation(in.zone)
	if err != nil {
		return fault.E("meter simulate", fault.Invalid, "--zone", fmt.Errorf("%q is no time zone; write an IANA name, such as Europe/Berlin", in.zone))
	}
	day, err := time.ParseInLocation(time.DateOnly, in.day, zone)
	if err != nil {
		return fault.E("meter simulate", fault.Invalid, "--day", fmt.Errorf("%q: write such as 2026-03-01", in.day))
	}
	if in.list {
		return in.print(cmd, day)
	}
	var until time.Time
	if in.out.From, err = clockOf("--from", day, in.from); err == nil {
		until, err = clockOf("--until", day, in.until)
	}
	if err != nil {
		return err
	}
	in.out.For = until.Sub(in.out.From)
	if err := in.receivers(); err != nil {
		return err
	}
	return in.send(cmd)
}

// clockOf returns a time of a day. On days with a clock change an hour may occur twice, or not at all: the first occurrence counts.
func clockOf(flag string, day time.Time, text string) (time.Time, error) {
	var hour, minute int
	if n, err := fmt.Sscanf(text, "%d:%d", &hour, &minute); n != 2 || err != nil || hour < 0 || hour > 24 || minute < 0 || minute%15 != 0 || minute > 45 || hour*60+minute > 24*60 {
		return day, fault.E("meter simulate", fault.Invalid, flag, fmt.Errorf("%q: write a quarter of an hour, from 00:00 to 24:00", text))
	}
	return time.Date(day.Year(), day.Month(), day.Day(), hour, minute, 0, 0, day.Location()), nil
}

func (in *simulateFlags) receivers() error {
	switch {
	case len(in.to) == 0:
		return fault.E("meter simulate", fault.Invalid, "--to", errNowhere)
	case len(in.tokens) != len(in.to):
		return fault.E("meter simulate", fault.Invalid, "--token-file", errTokens)
	}
	for i, url := range in.to {
		token, err := os.ReadFile(in.tokens[i])
		if err != nil {
			return fault.E("meter simulate", fault.Invalid, "--token-file", err)
		}
		in.out.To = append(in.out.To, metersim.Receiver{URL: url, Token: strings.TrimSpace(string(token)), CA: in.ca})
	}
	return nil
}

// print writes the meters in the form that meter register reads.
func (in *simulateFlags) print(cmd *cobra.Command, day time.Time) error {
	list := make([]answer.MeterEntry, in.out.Meters)
	for i := range list {
		list[i] = answer.MeterEntry{
			ID: metersim.MeterID(i), Commodity: "electricity", From: &day,
			Channels: []answer.MeterChannel{{Number: 1, ReadingType: metersim.ReadingType(metersim.Quarter), Interval: metersim.Quarter.Seconds()}},
		}
	}
	return json.NewEncoder(cmd.OutOrStdout()).Encode(metering.Registration{Meters: list})
}

func (in *simulateFlags) send(cmd *cobra.Command) error {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	began := time.Now()
	out, err := in.out.Run(ctx)
	if err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d readings of %d meters accepted in %.1f s, %.0f a second; meters that could not send: %d\n", out.Readings, out.Meters, took, float64(out.Readings)/took, out.Failed)
	if err == nil && out.Failed > 0 {
		err = fault.E("meter simulate", fault.Unavailable, "", fmt.Errorf("%w; the first failed because: %w", errLeft, out.First))
	}
	return err
}
