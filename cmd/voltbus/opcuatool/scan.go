package opcuatool

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver"
	"voltbus/driver/opcua"
	"voltbus/fault"
	"voltbus/internal/plural"
)

func newScan() *cobra.Command {
	var f flags
	var out shell.Format
	cmd := &cobra.Command{
		Use: "scan <endpoint>", Short: "Show what security a server offers, and its certificate", Args: cobra.ExactArgs(1),
		Long: "Show what security a server offers, the best first, and the fingerprint of its certificate. Nothing proves the answer: compare the fingerprint with that at the server.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.load(args[0]); err != nil {
				return err
			}
			offers, err := f.config.Offers(cmd.Context())
			if err != nil {
				return err
			}
			rows, err := out.Open(cmd.OutOrStdout(), "server", "security", "mode", "users", "fingerprint")
			if err != nil {
				return err
			}
			for _, o := range offers {
				if err := rows.Row(o.Server, o.Security, o.Mode, o.Users, o.Fingerprint); err != nil {
					return err
				}
			}
			return rows.End()
		},
	}
	f.register(cmd)
	out.Register(cmd)
	return cmd
}

func newBrowse() *cobra.Command {
	var f flags
	var out shell.Format
	cmd := &cobra.Command{
		Use: "browse <endpoint> [node]", Short: "List what is below a node", Args: cobra.RangeArgs(1, 2),
		Long: "List what is below a node, or below the folder Objects.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.load(args[0]); err != nil {
				return err
			}
			return f.with(cmd, func(ctx context.Context, line driver.Line, _ driver.Session) error {
				list, err := opcua.Browse(ctx, line, append(args, "")[1])
				if err != nil {
					return err
				}
				rows, err := out.Open(cmd.OutOrStdout(), "class", "name", "node")
				if err != nil {
					return err
				}
				for _, child := range list {
					if err := rows.Row(child.Class, child.Name, child.Node); err != nil {
						return err
					}
				}
				return rows.End()
			})
		},
	}
	f.register(cmd)
	out.Register(cmd)
	return cmd
}

// registryColumns are those of a registry that is made.
var registryColumns = []string{"name", "node", "element", "type", "unit", "states", "writable", "description"}

func newMap() *cobra.Command {
	var f flags
	var file string
	cmd := &cobra.Command{
		Use: "map <endpoint>", Short: "Make a registry of all variables of a server", Args: cobra.ExactArgs(1),
		Long: "Make a registry of all variables of a server, with names that are readable, types, units, states and whether they may be written.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.load(args[0]); err != nil {
				return err
			}
			return f.with(cmd, func(ctx context.Context, _ driver.Line, s driver.Session) error {
				d, is := s.(driver.Discoverer)
				if !is {
					return errors.New("the driver cannot list the points of a server")
				}
				found, err := d.Discover(ctx)
				if err != nil {
					return err
				}
				if file == "" {
					_, err = cmd.OutOrStdout().Write(registryOf(found))
					return err
				}
				if err := create(file, registryOf(found)); err != nil {
					return fault.E("opcua", fault.Conflict, file, fmt.Errorf("cannot be written: %w; name a new file", err))
				}
				cmd.Printf("%s: %s\n", plural.Of(len(found), "point"), file)
				return nil
			})
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&file, "registry", "", "file for the registry; standard output if left out")
	return cmd
}

func registryOf(found []driver.Found) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{registryColumns}
	for i := range found {
		row := make([]string, len(registryColumns))
		for k, column := range registryColumns {
			row[k] = found[i].Entry[column]
		}
		rows = append(rows, row)
	}
	_ = w.WriteAll(rows) // to memory, which cannot fail
	return b.Bytes()
}
