package opcuatool

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/driver"
	"voltbus/driver/opcua/pointlist"
	"voltbus/point"
)

// namesOf are the names of the points of a configuration.
func (f *flags) namesOf() []string {
	var names []string
	for _, info := range f.config.Points() {
		names = append(names, string(info.Path))
	}
	return names
}

func newRead() *cobra.Command {
	var f flags
	var out shell.Format
	cmd := &cobra.Command{
		Use: "read <endpoint> <node>...", Short: "Read values of nodes", Args: cobra.MinimumNArgs(2),
		Long: "Read values of nodes.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.load(args[0], args[1:]...); err != nil {
				return err
			}
			return f.with(cmd, func(ctx context.Context, _ driver.Line, s driver.Session) error {
				samples, err := s.Read(ctx, f.namesOf())
				if err != nil {
					return err
				}
				if err := showSamples(cmd, &out, args[1:], samples); err != nil {
					return err
				}
				if d, is := s.(driver.Diagnoser); is {
					return d.Diagnose()
				}
				return nil
			})
		},
	}
	f.register(cmd)
	out.Register(cmd)
	return cmd
}

// showSamples prints the values of nodes.
func showSamples(cmd *cobra.Command, out *shell.Format, nodes []string, samples []point.Sample) error {
	rows, err := out.Open(cmd.OutOrStdout(), "node", "value", "quality", "time")
	if err != nil {
		return err
	}
	for i, sample := range samples {
		if err := rows.Row(nodes[i], sample.Value.String(), sample.Quality.String(), sample.Time.Format(time.RFC3339Nano)); err != nil {
			return err
		}
	}
	return rows.End()
}

func newWrite() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use: "write <endpoint> <node> <value>", Short: "Write the value of a node", Args: cobra.ExactArgs(3),
		Long: `Write the value of a node, read it back, and show it. The node of Voltbus is not asked: a point that a node commands is
commanded with voltbus set, which keeps the order of priorities.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.load(args[0], args[1]); err != nil {
				return err
			}
			var item pointlist.Item
			v, err := item.Parse(args[2])
			if err != nil {
				return shell.Usage(err)
			}
			return f.with(cmd, func(ctx context.Context, _ driver.Line, s driver.Session) error {
				w, is := s.(driver.Writer)
				if !is {
					return errors.New("the driver cannot write")
				}
				got, err := w.Write(ctx, f.namesOf()[0], v)
				if err != nil {
					return err
				}
				cmd.Printf("%s: wrote %s, reads %s\n", args[1], args[2], got)
				return nil
			})
		},
	}
	f.register(cmd)
	return shell.TakesNegatives(cmd)
}

func newWatch() *cobra.Command {
	var f flags
	var count int
	var out shell.Format
	cmd := &cobra.Command{
		Use: "watch <endpoint> <node>...", Short: "Print changes that a server reports", Args: cobra.MinimumNArgs(2),
		Long: "Subscribe to changes of nodes, and print each that the server reports.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.load(args[0], args[1:]...); err != nil {
				return err
			}
			return f.with(cmd, func(ctx context.Context, _ driver.Line, s driver.Session) error {
				rows, err := out.Open(cmd.OutOrStdout(), "time", "node", "value", "quality")
				if err != nil {
					return err
				}
				return f.watch(ctx, s, count, func(sample point.Sample, node string) error {
					return errors.Join(rows.Row(sample.Time.Format("15:04:05.000"), node, sample.Value.String(), sample.Quality.String()), rows.End())
				})
			})
		},
	}
	f.register(cmd)
	out.Register(cmd)
	cmd.Flags().IntVar(&count, "count", 0, "end after so many changes; 0: never")
	cmd.Flags().DurationVar(&f.config.Sampling, "sampling", f.config.Sampling, "how often the server looks for changes")
	return cmd
}

// watch prints reports until there are enough, or ctx ends.
func (f *flags) watch(ctx context.Context, s driver.Session, count int, show func(point.Sample, string) error) error {
	sub, is := s.(driver.Subscriber)
	if !is {
		return errors.New("the driver cannot subscribe")
	}
	nodes := make(map[point.Path]string)
	for i, name := range f.namesOf() {
		nodes[point.Path(name)] = f.config.Registry.Entries[i].Node
	}
	news := make(chan struct{}, 1)
	tell := func() {
		select {
		case news <- struct{}{}:
		default:
		}
	}
	if err := sub.Subscribe(ctx, f.namesOf(), tell); err != nil {
		return err
	}
	if l, is := sub.(driver.Lacking); is {
		if known, why := l.Lacks(); known && why != nil {
			return why
		}
	}
	for n := 0; count == 0 || n < count; {
		select {
		case <-ctx.Done():
			return nil
		case <-news:
		}
		var failed error
		err := sub.Take(ctx, func(sample point.Sample) {
			if count == 0 || n < count {
				failed = errors.Join(failed, show(sample, nodes[sample.Point]))
			}
			n++
		})
		if err = errors.Join(err, failed); err != nil {
			return err
		}
	}
	return nil
}
