package opcuatool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver"
	"voltbus/driver/opcua"
	"voltbus/driver/opcua/pointlist"
	"voltbus/driver/registry"
	"voltbus/fault"
	"voltbus/internal/folder"
	"voltbus/protocol/opcua/client"
)

const help = `A field tool for OPC UA: what a server offers and has, values, writes, changes, and a registry of its variables.

  voltbus opcua scan opc.tcp://10.0.0.20:4840
  voltbus opcua browse opc.tcp://10.0.0.20:4840 --fingerprint 2f9c… --certificate me.pem --key me.key
  voltbus opcua map opc.tcp://10.0.0.20:4840 --security none --registry plant.csv
  voltbus opcua read opc.tcp://10.0.0.20:4840 'nsu=urn:plant;s=Pump.Speed' --security none
  voltbus opcua write opc.tcp://10.0.0.20:4840 'nsu=urn:plant;s=Pump.Setpoint' 21.5 --security none
  voltbus opcua watch opc.tcp://10.0.0.20:4840 'nsu=urn:plant;s=Pump.Speed' --security none
  voltbus opcua certificate --certificate me.pem --key me.key

A node is written nsu=URI;s=NAME, with i=, g= or b= for a number, a GUID or bytes.`

// NewOPCUA returns the command "opcua".
func NewOPCUA() *cobra.Command {
	cmd := &cobra.Command{Use: "opcua", Short: "Find, browse, read, write and watch what OPC UA servers have", Long: help}
	for _, sub := range []*cobra.Command{newScan(), newBrowse(), newMap(), newRead(), newWrite(), newWatch(), newCertificate()} {
		cmd.AddCommand(sub)
		shell.StrictArgs(sub)
	}
	return cmd
}

// flags tell how to reach a server.
type flags struct{ config *opcua.Config }

func (f *flags) register(cmd *cobra.Command) {
	f.config = opcua.NewConfig()
	c, fs := f.config, cmd.Flags()
	fs.StringVar(&c.Security, "security", c.Security, "best, none or a security policy")
	fs.StringVar(&c.Mode, "mode", c.Mode, "encrypt or sign")
	fs.StringVar(&c.Fingerprint, "fingerprint", "", "SHA-256 fingerprint of the server's certificate, as scan shows it")
	fs.StringVar(&c.Trust, "trust", "", "PEM file with certificates of servers or authorities to trust")
	fs.BoolVar(&c.AcceptExpired, "accept-expired", false, "trust a certificate although its time is over")
	fs.StringVar(&c.Certificate, "certificate", "", "PEM file with the certificate to show; one for this call is made if left out")
	fs.StringVar(&c.Key, "key", "", "PEM file with its key")
	fs.StringVar(&c.User, "user", "", "user name; nobody in particular if left out")
	fs.StringVar(&c.PasswordFile, "password-file", "", "file with the password")
	fs.BoolVar(&c.PlainPassword, "plain-password", false, "send the password readable if the server wants it so")
	fs.DurationVar(&c.Timeout, "timeout", c.Timeout, "how long an answer may take")
}

// load completes the configuration with points for nodes.
func (f *flags) load(endpoint string, nodes ...string) error {
	f.config.Endpoint = endpoint
	for _, node := range nodes {
		f.config.Registry.Entries = append(f.config.Registry.Entries, pointlist.Entry{Name: registry.Readable(node), Node: node, Writable: "true"})
	}
	unique(f.config.Registry.Entries)
	f.config.SetKeep(func(_ string, create func() ([]byte, error)) ([]byte, error) { return create() })
	for _, problem := range append(f.config.Load(folder.Any(".")), f.config.Validate()...) {
		if p, ok := errors.AsType[*driver.Problem](problem); ok && (p.Note || p.Key == "registry") {
			continue // the tool does not need it
		}
		return shell.Usage(problem)
	}
	return nil
}

// unique gives each point a name of its own.
func unique(entries []pointlist.Entry) {
	for i := range entries {
		entries[i].Name = fmt.Sprintf("%d_%s", i, entries[i].Name)
	}
}

// with connects, runs a function, and closes.
func (f *flags) with(cmd *cobra.Command, use func(ctx context.Context, line driver.Line, s driver.Session) error) (err error) {
	ctx := cmd.Context()
	line, err := opcua.Kind().Dial(ctx, f.config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, line.Close()) }()
	session, err := line.Open(ctx, f.config)
	if err != nil {
		return err
	}
	return use(ctx, line, session)
}

func newCertificate() *cobra.Command {
	var cert, key string
	var valid time.Duration
	cmd := &cobra.Command{
		Use: "certificate", Short: "Make a certificate to show to servers", Args: cobra.NoArgs,
		Long: "Make a certificate to show to servers, with its key. A node makes its own; this one is for the tool, or to install it at a server before.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			host, err := os.Hostname()
			if err != nil {
				return err
			}
			public, secret, err := client.NewCertificate(host, valid)
			if err != nil {
				return err
			}
			for _, f := range []struct {
				name string
				data []byte
			}{{key, secret}, {cert, public}} {
				if err := create(f.name, f.data); err != nil {
					return fault.E("opcua", fault.Conflict, f.name, fmt.Errorf("cannot be written: %w; name a new file", err))
				}
			}
			cmd.Printf("fingerprint %s\n", client.Fingerprint(client.DER(public)))
			return nil
		},
	}
	cmd.Flags().StringVar(&cert, "certificate", "opcua.pem", "file for the certificate")
	cmd.Flags().StringVar(&key, "key", "opcua.key", "file for the key")
	cmd.Flags().DurationVar(&valid, "valid", 10*365*24*time.Hour, "how long it is valid")
	return cmd
}

// create writes a new file that only its owner can read.
func create(name string, data []byte) error {
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the person named it
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return errors.Join(err, out.Close())
}
