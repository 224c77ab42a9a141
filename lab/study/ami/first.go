package ami

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"voltbus/lab/experiment"
	"voltbus/lab/metersim"
)

// timePerReading measures what a reading takes at the MDS, over the size of bulks.
func timePerReading() experiment.Experiment {
	return experiment.Experiment{
		Name:     "ami-1a",
		Title:    "Time per reading over the size of bulks",
		Question: "How long does a reading take from a concentrator to a metering data system, and how much of that is the handler, if it comes in bulks of b?",
		Source:   source + " Experiment I: b = 2 … 100 in steps of 2, 1,000 requests each, server and handler apart. Its curves are not known here in figures; the capacity of ami-3a at b = 100 is 256 µs a reading.",
		Method: append(common(),
			"One concentrator sends a given number of requests, each when the one before was answered. The figure is the time from the first request to the last answer, divided by the readings; what the valves took stands beside it."),
		Limits: []string{together, "With one request under way the disk's flush is in each answer."},
		Metric: experiment.Metric{Name: "time per reading", Unit: "µs", Axis: "readings in a bulk"},
		Published: []experiment.Published{
			{Case: bulk(100), Figures: []experiment.Figure{{Label: published + ", from its capacity", Value: 256}}},
		},
		Settings: append([]experiment.Setting{
			{Name: "bulks", Default: "2,5,10,20,50,100", Quick: "2,100", Doc: "sizes of a bulk, one case each; the document's: 2..100..2"},
			{Name: "requests", Default: "200", Quick: "50", Doc: "of each case; the document's: 1000"},
		}, timeless(shared("1ms", "1m"))...),
		Run: func(ctx context.Context, b *experiment.Bench) error {
			bulks, err := numbers(b, "bulks")
			if err != nil {
				return err
			}
			for _, n := range bulks {
				err := b.Measure(ctx, bulk(n), func(ctx context.Context, t *experiment.Trial) error {
					return withPlant(ctx, b, t, func(p *plant) error {
						f := counting(b)
						f.Members, f.Batch, f.Rhythm, f.Requests = 1, n, metersim.Closed, max(1, b.Int("requests"))
						s, err := p.play(ctx, f)
						if err != nil {
							return err
						}
						t.Value(s.Took / float64(s.Sent) * 1e6)
						s.record(t)
						return nil
					})
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// longest is the longest time of an experiment that counts its requests.
const longest = 10 * time.Minute

// timeless leaves out the settings of those that send for a given time.
func timeless(list []experiment.Setting) (out []experiment.Setting) {
	for _, s := range list {
		if s.Name != "warm-up" && s.Name != "window" {
			out = append(out, s)
		}
	}
	return out
}

// withPlant has do measure at an MDS, and closes the account.
func withPlant(ctx context.Context, b *experiment.Bench, t *experiment.Trial, do func(*plant) error) (err error) {
	p, err := open(ctx, b, t, metersim.Site{}, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := do(p); err != nil {
		return err
	}
	_, err = p.settle(ctx)
	return err
}

// manyConcentrators sends one rate from more and more concentrators.
func manyConcentrators() experiment.Experiment {
	e := experiment.Experiment{
		Name:     "ami-1b",
		Title:    "The same load from 1 to 100 concentrators",
		Question: "Does the metering data system take the same rate of readings, if it comes from 1, 10 or 100 concentrators?",
		Source:   source + " Experiment I: 1 … 100 concentrators that send 32 requests/s of 120 readings together, 50 requests each: 3,840 readings/s are expected.",
		Method: append(common(),
			"Each concentrator has a request due each period, and sends it when the one before was answered; periods are such that all together send a given rate. The figure is the readings accepted, divided by the time that they took, or should have taken."),
		Limits: []string{together},
		Metric: experiment.Metric{Name: "actual rate", Unit: "readings/s", Axis: "concentrators", Higher: true},
		Settings: append([]experiment.Setting{
			{Name: "concentrators", Default: "1,10,50,100", Quick: "1,10", Doc: "one case each; the document's: 1..100..1"},
			{Name: "rate", Default: "32", Doc: "requests a second of all together"},
			{Name: "bulk", Default: "120", Doc: "readings of a request"},
			{Name: "requests", Default: "4", Doc: "of each concentrator; the document's: 50"},
		}, timeless(shared("1ms", "1m"))...),
		Run: runManyConcentrators,
	}
	for _, n := range []int{1, 10, 50, 100} {
		e.Published = append(e.Published, experiment.Published{Case: concentrators(n, 3840, allTogether), Figures: []experiment.Figure{{Label: "AMI-2011: expected rate", Value: 3840}}})
	}
	return e
}

// How the rates of concentrators are meant.
const (
	allTogether = "together"
	ofEach      = "each"
)

// concentrators is the case of so many concentrators that send a rate of readings, all together or each.
func concentrators(n int, rate float64, each string) experiment.Case {
	return experiment.Case{Name: fmt.Sprintf("%d concentrators, %.0f readings/s %s", n, rate, each), X: float64(n)}
}

func runManyConcentrators(ctx context.Context, b *experiment.Bench) error {
	list, err := numbers(b, "concentrators")
	if err != nil {
		return err
	}
	rate, size := float64(max(1, b.Int("rate"))), max(1, b.Int("bulk"))
	for _, n := range list {
		err := b.Measure(ctx, concentrators(n, rate*float64(size), allTogether), func(ctx context.Context, t *experiment.Trial) error {
			return withPlant(ctx, b, t, func(p *plant) error {
				f := counting(b)
				f.Members, f.Batch, f.Rhythm, f.Requests = n, size, metersim.Serial, max(1, b.Int("requests"))
				f.Period = millis(1000 * float64(n) / rate)
				return p.counted(ctx, f)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// counted has a fleet send a given number of requests, and records the actual rate beside the expected one.
func (p *plant) counted(ctx context.Context, f metersim.Fleet) error {
	s, err := p.play(ctx, f)
	if err != nil {
		return err
	}
	due := time.Duration(f.Requests) * f.Period
	p.trial.Value(float64(s.Accepted) / math.Max(s.Took, due.Seconds()))
	p.trial.Also("expected rate", "readings/s", float64(f.Members*f.Batch)/f.Period.Seconds())
	p.trial.Also("actual by expected run time", "", math.Max(1, s.Stretch))
	s.record(p.trial)
	return nil
}

// sevenConcentrators sends more and more from a few concentrators.
func sevenConcentrators() experiment.Experiment {
	return experiment.Experiment{
		Name:     "ami-1c",
		Title:    "Seven concentrators with shorter and shorter periods",
		Question: "Which rate of readings does the metering data system take of seven concentrators that send a bulk of 120 each period?",
		Source:   source + " Experiment I: 7 concentrators, b = 120, periods of 50 … 2,000 ms in steps of 50. Its curves are not known here in figures.",
		Method: append(common(),
			"Each concentrator has a request due each period, and sends it when the one before was answered. The figure is the readings accepted, divided by the time that they took, or should have taken; the expected rate is 7 · 120 divided by the period."),
		Limits: []string{together},
		Metric: experiment.Metric{Name: "actual rate", Unit: "readings/s", Axis: "period, ms", Higher: true},
		Settings: append([]experiment.Setting{
			{Name: "periods", Default: "50,100,200,500,1000,2000", Quick: "50,200", Doc: "milliseconds between two requests of a concentrator, one case each; the document's: 50..2000..50"},
			{Name: "concentrators", Default: "7", Doc: "that send"},
			{Name: "bulk", Default: "120", Doc: "readings of a request"},
			{Name: "time", Default: "3s", Quick: "600ms", Doc: "how long a case sends; at least two requests of each"},
		}, timeless(shared("1ms", "1m"))...),
		Run: func(ctx context.Context, b *experiment.Bench) error {
			periods, err := numbers(b, "periods")
			if err != nil {
				return err
			}
			for _, period := range periods {
				c := experiment.Case{Name: fmt.Sprintf("a request in %d ms", period), X: float64(period)}
				err := b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) error {
					return withPlant(ctx, b, t, func(p *plant) error {
						f := counting(b)
						f.Members, f.Batch, f.Rhythm = max(1, b.Int("concentrators")), max(1, b.Int("bulk")), metersim.Serial
						f.Period = millis(float64(period))
						f.Requests = max(2, int(b.Duration("time")/f.Period))
						return p.counted(ctx, f)
					})
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// sized leaves out the settings of the form of messages.
func sized(list []experiment.Setting) (out []experiment.Setting) {
	for _, s := range list {
		if s.Name != "form" && s.Name != "kept" && s.Name != "gzip" {
			out = append(out, s)
		}
	}
	return out
}
