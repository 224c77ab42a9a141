package bacnettool

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver/bacnet/network"
	"voltbus/driver/bacnet/survey"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/npdu"
	"voltbus/protocol/bacnet/service"
)

const scanHelp = `Look for devices by Who-Is and list them: in all networks that routers know, unless --network names one.
With --device or --address the objects of one device are listed. With --out a folder gets a configuration of
the devices and their points: voltbus.yaml, and a CSV file for each device. If the folder has one already,
nothing is written, and what is new and what is gone since then is printed.

Devices answer a broadcast all at once. In a large network --step asks for so many instances at a time.`

type scanner struct {
	flags
	devices string
	step    int
	pause   time.Duration
	wait    time.Duration
	network int
	folder  string
	path    string
	out     shell.Format
}

func newScan() *cobra.Command {
	var s scanner
	cmd := &cobra.Command{
		Use: "scan", Short: "Find devices and their points, and make a configuration of them", Long: scanHelp, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	s.registerDevice(cmd)
	fs := cmd.Flags()
	fs.StringVar(&s.devices, "devices", "", "instances to look for, such as 1000-1999; all if left out")
	fs.IntVar(&s.step, "step", 0, "instances that one Who-Is asks for; all at once if left out")
	fs.DurationVar(&s.pause, "pause", 200*time.Millisecond, "time between two Who-Is")
	fs.DurationVar(&s.wait, "wait", 3*time.Second, "time for answers to the last Who-Is")
	fs.IntVar(&s.network, "network", -1, "look in this network behind a router, or 0 for the local one only")
	fs.StringVar(&s.folder, "out", "", "make a configuration in this folder")
	fs.StringVar(&s.path, "path", "bacnet", "path of the devices in the configuration")
	s.out.Register(cmd)
	return cmd
}

func (s *scanner) run(cmd *cobra.Command) error {
	if s.folder == "" && (s.device >= 0 || s.address != "") {
		return s.with(cmd, func(ctx context.Context, d client.Remote) error { return s.list(ctx, cmd, d) })
	}
	limits, err := s.limits()
	if err != nil {
		return err
	}
	c, err := s.open(cmd.Context(), client.Config{})
	if err != nil {
		return err
	}
	found, err := survey.Scan(cmd.Context(), c, limits, s.folder != "", func(f survey.Found) {
		if f.Err != nil {
			cmd.PrintErrf("device %d at %s cannot be asked: %v\n", f.Instance, network.AddressText(f.Address), survey.Explain(f.Err))
		}
	})
	err = errors.Join(inWords(err, s.where()), c.Close())
	if err == nil && len(found) == 0 {
		err = s.noDevice(s.where(), "no device answers; check --local and the length of the subnet, or register with a --bbmd for another subnet")
	}
	switch {
	case err != nil:
		return err
	case s.folder != "":
		return s.configure(cmd, found)
	}
	return s.print(cmd, found)
}

// limits tells what to look for, and how gently.
func (s *scanner) limits() (client.Scan, error) {
	limits := client.Scan{Pause: s.pause, Wait: s.wait, Network: npdu.Global}
	if s.network >= 0 {
		if s.network >= npdu.Global {
			return limits, shell.Usage(fmt.Errorf("--network %d: write 0 to 65534", s.network))
		}
		limits.Network = uint16(s.network)
	}
	first, last := uint64(0), uint64(encoding.MaxInstance)
	if s.devices != "" {
		from, to, isRange := strings.Cut(s.devices, "-")
		if !isRange {
			to = from
		}
		var errFrom, errTo error
		first, errFrom = strconv.ParseUint(from, 10, 32)
		last, errTo = strconv.ParseUint(to, 10, 32)
		if errFrom != nil || errTo != nil || last < first || last > encoding.MaxInstance {
			return limits, shell.Usage(fmt.Errorf("--devices %q: write such as 1000-1999, up to %d", s.devices, encoding.MaxInstance))
		}
	}
	switch {
	case s.step < 0:
		return limits, shell.Usage(errors.New("--step: write how many instances, such as 100"))
	case s.step > 0 && (last-first)/uint64(s.step) > 10_000:
		return limits, shell.Usage(fmt.Errorf("--step %d makes %d broadcasts; limit --devices, or write a larger --step", s.step, (last-first)/uint64(s.step)+1))
	}
	limits.Step = uint32(s.step)
	if s.devices != "" || s.step > 0 {
		limits.Devices = service.Devices(uint32(first), uint32(last))
	}
	return limits, nil
}

// print lists devices.
func (s *scanner) print(cmd *cobra.Command, found []survey.Found) error {
	rows, err := s.out.Open(cmd.OutOrStdout(), "device", "address", "vendor", "name", "model", "objects", "note")
	if err != nil {
		return err
	}
	for i := range found {
		f := &found[i]
		note := ""
		switch {
		case f.Err != nil:
			note = "cannot be asked"
		case f.Twin:
			note = "another device has this instance"
		}
		if err := rows.Row(f.Instance, network.AddressText(f.Address), f.About.Vendor, f.About.Name, f.About.Model, f.Objects, note); err != nil {
			return err
		}
	}
	return rows.End()
}

// list lists the points of a device.
func (s *scanner) list(ctx context.Context, cmd *cobra.Command, d client.Remote) error {
	about, err := survey.Describe(ctx, d)
	if err != nil {
		return err
	}
	points, err := survey.Points(ctx, d, about.Name)
	if err != nil {
		return err
	}
	rows, err := s.out.Open(cmd.OutOrStdout(), "name", "object", "value", "unit", "states", "writable", "description")
	if err != nil {
		return err
	}
	for i := range points {
		p := &points[i]
		v, _ := p.Item.Decode(p.Value)
		if err := rows.Row(p.Entry["name"], p.Entry["object"], v.String(), p.Entry["unit"], p.Entry["states"], p.Entry["writable"], p.Entry["description"]); err != nil {
			return err
		}
	}
	return rows.End()
}
