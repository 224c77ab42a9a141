//go:build linux

package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"voltbus/lab/experiment"
	"voltbus/lab/machine"
)

// figures are what all runs found, in the order in which the first one found them.
type figures struct{ list []*figure }

// figure is one that each run finds.
type figure struct {
	broker, what, unit string
	values             []float64
}

// add adds what a run found, and prints it.
func (f *figures) add(broker, what, unit string, v float64) {
	fmt.Printf("%-10s %s: %s %s\n", broker, what, experiment.Round(v), unit)
	i := slices.IndexFunc(f.list, func(o *figure) bool { return o.broker == broker && o.what == what })
	if i < 0 {
		i = len(f.list)
		f.list = append(f.list, &figure{broker: broker, what: what, unit: unit})
	}
	f.list[i].values = append(f.list[i].values, v)
}

// table writes the median of each figure with the least and the most, and where it was measured.
func (f *figures) table(w io.Writer, m machine.Description) error {
	fmt.Fprintf(w, "\n%s, %d cores, %s, Linux %s, %s, load before: %s\n", m.CPU, m.Cores, m.System, m.Kernel, m.Go, m.Load)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "broker\tfigure\tunit\tmedian\tleast\tmost\truns")
	for _, g := range f.list {
		sorted := slices.Sorted(slices.Values(g.values))
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%d\n", g.broker, g.what, g.unit, experiment.Round(sorted[len(sorted)/2]), experiment.Round(sorted[0]),
			experiment.Round(sorted[len(sorted)-1]), len(sorted))
	}
	return t.Flush()
}
