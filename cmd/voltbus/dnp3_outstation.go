package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"voltbus/fault"
	"voltbus/gateway/dnp3"
)

const outstationHelp = `Show points of a running node to DNP3 masters, as an outstation. The mapping file
says which point is which object:

  listen: 0.0.0.0:20000
  outstation: 10
  masters: [1]
  points:
    - {point: site/meter/power, type: analog_input, index: 0, class: 2, scale: 10, deadband: 5}
    - {point: site/relay/closed, type: binary_input, index: 0, class: 1}

Commands of the masters are refused.`

func newDNP3Outstation(f *flags) *cobra.Command {
	file, listen := "", ""
	cmd := &cobra.Command{
		Use: "outstation --map FILE", Short: "Show points of a node to DNP3 masters", Long: outstationHelp, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return usage(errors.New("--map is missing; write the name of a mapping file"))
			}
			return f.where.with(cmd, func(ctx context.Context, s session) error { return s.beOutstation(ctx, f, file, listen) })
		},
	}
	f.where.register(cmd)
	cmd.Flags().StringVar(&file, "map", "", "mapping file: which point is which object")
	cmd.Flags().StringVar(&listen, "listen", "", "host:port that masters dial, instead of the mapping's")
	_ = cmd.MarkFlagFilename("map", "yaml", "yml")
	return cmd
}

func (s session) beOutstation(ctx context.Context, f *flags, file, listen string) error {
	log, err := f.logger()
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return fault.E("dnp3", fault.NotFound, file, fmt.Errorf("the mapping cannot be read: %w; write the name of a file that is there", err))
	}
	mapping, problems := dnp3.ParseMapping(file, data)
	var all []error
	for _, p := range problems {
		all = append(all, errors.New(p.String()))
	}
	if len(all) > 0 {
		return usage(errors.Join(all...))
	}
	if listen != "" {
		mapping.Listen = listen
	}
	gateway, err := dnp3.New(mapping, s.Client, log)
	if err != nil {
		return err
	}
	missing, err := gateway.Missing(ctx)
	if err != nil {
		return err
	}
	for _, path := range missing {
		s.Printf("the node has no point %s, which is not online until it has; correct the mapping (voltbus points lists them)\n", plain(string(path)))
	}
	listener, err := mapping.Open(ctx, filepath.Dir(file))
	if err != nil {
		return err
	}
	s.Printf("outstation %d listens on %v\n", mapping.Outstation, listener.Addr())
	return gateway.Run(ctx, listener)
}
