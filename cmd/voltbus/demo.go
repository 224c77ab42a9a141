package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/config"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/internal/datadir"
	"voltbus/lab/demo"
	"voltbus/node"
)

func newDemo(f *shell.Flags) *cobra.Command {
	site := demo.Site{Dir: shell.DemoDir, HTTP: "127.0.0.1:8080", Bus: "127.0.0.1:4222"}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a demonstration site, without any hardware",
		Long: `Run a demonstration site on this machine: a simulated office building, and two boilers
that a separate process simulates behind a real Modbus TCP socket. Everything stays on the
loopback interface. Stop it with Ctrl-C; the history and the devices that you added are kept for the
next start. The site itself is rewritten.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDemo(cmd, f, site) },
	}
	cmd.Flags().StringVar(&site.Dir, "dir", site.Dir, "directory of the demonstration")
	cmd.Flags().StringVar(&site.HTTP, "http", site.HTTP, "address of the page and the API; another port is taken if this one is in use")
	cmd.Flags().StringVar(&site.Bus, "bus", site.Bus, "address for bus clients; another port is taken if this one is in use")
	return cmd
}

func runDemo(cmd *cobra.Command, f *shell.Flags, site demo.Site) (err error) {
	if !cmd.Flags().Changed("log-level") {
		f.LogLevel = "warn"
	}
	log, err := f.Logger()
	if err != nil {
		return err
	}
	if data := filepath.Join(site.Dir, "data"); datadir.InUse(data) {
		return fault.E("demo", fault.Conflict, site.Dir, errors.New("the demonstration runs already in this directory; look at it, or give another one with --dir"))
	}
	for flag, address := range map[string]string{"--http": site.HTTP, "--bus": site.Bus} {
		if err := new(config.Address).UnmarshalText([]byte(address)); err != nil {
			return shell.Usage(fmt.Errorf("%s: %w", flag, err))
		}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	boiler, err := demo.StartBoiler(exec.Command(self, boilerCommand)) //nolint:noctx // ends with its input
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, boiler.Stop()) }()
	site.Boiler = boiler.Address
	site.HTTP, site.Bus = freeAddress(cmd.Context(), site.HTTP), freeAddress(cmd.Context(), site.Bus)
	file, err := site.Write()
	if err != nil {
		return err
	}
	begin := time.Now()
	return runNode(cmd.Context(), file, log, func(n *node.Node) { welcome(cmd, n, boiler, file, time.Since(begin)) })
}

// freeAddress returns the address, or one with any free port if it is in use.
func freeAddress(ctx context.Context, address string) string {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err == nil {
		_ = l.Close()
		return address
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address // the configuration check reports what is wrong with it
	}
	return net.JoinHostPort(host, "0")
}

func welcome(cmd *cobra.Command, n *node.Node, boiler *demo.Boiler, file string, took time.Duration) {
	link := n.HTTPAddr()
	data := n.Config().Node.Data
	if token, err := identity.ReadToken(filepath.Join(data, identity.AdminTokenFile)); err == nil {
		link += "/#token=" + token
	}
	cmd.Printf(`
  The demonstration runs (started in %d ms).

  page        %s
  boilers     Modbus TCP at %s, played by process %d
  settings    %s
  data        %s

  In another terminal:
    %[7]s tail 'demo/plant/**'%[8]s
    %[7]s query demo/plant/boiler1/supply_temp --from -5m --step 1m%[8]s
    %[7]s ledger%[8]s

  Ctrl-C stops it. The history stays, and so do devices that you add.
`, took.Milliseconds(), link, boiler.Address, boiler.Process(), file, data, programName(), configArgument(file))
}

// programName is how the program was called, so that the next steps can be copied.
func programName() string {
	if path, err := exec.LookPath("voltbus"); err == nil && os.Args[0] == "voltbus" && path != "" {
		return "voltbus"
	}
	return os.Args[0]
}

// configArgument is the argument with which a command finds the demonstration from here.
func configArgument(file string) string {
	if file == filepath.Join(shell.DemoDir, demo.ConfigFile) {
		return ""
	}
	return " -c " + file
}

// boilerCommand is the hidden subcommand that simulates the boiler.
const boilerCommand = "demo-boiler"

func newBoiler() *cobra.Command {
	return &cobra.Command{
		Use: boilerCommand, Hidden: true, Args: cobra.NoArgs,
		Short: "Simulate the boilers of the demonstration until standard input is closed",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return demo.ServeBoiler(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}
