package bacnettool

import (
	"context"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/gateway/bacnet"
)

const mapHelp = `List which point of a node is which object of the device that voltbus bacnet serve
shows, with the instances that are kept, and those that points would get which are new.
--format csv writes a table for the engineers of the building system.`

func newMap(f *shell.Flags) *cobra.Command {
	file := ""
	var out shell.Format
	cmd := &cobra.Command{
		Use: "map --map FILE", Short: "List which point is which object of the gateway", Long: mapHelp, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			mapping, err := readMapping(file)
			if err != nil {
				return err
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				gateway, _, err := newGateway(ctx, s, f, file, mapping)
				if err != nil {
					return err
				}
				return printObjects(cmd, &out, gateway.Objects())
			})
		},
	}
	f.Where.Register(cmd)
	registerMap(cmd, &file)
	out.Register(cmd)
	return cmd
}

func printObjects(cmd *cobra.Command, out *shell.Format, objects []bacnet.Object) error {
	rows, err := out.Open(cmd.OutOrStdout(), "object", "name", "point", "unit", "commandable", "trend_log", "description", "note")
	if err != nil {
		return err
	}
	for i := range objects {
		o := &objects[i]
		unit, log, note := "", "", ""
		if o.Analog {
			unit = o.Units.String()
		}
		if o.TrendLog != nil {
			log = o.TrendLog.String()
		}
		if o.Missing {
			note = "the node has no such point"
		}
		if err := rows.Row(o.ID.String(), o.Name, string(o.Point), unit, o.Commandable, log, o.Description, note); err != nil {
			return err
		}
	}
	return rows.End()
}
