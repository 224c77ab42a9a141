package modbustool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver/modbus"
	"voltbus/driver/modbus/sunspecmap"
	"voltbus/protocol/sunspec"
)

const modbusSunSpecHelp = `Find the SunSpec models of an inverter, a meter or a battery. Without --registry it prints the models; with it, it
also writes the points, with names, units, scale factors, states and which can be written, to a CSV file that the Modbus driver
reads, and prints what to add to the configuration. Points that the device says it does not have are left out, unless --all.

  voltbus modbus sunspec --tcp 10.0.0.5 --unit 126
  voltbus modbus sunspec --tcp 10.0.0.5 --unit 126 --registry inverter.csv`

func newModbusSunSpec() *cobra.Command {
	var m modbusFlags
	var out shell.Format
	var file string
	var all bool
	cmd := &cobra.Command{
		Use: "sunspec", Short: "Find SunSpec models, and write their points as a registry", Long: modbusSunSpecHelp, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return m.with(cmd, func(ctx context.Context, p *modbus.Probe) error {
				found, err := sunspecmap.Scan(ctx, p, uint8(m.unit))
				if err != nil {
					return err
				}
				if err := showModels(cmd, &out, found); err != nil || file == "" {
					return err
				}
				if err := writeRegistry(file, sunspecmap.Rows(found), all); err != nil {
					return err
				}
				cmd.Print(m.device(file))
				return nil
			})
		},
	}
	m.register(cmd)
	cmd.Flags().StringVar(&file, "registry", "", "CSV file to write; it must not exist")
	cmd.Flags().BoolVar(&all, "all", false, "with points that the device does not have")
	out.Register(cmd)
	return cmd
}

func showModels(cmd *cobra.Command, out *shell.Format, found []sunspec.Found) error {
	table, err := out.Open(cmd.OutOrStdout(), "model", "address", "registers", "points", "name")
	if err != nil {
		return err
	}
	for i := range found {
		f := &found[i]
		name := "no published model; read its registers with voltbus modbus read"
		points := 0
		if f.Model != nil {
			name = cmp.Or(f.Model.Group.Label, f.Model.Group.Name)
			for _, p := range f.Points() {
				if p.Implemented() {
					points++
				}
			}
		}
		if err := table.Row(int(f.ID), int(f.Address), len(f.Words), points, name); err != nil {
			return err
		}
	}
	return table.End()
}

// writeRegistry does not overwrite anything.
func writeRegistry(file string, rows []sunspecmap.Row, all bool) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return shell.Usage(fmt.Errorf("--registry: %s exists already; name another file, or remove it", file))
	}
	if err != nil {
		return shell.Usage(fmt.Errorf("--registry: %w", err))
	}
	if err := sunspecmap.Write(f, rows, all); err != nil {
		_ = f.Close()
		return fmt.Errorf("write %s: %w", file, err)
	}
	return f.Close()
}

// device is the device's entry in the configuration.
func (m *modbusFlags) device(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	var config strings.Builder
	switch {
	case m.tcp != "":
		fmt.Fprintf(&config, "      address: %s\n", m.tcp)
	case m.rtu != "":
		fmt.Fprintf(&config, "      transport: rtuovertcp\n      address: %s\n", m.rtu)
	default:
		port := strings.Split(m.serial, ",")
		fmt.Fprintf(&config, "      transport: rtu\n      address: %s\n", port[0])
		if len(port) > 1 {
			fmt.Fprintf(&config, "      baudrate: %s\n", port[1])
		}
		if len(port) > 2 {
			fmt.Fprintf(&config, "      parity: %s\n", port[2])
		}
	}
	return fmt.Sprintf("\ndevices:\n  site/%s:\n    driver: modbus\n    interval: 10s\n    config:\n%s      unit: %d\n      registry: %s\n",
		name, config.String(), m.unit, file)
}
