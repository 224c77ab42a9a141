// Package scrape contains the experiments about the interval of a scrape: from the first header of its messages to the last message at the listeners.
package scrape

import (
	"context"
	"fmt"

	"voltbus/lab/experiment"
	"voltbus/lab/rig/scan"
)

// List returns the experiments, in the order in which they are shown.
func List() []experiment.Experiment {
	return []experiment.Experiment{pnnl30858Table2(), pnnl30858Table4(), sustainable(), interpreters(), largeMessages()}
}

// FY17 returns the experiment of the report of April 2017.
func FY17() experiment.Experiment { return pnnlFY17Table2() }

func scanMetric(axis string) experiment.Metric {
	return experiment.Metric{Name: "interval of a scrape", Unit: "s", Axis: axis}
}

func scanMethod() []string {
	return []string{
		"Simulated devices are read all at once, without stagger, by the real device owner (64 lines), and published on the real bus as one JSON message a device. Nothing is recorded.",
		"Each listener has a TLS 1.3 connection of its own over loopback and signs in with a key. With listener-processes=true it also has a process of its own.",
		"The interval runs from the timestamp in the header of a scrape's first message to the receipt of its last message, at each listener. The figure of a repeat is the mean over the listeners and the scrapes; one scrape before them is the warm-up and does not count.",
		"A scrape counts when every message of it has arrived at every listener; one that does not fails the run.",
	}
}

func scanLimits() []string {
	return []string{
		"Devices, bus and listeners share the processors, as in the published set-up.",
		"A message holds the values with time and quality in about 500 bytes at 18 points; the published platform's holds the same number of values in about 2,200 bytes.",
		"The published figures were measured on other hardware: they are context. A ratio is a comparison only against what ran side by side.",
		"Live messages are the subject here: they are delivered at most once. Recording is measured by other experiments.",
	}
}

func scanSettings() []experiment.Setting {
	return []experiment.Setting{
		{Name: "scrapes", Default: "5", Quick: "2", Doc: "scrapes of a repeat that are measured"},
		{Name: "interval", Default: "1s", Quick: "500ms", Doc: "between the beginnings of two scrapes"},
		{Name: "most-devices", Default: "100000", Quick: "200", Doc: "cases with more devices are left out"},
		{Name: "listener-processes", Default: "false", Doc: "whether each listener has a process of its own"},
	}
}

// scanCase is a case as work.
type scanCase struct {
	experiment.Case
	devices, points, listeners int
}

// measureScans measures the cases one after another.
func measureScans(ctx context.Context, b *experiment.Bench, cases []scanCase) error {
	left := 0
	for _, c := range cases {
		if c.devices > b.Int("most-devices") {
			left++
			continue
		}
		err := b.Measure(ctx, c.Case, func(ctx context.Context, t *experiment.Trial) error { return c.measure(ctx, b, t) })
		if err != nil {
			return err
		}
	}
	if left > 0 {
		b.Note("%d cases with more than %s devices were left out.", left, experiment.Count(b.Int("most-devices")))
	}
	return nil
}

func (c *scanCase) measure(ctx context.Context, b *experiment.Bench, t *experiment.Trial) error {
	run := c.scan(b, t)
	if b.Flag("listener-processes") {
		run.Program = b.Program()
	}
	return c.run(ctx, t, run)
}

// scan is the case as a set-up, with listeners in this process.
func (c *scanCase) scan(b *experiment.Bench, t *experiment.Trial) *scan.Scan {
	return &scan.Scan{
		Devices: c.devices, Points: c.points, Listeners: c.listeners, Scans: max(1, b.Int("scrapes")),
		Interval: b.Duration("interval"), Seed: b.Seed(), Dir: t.Dir,
		Watch: c.watch(t),
	}
}

// run runs a set-up and records what its scrapes took.
func (c *scanCase) run(ctx context.Context, t *experiment.Trial, set *scan.Scan) error {
	scrapes, err := set.Run(ctx)
	if err != nil {
		return err
	}
	c.record(t, scrapes)
	return nil
}

// scrapeWords says what a scrape took.
func scrapeWords(s scan.Scrape) string { return fmt.Sprintf("scrape took %.4f s", s.Mean.Seconds()) }

// peerHere is the label of the peer's figures that were measured earlier.
const peerHere = "VOLTTRON 9.0.4 on ZeroMQ with CURVE, development machine"

// peer is the peer's figure; nil if seconds is 0, which means that it was not measured.
func peer(seconds float64) *experiment.Figure {
	if seconds == 0 {
		return nil
	}
	return &experiment.Figure{Label: peerHere, Value: seconds}
}

// figures pairs labels with values; a value of 0 was not published.
func figures(labels []string, values ...float64) []experiment.Figure {
	var out []experiment.Figure
	for i, v := range values {
		if v != 0 {
			out = append(out, experiment.Figure{Label: labels[i], Value: v})
		}
	}
	return out
}

// orSmaller puts a case that fits before a table whose cases are all too large for the run, so
// that a quick one shows that the experiment works. The case is named after what it is.
func orSmaller(cases []scanCase, b *experiment.Bench) []scanCase {
	most := b.Int("most-devices")
	for _, c := range cases {
		if c.devices <= most {
			return cases
		}
	}
	small := cases[0]
	small.devices = max(1, most)
	small.Case = experiment.Case{
		Name: fmt.Sprintf("%s devices × %s points (not published)", experiment.Count(small.devices), experiment.Count(small.points)), X: small.X,
	}
	return append([]scanCase{small}, cases...)
}
