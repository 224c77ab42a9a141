package bacnettool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver/bacnet/network"
	"voltbus/driver/bacnet/survey"
	"voltbus/fault"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/npdu"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

const bacnetHelp = `A field tool for BACnet/IP and BACnet/SC: find devices and make a configuration of them, read, command
and watch objects, read trend logs, and explain captured frames; and a device that
shows the points of a node to other clients.

  voltbus bacnet scan --local 10.0.0.5/24
  voltbus bacnet scan --local 10.0.0.5/24 --out campus
  voltbus bacnet read --local 10.0.0.5/24 --device 1001 analog-input:1 analog-value:1.priority-array
  voltbus bacnet write --local 10.0.0.5/24 --device 1001 analog-value:1 21.5 --priority 8
  voltbus bacnet write --local 10.0.0.5/24 --device 1001 analog-value:1 --relinquish --priority 8
  voltbus bacnet watch --address 10.0.0.11 analog-input:1
  voltbus bacnet trend --address 10.0.0.11 trend-log:1 --last 100
  voltbus bacnet find --local 10.0.0.5/24 "AHU-3 supply temperature"
  voltbus bacnet file --address 10.0.0.11 file:1 > backup.bin
  voltbus bacnet communication --address 10.0.0.11 disable --minutes 5
  voltbus bacnet restart --address 10.0.0.11
  voltbus bacnet explain 810b000c0120ffff00ff1008
  voltbus bacnet serve --map map.yaml
  voltbus bacnet map --map map.yaml

--local is the own address with the length of the subnet. A node that runs on this machine has
the port 47808; use another with :0 behind the subnet, and --address if a device announces itself
by broadcasts only.

A BACnet/SC network is reached through its hub, with --hub and the files of the site's authority in place of --local:

  voltbus bacnet scan --hub wss://10.0.0.2:4443/ --certificate node.pem --key node.key --ca ca.pem

voltbus bacnet hub runs a hub for a site that has none.`

// NewBACnet returns the command "bacnet".
func NewBACnet(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{Use: "bacnet", Short: "Find, read, command, watch and explain BACnet devices; act as a device", Long: bacnetHelp}
	for _, sub := range []*cobra.Command{newScan(), newRead(), newWrite(), newWatch(), newTrend(), newFind(), newFile(), newCommunication(), newRestart(), newExplain(), newServe(f), newMap(f), newHub()} {
		cmd.AddCommand(sub)
		shell.StrictArgs(sub)
	}
	return cmd
}

// flags tell how to reach the network, and a device.
type flags struct {
	secure

	local, bbmd, address string
	device               int
	timeout              time.Duration
	silent               bool // the device may answer nothing but the request: with an address alone it is not asked who it is
}

func (f *flags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.local, "local", "", "own address with the length of the subnet, such as 10.0.0.5/24; any address if left out")
	fs.StringVar(&f.bbmd, "bbmd", "", "register as a foreign device with the BBMD at this host:port")
	fs.DurationVar(&f.timeout, "timeout", 3*time.Second, "how long an answer may take")
	f.secure.register(cmd)
}

func (f *flags) registerDevice(cmd *cobra.Command) {
	f.register(cmd)
	cmd.Flags().IntVar(&f.device, "device", -1, "instance of the device, which is looked for unless there is an --address")
	cmd.Flags().StringVar(&f.address, "address", "", "where the device is: 10.0.0.11, network:mac, or router/network:mac")
}

