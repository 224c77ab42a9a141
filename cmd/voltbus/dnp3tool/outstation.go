package dnp3tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
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

func newDNP3Outstation(f *shell.Flags) *cobra.Command {
	file, listen := "", ""
	cmd := &cobra.Command{
		Use: "outstation --map FILE", Short: "Offer points of a node to DNP3 masters", Long: outstationHelp, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return shell.Usage(errors.New("--map is missing; write the name of a mapping file"))
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error { return beOutstation(s, ctx, f, file, listen) })
		},
	}
	f.Where.Register(cmd)
	cmd.Flags().StringVar(&file, "map", "", "mapping file: which point is which object")
	cmd.Flags().StringVar(&listen, "listen", "", "host:port that masters dial, instead of the mapping's")
	_ = cmd.MarkFlagFilename("map", "yaml", "yml")
	return cmd
}

func beOutstation(s shell.Session, ctx context.Context, f *shell.Flags, file, listen string) error {
	log, err := f.Logger()
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
		return shell.Usage(errors.Join(all...))
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
		s.Printf("the node has no point %s, which is not online until it has; correct the mapping (voltbus points lists them)\n", shell.Plain(string(path)))
	}
	listener, err := mapping.Open(ctx, filepath.Dir(file))
	if err != nil {
		return err
	}
	s.Printf("outstation %d listens on %v\n", mapping.Outstation, listener.Addr())
	return gateway.Run(ctx, listener)
}
