package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"voltbus/api/client"
	"voltbus/cmd/voltbus/meters"
)

func newMeter(f *flags) *cobra.Command {
	return meters.New(&meters.Program{
		With: func(cmd *cobra.Command, do func(context.Context, *client.Client) error) error {
			return f.where.with(cmd, func(ctx context.Context, s session) error { return do(ctx, s.Client) })
		},
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