// open opens a socket.
func (f *flags) open(ctx context.Context, events client.Config) (*client.Client, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	events.Transaction = transaction.Config{Timeout: f.timeout, Retries: 1}
	if f.hub != "" {
		return f.secure.open(ctx, events, f.timeout)
	}
	local, err := network.ParseLocal(f.local)
	if err != nil {
		return nil, shell.Usage(fmt.Errorf("--local: %w", err))
	}
	events.IP = ip.Config{Listen: local.Listen, Broadcast: local.Broadcast, BroadcastPort: local.Port}
	if f.bbmd != "" {
		if events.IP.BBMD, err = network.ParsePort(f.bbmd); err != nil {
			return nil, shell.Usage(fmt.Errorf("--bbmd: %w", err))
		}
	}
	c, err := client.Open(ctx, events)
	if err != nil {
		return nil, fault.E("bacnet", fault.Unreachable, f.local, fmt.Errorf("%w; if a node has the port, write --local with :0 behind the subnet", err))
	}
	if f.bbmd == "" {
		return c, nil
	}
	wait, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	if err := c.Port().AwaitRegistration(wait); err != nil {
		return nil, errors.Join(fault.E("bacnet", fault.Unreachable, f.bbmd, err), c.Close())
	}
	return c, nil
}

// with opens a socket and finds the device.
func (f *flags) with(cmd *cobra.Command, do func(ctx context.Context, d client.Remote) error) error {
	at, err := network.ParseStation(f.address)
	switch {
	case err != nil:
		return shell.Usage(fmt.Errorf("--address: %w", err))
	case f.device < 0 && !at.Known():
		return shell.Usage(errors.New("write which device: --device with its instance, or --address with an IP address"))
	case f.device > encoding.MaxInstance:
		return shell.Usage(fmt.Errorf("--device %d: write an instance from 0 to %d", f.device, encoding.MaxInstance))
	}
	ctx := cmd.Context()
	c, err := f.open(ctx, client.Config{})
	if err != nil {
		return err
	}
	remote, err := f.find(ctx, c, at)
	if err == nil {
		err = do(ctx, remote)
	}
	return errors.Join(inWords(err, f.subject()), c.Close())
}

func (f *flags) subject() string {
	if f.device >= 0 {
		return fmt.Sprintf("device %d", f.device)
	}
	return f.address
}

// inWords adds to a network error its kind, and explains why a device declined.
func inWords(err error, subject string) error {
	switch {
	case err == nil || fault.KindOf(err) != fault.Internal:
		return err
	case errors.Is(err, transaction.ErrTimeout):
		return fault.E("bacnet", fault.Timeout, subject, fmt.Errorf("%w; check that it is on and its address, or write a longer --timeout", err))
	case survey.Declined(err):
		return fault.E("bacnet", fault.Rejected, subject, survey.Explain(err))
	case errors.Is(err, survey.ErrOther):
		return fault.E("bacnet", fault.Conflict, subject, err)
	case errors.Is(err, ip.ErrNoBroadcast):
		return fault.E("bacnet", fault.Invalid, subject, err)
	}
	return err
}

// leastAPDU is what devices take that have not said how much they do.
const leastAPDU = 206

// find returns the selected device.
func (f *flags) find(ctx context.Context, c *client.Client, at network.Station) (client.Remote, error) {
	var want *int
	if f.device >= 0 {
		want = &f.device
	}
	if at.Known() && f.silent && want == nil {
		return c.At(client.Device{Address: at.Address(), MaxAPDU: leastAPDU}), nil
	}
	if at.Known() {
		return survey.Meet(ctx, c.At(client.Device{Address: at.Address()}), want)
	}
	found, err := c.Discover(ctx, client.Scan{Devices: service.Devices(uint32(f.device), uint32(f.device)), Network: npdu.Global, Wait: f.timeout})
	if err != nil {
		return client.Remote{}, err
	}
	var fits []client.Device
	for _, d := range found {
		if at.Fits(d.Address) {
			fits = append(fits, d)
		}
	}
	switch len(fits) {
	case 0:
		return client.Remote{}, f.noDevice(f.subject(), "no device has announced this instance; check --local and the number, or write --address")
	case 1:
		return c.At(fits[0]), nil
	}
	return client.Remote{}, fault.E("bacnet", fault.Conflict, f.subject(), fmt.Errorf(
		"more than one device has this instance: %s and %s; write --address", network.AddressText(fits[0].Address), network.AddressText(fits[1].Address)))
}
