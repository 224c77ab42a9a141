package testbed

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/lab/experiment"
	"voltbus/lab/regulate"
)

// regulationMethod says how both experiments measure.
func regulationMethod(more ...string) []string {
	return append([]string{
		"Buildings are equations with the parameters that Hao and others give for air conditioners, drawn from the seed: each has a thermostat of 1 K and a lock-out of 3 minutes. Outside is a summer day of 26 to 34 °C.",
		"The master is the one of package regulation: it knows what reports say, and each unit reports each 10 seconds and when its thermostat has switched. Reports, orders and answers are lost at random; an order takes 2 seconds.",
		"The signal is generated and like RegD. The capacity of each hour is a share of what the buildings need at its begin.",
		"The score is PJM's performance score; the precision is divided by the mean absolute signal of the hour. Time is virtual: a run is as fast as the machine can, and the same each time for its seed.",
	}, more...)
}

// regulationLimits says what the figures of both do not say.
func regulationLimits() []string {
	return []string{
		"The buildings are models of first order, and report their need exactly. Real ones drift from their models.",
		"Everything is in one process: the costs of a real network and of real nodes are not measured.",
		"The generated signal is no record of a grid.",
	}
}

// tenThousand studies how well many on/off units follow a signal.
func tenThousand() experiment.Experiment {
	return experiment.Experiment{
		Name:     "regulation",
		Title:    "Ten thousand air conditioners follow a regulation signal",
		Question: "How well do on/off units follow a signal like RegD within comfort and lock-outs, and what does the loss of messages cost?",
		Method:   regulationMethod(),
		Limits:   regulationLimits(),
		Metric:   experiment.Metric{Name: "composite score", Unit: "of 1", Axis: "% of messages lost", Higher: true},
		Settings: []experiment.Setting{
			{Name: "units", Default: "10000", Quick: "1000", Doc: "air conditioners"},
			{Name: "length", Default: "24h", Quick: "2h", Doc: "virtual time"},
			{Name: "losses", Default: "0,1,5,20", Quick: "0,5", Doc: "messages that are lost, in %"},
			{Name: "share", Default: "20", Doc: "capacity that is offered, in % of the need"},
		},
		Run: func(ctx context.Context, b *experiment.Bench) error {
			losses, err := numbers("losses", b.Text("losses"), 0, 99)
			if err != nil {
				return err
			}
			for _, loss := range losses {
				c := experiment.Case{Name: fmt.Sprintf("%d %% lost", loss), X: float64(loss)}
				err := regulateOnce(ctx, b, c, regulate.Config{Units: b.Int("units"), Length: b.Duration("length"), Loss: float64(loss) / 100, Share: float64(b.Int("share")) / 100})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// numbers reads whole numbers of a range, with commas between.
func numbers(setting, list string, least, most int) ([]int, error) {
	var out []int
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < least || n > most {
			return nil, fault.E("study."+setting, fault.Invalid, setting, fmt.Errorf("%q: write numbers from %d to %d with commas between", list, least, most))
		}
		out = append(out, n)
	}
	return out, nil
}

// regulation50 is the first study of the published document: fifty buildings.
func regulation50() experiment.Experiment {
	return experiment.Experiment{
		Name:     "regulation-50",
		Title:    "Fifty buildings follow a regulation signal",
		Question: "How much of a signal do fifty buildings follow if decisions are made each 2 seconds, minute, or 10 minutes?",
		Source:   "PNNL FY17, Appendix A: 50 buildings in the first study, regulation need sensed each 10 minutes; no score is published",
		Method:   regulationMethod("Decisions are made each 2 seconds, 1 minute and 10 minutes, as in the published study, for the signal of that moment."),
		Limits:   regulationLimits(),
		Metric:   experiment.Metric{Name: "composite score", Unit: "of 1", Axis: "s between decisions", Higher: true},
		Settings: []experiment.Setting{
			{Name: "units", Default: "50", Doc: "air conditioners"},
			{Name: "length", Default: "24h", Quick: "2h", Doc: "virtual time"},
			{Name: "share", Default: "20", Doc: "capacity that is offered, in % of the need"},
		},
		Run: func(ctx context.Context, b *experiment.Bench) error {
			for _, period := range []time.Duration{2 * time.Second, time.Minute, 10 * time.Minute} {
				c := experiment.Case{Name: "each " + period.String(), X: period.Seconds()}
				err := regulateOnce(ctx, b, c, regulate.Config{Units: b.Int("units"), Length: b.Duration("length"), Period: period, Share: float64(b.Int("share")) / 100})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// regulateOnce measures a case.
func regulateOnce(ctx context.Context, b *experiment.Bench, c experiment.Case, run regulate.Config) error {
	return b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) error {
		run.Seed = uint64(b.Seed()) + uint64(t.Repeat) //nolint:gosec // a seed is any number
		o, err := regulate.Run(ctx, run)
		if err != nil {
			return err
		}
		tellRegulation(b, c, t, o)
		return nil
	})
}

// tellRegulation records what a run measured.
func tellRegulation(b *experiment.Bench, c experiment.Case, t *experiment.Trial, o *regulate.Outcome) {
	length := b.Duration("length")
	t.Value(o.Score.Composite)
	t.Also("correlation", "of 1", o.Score.Correlation)
	t.Also("delay", "of 1", o.Score.Delay)
	t.Also("precision", "of 1", o.Score.Precision)
	t.Also("divisor of the precision", "of 1", o.Score.Divisor)
	t.Also("power error, RMS", "of capacity", o.Score.RMS)
	t.Also("comfort violation, mean", "K·h/day", o.Comfort.Mean)
	t.Also("comfort violation, worst unit", "K·h/day", o.Comfort.Worst)
	t.Also("switches of a unit", "a day", o.Switches)
	t.Also("switches within a lock-out", "", float64(o.Early))
	t.Also("orders refused", "", float64(o.Refused))
	t.Also("messages", "a second", float64(o.Messages)/length.Seconds())
	t.Also("capacity, mean", "kW", o.Capacity)
	t.Also("virtual time", "× real", length.Seconds()/o.Took.Seconds())
	b.Note("Repeat %d of %q had the seed %d, and its history the SHA-256 %s.", t.Repeat+1, c.Name, b.Seed()+int64(t.Repeat), o.Digest)
}
