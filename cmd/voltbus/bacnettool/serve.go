package bacnettool

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/driver/bacnet/network"
	"voltbus/fault"
	"voltbus/gateway/bacnet"
	"voltbus/identity"
	"voltbus/protocol/bacnet/ip"
)

const serveHelp = `Show points of a running node to BACnet clients, as one device. The mapping file says
which point is which object, and whose addresses may command:

  local: 10.0.0.5/24
  device: 4001
  name: voltbus campus
  points:
    - {point: site/ahu/supply_temp, instance: 1, increment: 0.2, trend_log: 1}
    - {point: site/ahu/setpoint, min: 14, max: 26}
  patterns:
    - {pattern: site/vav*/**, trend_logs: true}
  writers:
    - {from: [10.0.0.7], token_file: bms.token}

Instances that are left out are given once and kept in map.instances.csv. Commands go to
control in the name of the person whose token it is. voltbus bacnet map lists the objects.`

func newServe(f *shell.Flags) *cobra.Command {
	file := ""
	cmd := &cobra.Command{
		Use: "serve --map FILE", Short: "Offer points of a node to BACnet clients", Long: serveHelp, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			mapping, err := readMapping(file)
			if err != nil {
				return err
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error { return serve(ctx, s, f, file, mapping) })
		},
	}
	f.Where.Register(cmd)
	registerMap(cmd, &file)
	return cmd
}

func registerMap(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "map", "", "mapping file: which point is which object")
	_ = cmd.MarkFlagFilename("map", "yaml", "yml")
}

// readMapping reads and checks a mapping file.
func readMapping(file string) (*bacnet.Mapping, error) {
	if file == "" {
		return nil, shell.Usage(errors.New("--map is missing; write the name of a mapping file"))
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fault.E("bacnet", fault.NotFound, file, fmt.Errorf("the mapping cannot be read: %w; write the name of a file that is there", err))
	}
	mapping, problems := bacnet.ParseMapping(file, data)
	var all []error
	for _, p := range problems {
		all = append(all, errors.New(p.String()))
	}
	if len(all) > 0 {
		return nil, shell.Usage(errors.Join(all...))
	}
	return mapping, nil
}

// persons returns who commands for the writers of a mapping. Names of files are relative to that of the mapping.
func persons(file string, m *bacnet.Mapping, c *client.Client) ([]bacnet.Commander, error) {
	var all []bacnet.Commander
	for i := range m.Writers {
		name := m.Writers[i].TokenFile
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(file), name)
		}
		token, err := identity.ReadToken(name)
		if err != nil {
			return nil, fmt.Errorf("%s: writers[%d].token_file: %w; write a token of the person into it (voltbus token create)", file, i, err)
		}
		all = append(all, bacnet.API{Client: client.WithToken(c, token)})
	}
	return all, nil
}

// link returns where a gateway listens.
func link(file string, m *bacnet.Mapping) (ip.Config, error) {
	local, err := network.ParseLocal(m.Local)
	if err != nil {
		return ip.Config{}, shell.Usage(fmt.Errorf("%s: local: %w", file, err))
	}
	c := ip.Config{Listen: local.Listen, Broadcast: local.Broadcast, BroadcastPort: local.Port}
	if m.BBMD != "" {
		if c.BBMD, err = network.ParsePort(m.BBMD); err != nil {
			return ip.Config{}, shell.Usage(fmt.Errorf("%s: bbmd: %w", file, err))
		}
	}
	if m.IsBBMD() {
		c.Distribution, err = distribution(file, m)
	}
	return c, err
}

// distribution returns what a gateway does as the BBMD of its subnet. Other BBMDs broadcast in their subnets by themselves.
func distribution(file string, m *bacnet.Mapping) (*ip.Distribution, error) {
	d := &ip.Distribution{MaxForeign: m.ForeignDevices}
	for i, text := range m.BBMDPeers {
		at, err := network.ParsePort(text)
		if err != nil {
			return nil, shell.Usage(fmt.Errorf("%s: bbmd_peers[%d]: %w", file, i, err))
		}
		d.Peers = append(d.Peers, at)
	}
	return d, nil
}

// newGateway returns the gateway of a mapping, and the instances of its objects, which are to be saved before they are served.
func newGateway(ctx context.Context, s shell.Session, f *shell.Flags, file string, m *bacnet.Mapping) (*bacnet.Gateway, *bacnet.Instances, error) {
	log, err := f.Logger()
	if err != nil {
		return nil, nil, err
	}
	people, err := persons(file, m, s.Client)
	if err != nil {
		return nil, nil, err
	}
	instances, err := bacnet.OpenInstances(instancesFile(file, m))
	if err != nil {
		return nil, nil, err
	}
	g, err := bacnet.New(ctx, bacnet.Config{Mapping: m, Node: bacnet.API{Client: s.Client}, People: people, Instances: instances, Log: log})
	return g, instances, err
}

// instancesFile is the file of the instances, relative to the mapping file: map.instances.csv beside map.yaml.
func instancesFile(file string, m *bacnet.Mapping) string {
	name := m.Instances
	switch {
	case name == "":
		return strings.TrimSuffix(file, filepath.Ext(file)) + ".instances.csv"
	case filepath.IsAbs(name):
		return name
	default:
		return filepath.Join(filepath.Dir(file), name)
	}
}

func serve(ctx context.Context, s shell.Session, f *shell.Flags, file string, m *bacnet.Mapping) error {
	at, err := link(file, m)
	if err != nil {
		return err
	}
	gateway, instances, err := newGateway(ctx, s, f, file, m)
	if err != nil {
		return err
	}
	if err := instances.Save(); err != nil {
		return err
	}
	for _, o := range gateway.Objects() {
		if o.Missing {
			s.Printf("the node has no point %s, which is faulty until it has; correct the mapping (voltbus points lists them)\n", shell.Plain(string(o.Point)))
		}
	}
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if m.Status != "" {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", m.Status)
		if err != nil {
			return fault.E("bacnet", fault.Unavailable, m.Status, fmt.Errorf("%w; write another address as status", err))
		}
		running.Go(func() { _ = gateway.ServeStatus(ctx, listener) })
		s.Printf("the status is at http://%v/health\n", listener.Addr())
	}
	device, err := gateway.Open(ctx, at, shell.Version().Version)
	if err != nil {
		return err
	}
	s.Printf("device %d with %d objects listens on %v\n", m.Device, len(gateway.Objects()), device.Client().Port().Address())
	return gateway.Run(ctx, device)
}
