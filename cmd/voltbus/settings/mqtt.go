package settings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/broker/account"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/operation"
	"voltbus/operation/mqtt"
)

// NewMQTT returns the command "mqtt".
func NewMQTT(f *shell.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "mqtt", Short: "Manage MQTT devices, and inspect their messages",
		Long: `Manage MQTT devices, and inspect their messages. A device logs in with its name and a secret, or with a certificate of this
node's authority. Its kind, in mqtt.kinds of the configuration, sets its rights; mqtt.templates turn its messages into
points.`,
		Example: `  voltbus mqtt add t1 --kind thermostat
  voltbus mqtt provision devices.csv > secrets.csv
  voltbus mqtt unknown`,
	}
	for _, sub := range []*cobra.Command{
		newMQTTStatus(f), newMQTTDevices(f), newMQTTAdd(f), newMQTTRemove(f), newMQTTRotate(f), newMQTTCertify(f), newMQTTProvision(f),
		newMQTTClients(f), newMQTTUnknown(f), newMQTTTemplate(f),
	} {
		f.Where.Register(sub)
		shell.StrictArgs(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}

func newMQTTStatus(f *shell.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Count clients and messages, as JSON", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				status, err := client.Do(ctx, s.Client, mqtt.Status, operation.None{})
				if err != nil {
					return err
				}
				return shell.PrintJSON(cmd, status)
			})
		},
	}
}

func newMQTTDevices(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "devices", Short: "List the devices that may connect", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				r, err := out.Open(cmd.OutOrStdout(), "name", "kind", "created", "changed", "certificate")
				if err != nil {
					return err
				}
				for after, more := "", true; more && err == nil; {
					after, more, err = mqttDevices(ctx, s, after, r.Row)
				}
				if err != nil {
					return err
				}
				return r.End()
			})
		},
	}
	out.Register(cmd)
	return cmd
}

// mqttDevices writes the rows of a page of devices, and reports after which name the next one begins, if there are more.
func mqttDevices(ctx context.Context, s shell.Session, after string, row func(...any) error) (last string, more bool, err error) {
	page, err := client.Do(ctx, s.Client, mqtt.ListDevices, mqtt.Page{After: after})
	if err != nil {
		return "", false, err
	}
	for _, d := range page.Devices {
		ends := ""
		if d.Certificate != nil {
			ends = "until " + d.Certificate.Format(time.DateOnly)
		}
		last = d.Name
		if err := row(d.Name, d.Kind, d.Created.Format(time.RFC3339), d.Changed.Format(time.RFC3339), ends); err != nil {
			return "", false, err
		}
	}
	return last, page.More, nil
}

func newMQTTAdd(f *shell.Flags) *cobra.Command {
	var kind string
	cmd := &cobra.Command{
		Use: "add <device>", Short: "Add a device; its secret is shown only once", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				d, err := client.Do(ctx, s.Client, mqtt.Add, mqtt.NewDevice{Name: args[0], Kind: kind})
				if err == nil {
					cmd.Printf("user name  %s\npassword   %s\n", d.Name, d.Secret)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&kind, "kind", "", "one of mqtt.kinds of the configuration; default if left out")
	return cmd
}

func newMQTTRemove(f *shell.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "remove <device>", Short: "Remove a device, and end its connections", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				_, err := client.Do(ctx, s.Client, mqtt.Remove, mqtt.Device{Device: args[0]})
				return err
			})
		},
	}
}

func newMQTTRotate(f *shell.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "rotate <device>", Short: "Issue a new secret for a device; its connections end", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				d, err := client.Do(ctx, s.Client, mqtt.Rotate, mqtt.Device{Device: args[0]})
				if err == nil {
					cmd.Printf("user name  %s\npassword   %s\n", d.Name, d.Secret)
				}
				return err
			})
		},
	}
}

