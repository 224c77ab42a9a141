// Package regulationtool is the command "regulation": signals of frequency regulation and scores of responses, from files.
package regulationtool

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/regulation/score"
	"voltbus/regulation/signal"
)

// New returns the command.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use: "regulation", Short: "Signals of frequency regulation, and scores of responses",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, sub := range []*cobra.Command{newScore(), newSignal(), newOpenADR()} {
		cmd.AddCommand(sub)
		shell.StrictArgs(sub)
	}
	return cmd
}

// load converts a power into a response: through the capacity, positive for less consumption.
type load struct{ baseline, capacity float64 }

func newScore() *cobra.Command {
	var power load
	asJSON := false
	cmd := &cobra.Command{
		Use: "score SIGNAL RESPONSE", Short: "Score a response to a regulation signal", Args: cobra.ExactArgs(2),
		Long: `Score a response to a regulation signal by PJM's performance score (Manual 12): correlation, delay and precision for
each hour, and their mean. The precision is divided by the mean absolute signal of the hour.

Both files have a time (seconds, or RFC 3339) and a value on each line, of one clock. The signal is between -1 and 1,
positive where the grid needs more power. The response is through the capacity with the same sign; with --capacity and
--baseline it is the power of a load.`,
		Example: `  voltbus regulation score regd.csv response.csv
  voltbus regulation score regd.csv power.csv --baseline 20000 --capacity 4000`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("baseline") != cmd.Flags().Changed("capacity") || power.capacity < 0 {
				return fault.E("regulation.Score", fault.Invalid, "--capacity", fmt.Errorf("write both --baseline and a positive --capacity, in the unit of the response"))
			}
			s, err := open(args[0], signal.Read)
			if err != nil {
				return err
			}
			r, err := open(args[1], signal.ReadResponse)
			if err != nil {
				return err
			}
			if power.capacity > 0 {
				power.convert(r)
			}
			report, err := score.Judge(s, r)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(report)
			}
			show(cmd.OutOrStdout(), report)
			return nil
		},
	}
	cmd.Flags().Float64Var(&power.baseline, "baseline", 0, "power of the load without regulation, if the response is a power")
	cmd.Flags().Float64Var(&power.capacity, "capacity", 0, "power that the signal 1 asks for, if the response is a power")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

func (l load) convert(r *signal.Signal) {
	for i, v := range r.Values {
		r.Values[i] = (l.baseline - v) / l.capacity
	}
}

func open(name string, read func(io.Reader, string) (*signal.Signal, error)) (*signal.Signal, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fault.E("regulation.Score", fault.NotFound, name, err)
	}
	defer f.Close()
	return read(f, name)
}

func show(w io.Writer, r *score.Report) {
	fmt.Fprintf(w, "%8s %9s %11s %6s %9s %7s %7s\n", "begin", "composite", "correlation", "delay", "precision", "divisor", "lag")
	line := func(begin string, p *score.Performance) {
		fmt.Fprintf(w, "%8s %9.3f %11.3f %6.3f %9.3f %7.3f %5.0f s\n", begin, p.Composite, p.Correlation, p.Delay, p.Precision, p.Divisor, p.Lag)
	}
	for i := range r.Hours {
		h := &r.Hours[i]
		begin := fmt.Sprintf("%.0f h", h.Begin.Hours())
		if h.Skipped != "" {
			fmt.Fprintf(w, "%8s no score: %s\n", begin, h.Skipped)
			continue
		}
		line(begin, &h.Performance)
	}
	line("all", &r.Performance)
	verdict := "qualifies"
	if !r.Passes() {
		verdict = "does not qualify"
	}
	fmt.Fprintf(w, "\nThe composite score %.3f %s: at least %.2f is needed. By precision only: %.3f.\n", r.Composite, verdict, score.Pass, r.Precision)
	fmt.Fprintf(w, "Power error through the capacity: %.3f RMS, %+.3f mean, %.3f peak.\n", r.RMS, r.Mean, r.Peak)
}

func newSignal() *cobra.Command {
	var seed uint64
	length := 40 * time.Minute
	cmd := &cobra.Command{
		Use: "signal", Short: "Write a signal like PJM's RegD", Args: cobra.NoArgs,
		Long: `Write a signal like PJM's RegD as CSV: seconds and a value between -1 and 1, each two seconds. Its energy returns to
about zero. The same seed gives the same signal. It is no record of a grid.`,
		Example: `  voltbus regulation signal --seed 7 --length 24h > regd.csv`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if length < signal.Step || length > 366*24*time.Hour {
				return fault.E("regulation.Signal", fault.Invalid, "--length", fmt.Errorf("is %s: write %s to 8784h, such as 40m", length, signal.Step))
			}
			w := bufio.NewWriter(cmd.OutOrStdout())
			fmt.Fprintln(w, "seconds,signal")
			for i, v := range signal.Generate(seed, length).Values {
				fmt.Fprintf(w, "%d,%s\n", i*int(signal.Step/time.Second), strconv.FormatFloat(v, 'f', 4, 64))
			}
			return w.Flush()
		},
	}
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed: the same one gives the same signal")
	cmd.Flags().DurationVar(&length, "length", length, "length of the signal")
	return cmd
}
