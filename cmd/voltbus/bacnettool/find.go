package bacnettool

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver/bacnet/network"
	"voltbus/fault"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/npdu"
	"voltbus/protocol/bacnet/service"
)

const findHelp = `Ask all devices which of them has an object (Who-Has, ASHRAE 135 clause 16.9), by its name or as type:instance:

  voltbus bacnet find --local 10.0.0.5/24 "AHU-3 supply temperature"
  voltbus bacnet find --local 10.0.0.5/24 analog-input:12`

func newFind() *cobra.Command {
	var f finder
	cmd := &cobra.Command{
		Use: "find <name|object>", Short: "Find the devices that have an object", Long: findHelp, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			q := service.ObjectQuery{Name: args[0]}
			if object, err := parseObject(args[0]); err == nil {
				q = service.ObjectQuery{Object: object}
			}
			if args[0] == "" || f.wait <= 0 {
				return shell.Usage(errors.New("write the name or the object, and a --wait above 0"))
			}
			return f.run(cmd, q)
		},
	}
	f.register(cmd)
	cmd.Flags().DurationVar(&f.wait, "wait", 2*time.Second, "how long to wait for answers")
	f.out.Register(cmd)
	return cmd
}

// finder asks for an object.
type finder struct {
	flags

	wait time.Duration
	out  shell.Format
}

// have is who has the object.
type have struct {
	from ip.Address
	service.ObjectAnnouncement
}

func (f *finder) run(cmd *cobra.Command, q service.ObjectQuery) (err error) {
	answers := make(chan have, waiting)
	c, err := f.open(cmd.Context(), client.Config{Unconfirmed: func(m ip.Message, s service.Unconfirmed, payload []byte) {
		a, err := service.DecodeObjectAnnouncement(payload)
		if s != service.IHave || err != nil {
			return
		}
		select {
		case answers <- have{m.From, a}:
		default:
		}
	}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.WhoHas(npdu.Global, q); err != nil {
		return inWords(err, f.subject())
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), f.wait)
	defer cancel()
	return f.print(ctx, cmd, answers)
}

func (f *finder) print(ctx context.Context, cmd *cobra.Command, answers <-chan have) error {
	rows, err := f.out.Open(cmd.OutOrStdout(), "device", "address", "object", "name")
	if err != nil {
		return err
	}
	for seen := make(map[have]bool); ; {
		select {
		case a := <-answers:
			if seen[a] {
				continue
			}
			seen[a] = true
			err = rows.Row(strconv.FormatUint(uint64(a.Device.Instance), 10), network.AddressText(a.from), a.Object.String(), a.Name)
			if err != nil {
				return err
			}
		case <-ctx.Done():
			if len(seen) == 0 {
				return fault.E("bacnet", fault.NotFound, "", errors.New("no device says that it has the object; check its name, and --local"))
			}
			return rows.End()
		}
	}
}
