// Package convert is the command "convert".
package convert

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"voltbus/config"
	"voltbus/config/volttron"
	"voltbus/driver/all"
	"voltbus/fault"
	"voltbus/internal/plural"
)

var errNotEmpty = errors.New("is there already and not empty; name another folder with --out")

// New returns the command.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use: "convert", Short: "Convert the configuration of another platform",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newVolttron())
	return cmd
}

func newVolttron() *cobra.Command {
	out, name := "converted", "plant-1"
	cmd := &cobra.Command{
		Use: "volttron FOLDER", Short: "Convert a configuration store of VOLTTRON", Args: cobra.ExactArgs(1),
		Long: `Convert a configuration store of VOLTTRON. The folder is a configuration_store, the VOLTTRON_HOME that contains it,
or a single file such as platform.driver.store. Nothing in it is changed.

The new folder holds voltbus.yaml, the registries, and report.md, which says what was not converted and why.
Devices without a driver here are comments at the end of voltbus.yaml.`,
		Example: `  voltbus convert volttron ~/.volttron --out plant-1
  voltbus check plant-1/voltbus.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := volttron.Convert(args[0], name)
			if err != nil {
				return err
			}
			if err := writeFolder(out, r.Files); err != nil {
				return err
			}
			cmd.Printf("%s converted, %d left as comments; see %s\n", plural.Of(r.Devices, "device"), r.Left, filepath.Join(out, volttron.ReportFile))
			_, err = config.Load(filepath.Join(out, volttron.ConfigFile), all.Kinds())
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", out, "new folder for the configuration")
	cmd.Flags().StringVar(&name, "name", name, "name of the node")
	return cmd
}

// writeFolder writes files to an empty or new folder.
func writeFolder(folder string, files map[string][]byte) error {
	present, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look into %s: %w", folder, err)
	}
	if len(present) > 0 {
		return fault.E("convert", fault.Conflict, folder, errNotEmpty)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			return fmt.Errorf("make the folder of %s: %w", file, err)
		}
		if err := os.WriteFile(file, files[name], 0o600); err != nil {
			return fmt.Errorf("write %s: %w", file, err)
		}
	}
	return nil
}
