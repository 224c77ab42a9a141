package ami

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"voltbus/lab/experiment"
	"voltbus/lab/metersim"
)

// kept is the share of the offered readings from which on a system counts as one that keeps up.
const kept = 0.95

// turning finds where a system stops to keep up: it multiplies the size of a step by four until one does not keep up,
// and then halves what is between, by ratio, as often as it is told. try returns the share that was kept of what a size
// offers, of which enough counts as keeping up. good is the largest size that was kept up with, 0 for none; found is false if all were up to most.
func turning(first, most, halvings int, enough float64, try func(size int) (share float64, err error)) (good int, found bool, err error) {
	var bad int
	for size := first; ; size = min(size*4, most) {
		share, err := try(size)
		if err != nil {
			return good, false, err
		}
		if share < enough {
			bad = size
			break
		}
		if good = size; size >= most {
			return good, false, nil
		}
	}
	for range halvings {
		size := int(math.Sqrt(float64(max(good, 1)) * float64(bad)))
		if size <= good || size >= bad {
			break
		}
		share, err := try(size)
		if err != nil {
			return good, true, err
		}
		if share < enough {
			bad = size
		} else {
			good = size
		}
	}
	return good, true, nil
}

// turningPoints searches, for each rate of requests, where the MDS stops to keep up.
func turningPoints() experiment.Experiment {
	e := experiment.Experiment{
		Name:     "ami-3b",
		Title:    "Turning points of the metering data system over the rate of requests",
		Question: "At which size of its bulks does a concentrator that sends a fixed number of requests a second bring the metering data system to its limit?",
		Source:   source + " Experiment III: request rates of 100, 50, 33.3, 25 and 20/s, b = 10 … 200; the turning points lie between 3,000 readings/s (100 requests/s) and 4,100 (20 requests/s).",
		Method: append(common(),
			"One concentrator has a request due each period, and sends it when the one before was answered. The size of its bulks grows by four until less than 95 % of the offered readings are accepted in the time in three windows, so that one late answer does not end the search; then the program halves what is between, by ratio. The figure is the offered rate at the largest size with which the system kept up."),
		Limits: []string{together, "One serial concentrator keeps one request under way: the turning point is where a request takes as long as its period, and not where the system is busy. ami-3a and ami-4 have many."},
		Metric: experiment.Metric{Name: "turning point", Unit: "readings/s", Axis: "requests a second", Higher: true},
		Settings: append([]experiment.Setting{
			{Name: "periods", Default: "10,20,50", Quick: "10,50", Doc: "milliseconds between two requests, one case each; the document's: 10..50..10"},
			{Name: "first-bulk", Default: "250", Quick: "1000", Doc: "readings of the first size of a bulk"},
			{Name: "most-bulk", Default: "64000", Quick: "4000", Doc: "readings of the largest"},
			{Name: "halvings", Default: "3", Quick: "0", Doc: "how often the last interval is halved"},
			{Name: "bulks", Default: "none", Doc: "sizes whose share of the offered readings is a heat map beside; the document's: 10..200..10"},
		}, shared("200ms", "1s")...),
		Run: runTurning,
	}
	for period, rate := range map[int]float64{10: 3000, 50: 4100} {
		e.Published = append(e.Published, experiment.Published{Case: paced(period), Figures: []experiment.Figure{{Label: published, Value: rate}}})
	}
	return e
}

// paced is the case of a request in so many milliseconds.
func paced(period int) experiment.Case {
	rate := 1000 / float64(period)
	return experiment.Case{Name: fmt.Sprintf("%s requests/s", strconv.FormatFloat(rate, 'f', -1, 32)), X: rate}
}

func runTurning(ctx context.Context, b *experiment.Bench) error {
	periods, err := numbers(b, "periods")
	if err != nil {
		return err
	}
	heat := experiment.Table{Title: "Share of the offered readings that was accepted", Head: []string{"requests/s"}}
	for _, period := range periods {
		c := paced(period)
		var row heatRow
		err := b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) (err error) {
			p, err := open(ctx, b, t, metersim.Site{}, false)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, p.Close()) }()
			w := &pace{plant: p, period: millis(float64(period))}
			if err := w.search(ctx); err != nil {
				return err
			}
			if t.Repeat == 0 {
				row, err = w.grid(ctx)
			}
			if err == nil {
				_, err = p.settle(ctx)
			}
			return err
		})
		if err != nil {
			return err
		}
		if len(row.sizes) > 0 {
			heat.Head = append(heat.Head[:1], row.sizes...)
			heat.Rows, heat.Shades = append(heat.Rows, append([]string{c.Name}, row.shares...)), append(heat.Shades, row.shades)
		}
	}
	if len(heat.Rows) > 0 {
		b.Table(heat)
	}
	return nil
}

// pace is one concentrator with a fixed period.
type pace struct {
	*plant
	period time.Duration
}

// try offers bulks of a size and returns the share that was accepted in time.
func (w *pace) try(ctx context.Context, size int) (share float64, s *step, err error) {
	f := fleet(w.bench)
	f.Members, f.Batch, f.Rhythm, f.Period = 1, size, metersim.Serial, w.period
	f.Meters = max(f.Meters, w.bench.Int("most-bulk")) // so that its meters have intervals enough
	s, err = w.play(ctx, f)
	if err != nil {
		return 0, nil, err
	}
	return s.Rate / (float64(size) / w.period.Seconds()), s, nil
}

// windows is in how many windows a size is missed that counts as too large.
const windows = 3

// again tries a size until it is kept up with, at most in so many windows.
func (w *pace) again(ctx context.Context, size int) (share float64, s *step, err error) {
	for range windows {
		if share, s, err = w.try(ctx, size); err != nil || share >= kept {
			break
		}
	}
	return share, s, err
}

// search finds the turning point.
func (w *pace) search(ctx context.Context) error {
	b := w.bench
	var last *step
	good, found, err := turning(max(1, b.Int("first-bulk")), max(1, b.Int("first-bulk"), b.Int("most-bulk")), b.Int("halvings"), kept, func(size int) (float64, error) {
		share, s, err := w.again(ctx, size)
		if err == nil && share >= kept {
			last = s
		}
		return share, err
	})
	if err != nil {
		return err
	}
	rate := float64(good) / w.period.Seconds()
	w.trial.Value(rate)
	w.trial.Also("bulk at the turning point", "readings", float64(good))
	if last != nil {
		last.record(w.trial)
	}
	if !found && w.trial.Repeat == 0 {
		b.Note("%s requests/s: no turning point up to %d readings in a bulk; the figure is the largest rate that was offered.", strconv.FormatFloat(1/w.period.Seconds(), 'f', -1, 32), good)
	}
	return nil
}

// heatRow is a row of the heat map: what was accepted of bulks of each size.
type heatRow struct {
	sizes, shares []string
	shades        []float64
}

// grid measures the sizes of the heat map. It returns an empty row if there are none.
func (w *pace) grid(ctx context.Context) (row heatRow, err error) {
	if strings.TrimSpace(w.bench.Text("bulks")) == "none" {
		return heatRow{}, nil
	}
	bulks, err := numbers(w.bench, "bulks")
	if err != nil {
		return heatRow{}, err
	}
	for _, size := range bulks {
		share, _, err := w.try(ctx, size)
		if err != nil {
			return heatRow{}, err
		}
		share = min(share, 1)
		row.sizes, row.shares, row.shades = append(row.sizes, bulk(size).Name), append(row.shares, percent(share)), append(row.shades, share)
	}
	return row, nil
}

// percent writes a share.
func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }
