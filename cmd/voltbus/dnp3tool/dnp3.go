package dnp3tool

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver"
	"voltbus/driver/dnp3"
	"voltbus/internal/folder"
)

const dnp3Help = `A field tool for DNP3 (IEEE 1815): find outstations, read and operate them, watch
what they say; and an outstation that shows the points of a node to other masters.

  voltbus dnp3 scan --tcp 10.0.0.5 --range 1-20
  voltbus dnp3 read --tcp 10.0.0.5 --outstation 10 analog_input:0-9
  voltbus dnp3 operate --tcp 10.0.0.5 --outstation 10 binary 3 latch_on
  voltbus dnp3 monitor --tcp 10.0.0.5 --outstation 10 --frames

The tool speaks as the master that --master names. An outstation that knows one master
only takes it for that one.`

// NewDNP3 returns the command "dnp3".
func NewDNP3(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{Use: "dnp3", Short: "Find, read, operate and monitor DNP3 outstations; act as an outstation", Long: dnp3Help}
	for _, sub := range []*cobra.Command{newDNP3Scan(), newDNP3Read(), newDNP3Operate(), newDNP3Freeze(), newDNP3Monitor(), newDNP3Outstation(f)} {
		cmd.AddCommand(sub)
		shell.StrictArgs(sub)
	}
	return cmd
}

// Flags tell how to reach an outstation.
type Flags struct {
	TCP, listen, udp, serial string
	tls                      dnp3.TLS
	Master, Outstation       int
	Timeout                  time.Duration
	retries                  int
}

func (d *Flags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&d.TCP, "tcp", "", "dial host:port (20000 if left out)")
	fs.StringVar(&d.listen, "listen", "", "wait for the outstation to dial this host:port")
	fs.StringVar(&d.udp, "udp", "", "send datagrams to host:port")
	fs.StringVar(&d.serial, "serial", "", "use a serial port: device[,baudrate[,none|even|odd]], such as /dev/ttyUSB0,9600,even")
	fs.StringVar(&d.tls.Certificate, "tls-certificate", "", "PEM file with our certificate: secures --tcp or --listen")
	fs.StringVar(&d.tls.Key, "tls-key", "", "PEM file with its key")
	fs.StringVar(&d.tls.CA, "tls-ca", "", "PEM file with the authority of the outstation's certificate")
	fs.StringVar(&d.tls.Name, "tls-name", "", "name in the outstation's certificate; - for any")
	fs.IntVar(&d.Master, "master", 1, "our link address")
	fs.IntVar(&d.Outstation, "outstation", 10, "link address of the outstation")
	fs.DurationVar(&d.Timeout, "timeout", 3*time.Second, "how long an answer may take")
	fs.IntVar(&d.retries, "retries", 1, "how often a request without an answer is repeated; commands never are")
}

var errNoTransport = errors.New("write how to reach the outstation: --tcp HOST, --listen ADDRESS, --udp HOST or --serial DEVICE")

var errManyTransports = errors.New("write one way to reach the outstation: --tcp, --listen, --udp or --serial, not several")

// Config converts the flags to a driver configuration.
func (d *Flags) Config() (*dnp3.Config, error) {
	c := dnp3.NewConfig()
	c.Master, c.Outstation, c.Timeout, c.Retries, c.TLS = d.Master, d.Outstation, d.Timeout, d.retries, d.tls
	c.Address = cmp.Or(d.TCP, d.listen, d.udp, d.serial)
	ways := slices.DeleteFunc([]string{d.TCP, d.listen, d.udp, d.serial}, func(way string) bool { return way == "" })
	switch {
	case len(ways) > 1:
		return nil, shell.Usage(errManyTransports)
	case c.Address == "":
		return nil, shell.Usage(errNoTransport)
	case d.listen != "":
		c.Transport = "listen"
	case d.udp != "":
		c.Transport = "udp"
	case d.serial != "":
		c.Transport = "serial"
		if err := serialOf(c, d.serial); err != nil {
			return nil, err
		}
	}
	for _, problem := range append(c.Load(folder.Any(".")), c.Validate()...) {
		if p, ok := errors.AsType[*driver.Problem](problem); ok && (p.Note || p.Key == "registry") {
			continue // the tool does not need it
		}
		return nil, shell.Usage(problem)
	}
	return c, nil
}

// serialOf parses device[,baudrate[,parity]].
func serialOf(c *dnp3.Config, text string) (err error) {
	parts := strings.Split(text, ",")
	c.Address = parts[0]
	if len(parts) > 1 {
		if c.Baudrate, err = strconv.Atoi(parts[1]); err != nil {
			return shell.Usage(fmt.Errorf("--serial: %q is no speed; write such as /dev/ttyUSB0,9600,even", parts[1]))
		}
	}
	if len(parts) > 2 {
		c.Parity = parts[2]
	}
	return nil
}
