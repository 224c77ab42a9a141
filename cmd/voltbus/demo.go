package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
	withCampus, figure := false, false
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a demonstration site, without any hardware",
		Long: `Run a demonstration site on this machine: a simulated office building, and two boilers
that a separate process simulates behind a real Modbus TCP socket. With --campus another process is 50 BACnet
devices with 100 objects each: the air handlers and rooms of five buildings. With --campus-figure it is
instead a campus node, a building and two zones below it, and an account for an application outside that
sees some readings by MQTT and commands two set points. Everything stays on the loopback interface. Stop it with Ctrl-C; the history and the devices that you added are kept for the
next start. The site itself is rewritten.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if figure {
				return demoFigure(cmd, f, &site)
			}
			return runDemo(cmd, f, site, withCampus)
		},
	}
	cmd.Flags().BoolVar(&withCampus, "campus", false, "with 50 BACnet devices of five buildings, which are looked for at the start")
	cmd.Flags().BoolVar(&figure, "campus-figure", false, "a campus, a building and two zones as four nodes, and an application outside")
	cmd.MarkFlagsMutuallyExclusive("campus", "campus-figure")
	cmd.Flags().StringVar(&site.Dir, "dir", site.Dir, "directory of the demonstration")
	cmd.Flags().StringVar(&site.HTTP, "http", site.HTTP, "address of the page and the API; another port is taken if this one is in use")
	cmd.Flags().StringVar(&site.Bus, "bus", site.Bus, "address for bus clients; another port is taken if this one is in use")
	return cmd
}

func runDemo(cmd *cobra.Command, f *shell.Flags, site demo.Site, withCampus bool) (err error) {
	log, err := demoLogger(cmd, f)
	if err != nil {
		return err
	}
	if data := filepath.Join(site.Dir, "data"); datadir.InUse(data) {
		return fault.E("demo", fault.Conflict, site.Dir, errors.New("the demonstration runs already in this directory; look at it, or give another one with --dir"))
	}
	if err := checkAddresses(&site); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	boiler, err := demo.Start(exec.Command(self, boilerCommand)) //nolint:noctx // ends with its input
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, boiler.Stop()) }()
	site.Boiler = boiler.Address
	if withCampus {
		stop, err := startCampus(cmd, self, &site)
		if err != nil {
			return err
		}
		defer func() { _ = stop() }() // it has nothing to keep
	}
	site.HTTP, site.Bus = freeAddress(cmd.Context(), site.HTTP), freeAddress(cmd.Context(), site.Bus)
	file, err := site.Write()
	if err != nil {
		return err
	}
	begin := time.Now()
	return runNode(cmd.Context(), file, log, func(n *node.Node) { welcome(cmd, n, boiler, file, time.Since(begin)) })
}

func demoFigure(cmd *cobra.Command, f *shell.Flags, site *demo.Site) error {
	log, err := demoLogger(cmd, f)
	if err == nil {
		err = checkAddresses(site)
	}
	if err != nil {
		return err
	}
	return runFigure(cmd, log, site)
}

// demoLogger returns the logger of the demonstration, which says less than that of a node.
func demoLogger(cmd *cobra.Command, f *shell.Flags) (*slog.Logger, error) {
	if !cmd.Flags().Changed("log-level") {
		f.LogLevel = "warn"
	}
	return f.Logger()
}

func checkAddresses(site *demo.Site) error {
	for flag, address := range map[string]string{"--http": site.HTTP, "--bus": site.Bus} {
		if err := new(config.Address).UnmarshalText([]byte(address)); err != nil {
			return shell.Usage(fmt.Errorf("%s: %w", flag, err))
		}
	}
	return nil
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

func welcome(cmd *cobra.Command, n *node.Node, boiler *demo.Process, file string, took time.Duration) {
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
`, took.Milliseconds(), link, boiler.Address, boiler.ID(), file, data, programName(), configArgument(file))
}

// startCampus starts the devices of the campus and looks for them.
func startCampus(cmd *cobra.Command, self string, site *demo.Site) (stop func() error, err error) {
	process, err := demo.Start(exec.Command(self, campusCommand)) //nolint:noctx // ends with its input
	if err != nil {
		return nil, err
	}
	site.Campus, err = demo.Find(cmd.Context(), process.Address)
	if err != nil {
		return nil, errors.Join(err, process.Stop())
	}
	points := 0
	for i := range site.Campus.Found {
		points += len(site.Campus.Found[i].Points)
	}
	cmd.Printf("  BACnet: %d devices with %d points at %s, played by process %d\n", len(site.Campus.Found), points, process.Address, process.ID())
	return process.Stop, nil
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

// Hidden subcommands that play devices.
const (
	boilerCommand = "demo-boiler"
	campusCommand = "demo-campus"
)

func newBoiler() *cobra.Command {
	return played(boilerCommand, "Simulate the boilers of the demonstration until standard input is closed", demo.ServeBoiler)
}

func newCampus() *cobra.Command {
	return played(campusCommand, "Simulate the campus of the demonstration until standard input is closed", demo.ServeCampus)
}

// played makes a hidden command that plays devices.
func played(name, short string, serve func(ctx context.Context, input io.Reader, out io.Writer) error) *cobra.Command {
	return &cobra.Command{
		Use: name, Hidden: true, Args: cobra.NoArgs, Short: short,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}
