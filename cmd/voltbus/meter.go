package main

import (
	"io"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/data"
	"voltbus/cmd/voltbus/meters"
	"voltbus/cmd/voltbus/shell"
)

func newMeter(f *shell.Flags) *cobra.Command {
	return meters.New(&meters.Program{
		With: f.Where.WithClient,
		Table: func(cmd *cobra.Command) func(io.Writer, ...string) (meters.Rows, error) {
			out := &shell.Format{}
			out.Register(cmd)
			return func(w io.Writer, columns ...string) (meters.Rows, error) {
				rows, err := out.Open(w, columns...)
				if err != nil {
					return meters.Rows{}, err
				}
				return meters.Rows{Row: rows.Row, End: rows.End}, nil
			}
		},
		Open:     func(name string) (io.ReadCloser, error) { return data.OpenFile(name) },
		Complete: func(cmd *cobra.Command) { f.Where.Register(cmd); shell.StrictArgs(cmd) },
		Strict:   shell.StrictArgs,
	})
}
