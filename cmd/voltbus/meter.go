package main

import (
	"io"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/meters"
)

func newMeter(f *flags) *cobra.Command {
	return meters.New(&meters.Program{
		With: f.where.withClient,
		Table: func(cmd *cobra.Command) func(io.Writer, ...string) (meters.Rows, error) {
			out := &format{}
			out.register(cmd)
			return func(w io.Writer, columns ...string) (meters.Rows, error) {
				rows, err := out.open(w, columns...)
				if err != nil {
					return meters.Rows{}, err
				}
				return meters.Rows{Row: rows.row, End: rows.end}, nil
			}
		},
		Open:     func(name string) (io.ReadCloser, error) { return openFile(name) },
		Complete: func(cmd *cobra.Command) { f.where.register(cmd); strictArgs(cmd) },
	})
}
