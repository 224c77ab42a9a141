package meters

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/fault"
	"voltbus/internal/strictyaml"
	"voltbus/lab/machine"
	"voltbus/lab/meterplan"
)

// planFlags are the arguments of "meter plan".
type planFlags struct {
	meters, keep, runs string
	interval           time.Duration
	json               bool
	order              meterplan.Order
}

func newMeterPlan() *cobra.Command {
	in := planFlags{}
	cmd := &cobra.Command{
		Use: "plan", Short: "Say which nodes, cores, memory and disk a number of meters takes", Args: cobra.NoArgs,
		Long: `Say which nodes, cores, memory and disk a number of meters takes, from measured limits: those of the newest run of
"voltbus lab run ` + meterplan.Experiment + `" on a machine like this one, else the figures that came with the program.

  voltbus meter plan --meters 1.2M --interval 15m`,
		RunE: func(cmd *cobra.Command, _ []string) error { return in.plan(cmd) },
	}
	fs := cmd.Flags()
	fs.StringVar(&in.meters, "meters", "", "how many meters, such as 500000 or 1.2M")
	fs.DurationVar(&in.interval, "interval", 15*time.Minute, "between two readings of a channel")
	fs.IntVar(&in.order.Channels, "channels", 1, "channels of a meter")
	fs.StringVar(&in.keep, "keep", "1095d", "how long readings are kept")
	fs.Float64Var(&in.order.Use, "use", 0.5, "share of the measured limits that is planned for; the rest is for peaks")
	fs.IntVar(&in.order.Spare, "spare", 1, "nodes of each kind beyond those that are needed")
	fs.StringVar(&in.runs, "runs", "voltbus-lab", "directory of the runs of the lab")
	fs.BoolVar(&in.json, "json", false, "print JSON, for programs")
	_ = cmd.MarkFlagRequired("meters")
	_ = cmd.MarkFlagDirname("runs")
	return cmd
}

func (in *planFlags) plan(cmd *cobra.Command) error {
	var err error
	o := in.order
	if o.Meters, err = count(in.meters); err != nil {
		return err
	}
	var ok bool
	if o.Keep, ok = strictyaml.ParseDuration(in.keep); !ok {
		return fault.E("meter plan", fault.Invalid, "--keep", fmt.Errorf("%q: write such as 90d or 1095d", in.keep))
	}
	o.Interval = in.interval
	limits, found, err := meterplan.Latest(in.runs, machine.Describe(""))
	if err == nil && !found {
		limits, err = meterplan.Reference()
	}
	if err != nil {
		return err
	}
	p, err := meterplan.Make(o, limits)
	if err != nil {
		return err
	}
	if in.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(p)
	}
	for _, line := range p.Words() {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), line); err != nil {
			return err
		}
	}
	return nil
}

var errCount = errors.New("write a number of meters, such as 500000, 500k or 1.2M")

// count parses a number with the suffix k or M.
func count(text string) (int, error) {
	times := 1.0
	digits := strings.TrimSpace(text)
	for suffix, by := range map[string]float64{"k": 1e3, "M": 1e6} {
		if rest, found := strings.CutSuffix(digits, suffix); found {
			digits, times = rest, by
			break
		}
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(n > 0) || n*times < 1 || n*times > 1e9 {
		return 0, fault.E("meter plan", fault.Invalid, "--meters", fmt.Errorf("%q: %w", text, errCount))
	}
	return int(n * times), nil
}
