package bacnettool

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/sc"
)

// certificates are the files that the authority of a BACnet/SC site gave.
type certificates struct{ own, key, ca string }

func (c *certificates) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&c.own, "certificate", "", "BACnet/SC: PEM file with the own certificate")
	fs.StringVar(&c.key, "key", "", "BACnet/SC: PEM file with its private key")
	fs.StringVar(&c.ca, "ca", "", "BACnet/SC: PEM file with the authorities of the site")
}

func (c *certificates) load() (sc.Certificates, error) {
	if c.own == "" || c.key == "" || c.ca == "" {
		return sc.Certificates{}, shell.Usage(errors.New("BACnet/SC needs the three files --certificate, --key and --ca"))
	}
	loaded, err := sc.LoadCertificates(c.own, c.key, c.ca)
	if err != nil {
		return sc.Certificates{}, fault.E("bacnet", fault.Invalid, "certificates", err)
	}
	return loaded, nil
}

// secure is how to reach a BACnet/SC network.
type secure struct {
	certificates

	hub, failover string
}

func (s *secure) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.hub, "hub", "", "reach a BACnet/SC network through its hub, such as wss://10.0.0.2:4443/, in place of --local and --bbmd")
	cmd.Flags().StringVar(&s.failover, "failover", "", "BACnet/SC: the hub that is used while the first cannot be reached")
	s.certificates.register(cmd)
}

// open opens a client and waits until a hub takes its messages. The address is drawn each time: a node with the same certificate stays
// connected.
func (s *secure) open(ctx context.Context, config client.Config, timeout time.Duration) (*client.Client, error) {
	loaded, err := s.load()
	if err != nil {
		return nil, err
	}
	vmac, uuid := loaded.Identity(rand.Text())
	carrier := sc.NewCarrier(sc.Config{
		VMAC: vmac, UUID: uuid, Primary: s.hub, Failover: s.failover, Certificates: loaded, Wait: timeout, Reconnect: time.Second,
	})
	config.IP.Carrier = carrier
	c, err := client.Open(ctx, config)
	if err != nil {
		return nil, fault.E("bacnet", fault.Unreachable, s.hub, err)
	}
	wait, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := carrier.Await(wait); err != nil {
		return nil, errors.Join(fault.E("bacnet", fault.Unreachable, "", err), c.Close())
	}
	return c, nil
}

// section is the network in the configuration of a device. Its files are in the folder of the configuration: others are not read.
func (s *secure) section() string {
	if s.hub == "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "      sc:\n        hub: %q\n", s.hub)
	if s.failover != "" {
		fmt.Fprintf(&b, "        failover: %q\n", s.failover)
	}
	for _, f := range []struct{ key, name string }{{"certificate", s.own}, {"key", s.key}, {"ca", s.ca}} {
		fmt.Fprintf(&b, "        %s: %q\n", f.key, filepath.Base(f.name))
	}
	return b.String()
}

// missing lists the files that a configuration in a folder lacks. They are not copied: one is a private key.
func (s *secure) missing(folder string) (names []string) {
	if s.hub == "" {
		return nil
	}
	for _, name := range []string{s.own, s.key, s.ca} {
		if _, err := os.Stat(filepath.Join(folder, filepath.Base(name))); err != nil {
			names = append(names, name)
		}
	}
	return names
}

// check says which flags do not go together.
func (f *flags) check() error {
	switch {
	case f.hub == "" && (f.failover != "" || f.own != "" || f.key != "" || f.ca != ""):
		return shell.Usage(errors.New("--hub is missing; --failover, --certificate, --key and --ca are of BACnet/SC"))
	case f.hub != "" && (f.local != "" || f.bbmd != ""):
		return shell.Usage(errors.New("--hub is of BACnet/SC, and --local and --bbmd are of BACnet/IP; leave one of them out"))
	}
	return nil
}

// where names the network in errors.
func (f *flags) where() string {
	if f.hub != "" {
		return f.hub
	}
	return f.local
}

// noDevice says that nobody answers a search, and what to do.
func (f *flags) noDevice(what, without string) error {
	if f.hub != "" {
		return fault.E("bacnet", fault.NotFound, what, errors.New("no device answers; check that the devices are connected to this hub, or wait longer"))
	}
	return fault.E("bacnet", fault.NotFound, what, errors.New(without))
}