func newMQTTCertify(f *shell.Flags) *cobra.Command {
	var base string
	cmd := &cobra.Command{
		Use: "certify <device>", Short: "Issue a certificate for a device; the previous one becomes invalid", Args: cobra.ExactArgs(1),
		Long: `Issue a certificate of this node's authority for a device. Three files are written: NAME.pem, NAME.key, which only you can
read, and NAME.ca.pem, which the device trusts. The previous certificate becomes invalid, and connections end.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				c, err := client.Do(ctx, s.Client, mqtt.Certify, mqtt.Device{Device: args[0]})
				if err != nil {
					return err
				}
				name := base
				if name == "" {
					name = args[0]
				}
				for _, file := range []struct {
					name, text string
					mode       os.FileMode
				}{{name + ".pem", c.Certificate, 0o644}, {name + ".key", c.Key, 0o600}, {name + ".ca.pem", c.Authority, 0o644}} {
					if err := os.WriteFile(file.name, []byte(file.text), file.mode); err != nil {
						return err
					}
				}
				cmd.Printf("%s.pem, %s.key and %s.ca.pem are valid until %s\n", name, name, name, c.Expires.Format(time.DateOnly))
				return nil
			})
		},
	}
	cmd.Flags().StringVarP(&base, "output", "o", "", "how the files begin; the name of the device if left out")
	return cmd
}

func newMQTTProvision(f *shell.Flags) *cobra.Command {
	var out shell.Format
	var folder string
	cmd := &cobra.Command{
		Use: "provision <file>", Short: "Add many devices, all or none", Args: cobra.ExactArgs(1),
		Long: `Add many devices, all or none, of a file: CSV with the columns name, kind and secret, of which only name must be
there, or JSON, a list of objects with these fields. - is the standard input. Names, kinds and secrets are printed as CSV;
secrets that the file does not have are made. They cannot be shown again. With --certificates each device also gets a
certificate of this node's authority: NAME.pem and NAME.key in the folder, and ca.pem, which the devices trust.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := readDevices(cmd.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				text := listText(list)
				if _, err := client.Do(ctx, s.Client, mqtt.Provision, mqtt.List{List: &text}); err != nil {
					return err
				}
				if err := certifyList(ctx, s, folder, list); err != nil {
					return err
				}
				r, err := out.Open(cmd.OutOrStdout(), "name", "kind", "secret")
				if err != nil {
					return err
				}
				for _, d := range list {
					if err := r.Row(d.Name, d.Kind, d.Secret); err != nil {
						return err
					}
				}
				return r.End()
			})
		},
	}
	out.Register(cmd)
	cmd.Flags().StringVar(&folder, "certificates", "", "a folder for a certificate and a key of each device; it is made if absent")
	_ = cmd.Flags().Set("format", "csv")
	cmd.Flags().Lookup("format").DefValue = "csv"
	return cmd
}

// readDevices reads devices, and generates missing secrets.
func readDevices(in io.Reader, file string) ([]account.NewDevice, error) {
	var text []byte
	var err error
	if file == "-" {
		text, err = io.ReadAll(in)
	} else {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, fault.E("voltbus", fault.Invalid, file, errors.Unwrap(err))
	}
	list, err := account.ParseList(text)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Secret == "" {
			list[i].Secret = account.NewSecret()
		}
	}
	return list, nil
}

// listText formats devices as CSV. The node refuses names that would need quotes anyway.
func listText(list []account.NewDevice) string {
	var b strings.Builder
	b.WriteString("name,kind,secret\n")
	for _, d := range list {
		fmt.Fprintf(&b, "%q,%q,%q\n", d.Name, d.Kind, d.Secret)
	}
	return b.String()
}

func newMQTTClients(f *shell.Flags) *cobra.Command {
	var out shell.Format
	cmd := &cobra.Command{
		Use: "clients", Short: "List clients, connected or not", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				r, err := out.Open(cmd.OutOrStdout(), "device", "client", "address", "version", "connected", "subscriptions", "waiting", "dropped")
				if err != nil {
					return err
				}
				for after, more := "", true; more && err == nil; {
					after, more, err = mqttClients(ctx, s, after, r.Row)
				}
				if err != nil {
					return err
				}
				return r.End()
			})
		},
	}
	out.Register(cmd)
	return cmd
}

// mqttClients writes the rows of a page of clients, and reports after which one the next page begins, if there are more.
func mqttClients(ctx context.Context, s shell.Session, after string, row func(...any) error) (last string, more bool, err error) {
	page, err := client.Do(ctx, s.Client, mqtt.Clients, mqtt.Page{After: after})
	if err != nil {
		return "", false, err
	}
	for _, c := range page.Clients {
		since := "away"
		if c.Connected != nil {
			since = c.Connected.Format(time.RFC3339)
		}
		last = c.Device + " " + c.Client
		if err := row(c.Device, c.Client, c.Address, c.Version, since, c.Subscriptions, c.Waiting, c.Dropped); err != nil {
			return "", false, err
		}
	}
	return last, page.More, nil
}

func newMQTTUnknown(f *shell.Flags) *cobra.Command {
	var out shell.Format
	var propose bool
	cmd := &cobra.Command{
		Use: "unknown", Short: "Show the last messages without a template", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				list, err := client.Do(ctx, s.Client, mqtt.Unknown, operation.None{})
				if err != nil {
					return err
				}
				if propose {
					for _, u := range list.Topics {
						cmd.Print(u.Proposal)
					}
					return nil
				}
				r, err := out.Open(cmd.OutOrStdout(), "topic", "device", "count", "last", "template", "why", "payload")
				if err != nil {
					return err
				}
				for _, u := range list.Topics {
					if err := r.Row(u.Topic, u.Device, int64(u.Count), u.At.Format(time.RFC3339), u.Template, u.Why, u.Payload); err != nil {
						return err
					}
				}
				return r.End()
			})
		},
	}
	out.Register(cmd)
	cmd.Flags().BoolVar(&propose, "propose", false, "print templates that would take them; voltbus mqtt template adds one")
	return cmd
}
