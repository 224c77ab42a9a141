package meters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/operation/metering"
)

func newExport(f *Program) *cobra.Command {
	in := metering.File{}
	file := "-"
	cmd := &cobra.Command{
		Use: "export", Short: "Write the readings of many meters to a CSV or Parquet file", Args: cobra.NoArgs,
		Long: `Writes all readings of the meters whose ids a pattern selects, with * for any text, to a file, however many.
The columns are meter, channel, end, value, unit, stage, status, recorded, who, rule and reason.`,
		Example: `  voltbus meter export --from 2026-03-01T00:00:00+01:00 --to 2026-04-01T00:00:00+02:00 --meters '1EMH*' -o march.parquet`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if in.Format == "" && filepath.Ext(file) == ".parquet" {
				in.Format = "parquet"
			}
			return f.With(cmd, func(ctx context.Context, c *client.Client) error {
				return saved(cmd, file, func(w io.Writer) (int64, error) { return client.Copy(ctx, c, metering.Export, in, w) })
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&in.From, "from", "", "intervals that end after it")
	flags.StringVar(&in.To, "to", "", "and not after it")
	flags.StringVar(&in.Meters, "meters", "*", "which meters: a pattern of their ids")
	flags.IntVar(&in.Channel, "channel", 0, "only this channel; 0 for all")
	flags.StringVar(&in.KnownAt, "as-known-at", "", "as it was known at this moment (default: now)")
	flags.BoolVar(&in.Versions, "versions", false, "all versions, not only the one that counts")
	flags.StringVarP(&file, "output", "o", file, "file to write; - for standard output")
	flags.StringVarP(&in.Format, "format", "f", "", "csv or parquet (default: by the file's name, else csv)")
	return cmd
}

// saved lets do write a file, which then exists complete or not at all.
func saved(cmd *cobra.Command, file string, do func(io.Writer) (int64, error)) error {
	if file == "-" {
		_, err := do(cmd.OutOrStdout())
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(file), ".voltbus-export-*")
	if err != nil {
		return fault.E("voltbus", fault.Invalid, file, fmt.Errorf("cannot be written: %w", errors.Unwrap(err)))
	}
	n, err := do(out)
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, os.Remove(out.Name()))
	}
	if err := os.Rename(out.Name(), file); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s, %.1f MB\n", file, float64(n)/1e6)
	return err
}
