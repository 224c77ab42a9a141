package scrape

import (
	"context"
	"fmt"
	"time"

	"voltbus/lab/experiment"
)

// sustainable says of numbers of devices whether they can be read at an interval for ever, as the report of December 2020 says it.
func sustainable() experiment.Experiment {
	cases, published := publishedDevices()
	for _, devices := range []int{20_000, 30_000, 60_000, 100_000} { // until one is not
		cases = append(cases, devicesCase(devices))
	}
	settings := scanSettings()
	for i := range settings {
		if settings[i].Name == "most-devices" {
			settings[i].Default = "30000"
		}
	}
	return experiment.Experiment{
		Name:     "sustainable",
		Title:    "The time of a scrape against its interval: how many devices are sustainable",
		Question: "Does one listener have a scrape of 2,000 devices or more before the next one begins, and what does a device cost?",
		Source:   "Message Bus Usage Recommendations (PNNL-30858, December 2020): a rate is sustainable while a scrape takes less than its interval, 1 minute, and 2 minutes in the largest cases; its tables have a column normalised to seconds a device.",
		Method: append(scanMethod(),
			"A number of devices is sustainable when the figure is less than the interval, which is a setting here and a minute there. The cases beyond the published ones go on until one is not sustainable.",
			"Normalised is the figure divided by the devices."),
		Limits: scanLimits(), Metric: scanMetric("devices"), Published: published, Settings: settings,
		Run: func(ctx context.Context, b *experiment.Bench) error {
			measured, err := measureSustainable(ctx, b, orSmaller(cases, b))
			if err == nil {
				b.Table(verdicts(b, measured))
			}
			return err
		},
		Peers: brokerPeers(func(b *experiment.Bench) []scanCase { return orSmaller(cases, b) }),
	}
}

// measureSustainable measures the cases until one is not sustainable, and returns those that it measured.
func measureSustainable(ctx context.Context, b *experiment.Bench, cases []scanCase) (measured []scanCase, err error) {
	interval, most := b.Duration("interval"), 0
	for _, c := range cases {
		if c.devices > b.Int("most-devices") {
			continue
		}
		err := b.Measure(ctx, c.Case, func(ctx context.Context, t *experiment.Trial) error { return c.measure(ctx, b, t) })
		if err != nil {
			return nil, err
		}
		measured = append(measured, c)
		if !isSustainable(b.Median(c.Name), interval) {
			b.Note("%s devices are not sustainable at an interval of %v.", experiment.Count(c.devices), interval)
			break
		}
		most = c.devices
	}
	b.Found(experiment.Finding{
		Key: "sustainable-devices", Name: fmt.Sprintf("Most devices that were measured and are sustainable at an interval of %v", interval), Value: float64(most), Unit: "devices",
		Note: "The published systems sustained up to 10,000 (ZeroMQ) and 15,000 (RabbitMQ) devices at an interval of a minute.",
	})
	return measured, nil
}

func isSustainable(seconds float64, interval time.Duration) bool { return seconds < interval.Seconds() }

// verdicts sets what was measured beside the published figures.
func verdicts(b *experiment.Bench, measured []scanCase) experiment.Table {
	t := experiment.Table{
		Title: "Sustainable is a scrape that takes less than its interval",
		Head:  []string{"devices and system", "scrape", "interval", "share of it", "normalised", "verdict"},
	}
	row := func(devices int, system string, seconds float64, interval time.Duration) {
		verdict := "sustainable"
		if !isSustainable(seconds, interval) {
			verdict = "not sustainable"
		}
		t.Rows = append(t.Rows, []string{
			experiment.Count(devices) + ", " + system, fmt.Sprintf("%.4f s", seconds), interval.String(), fmt.Sprintf("%.1f %%", 100*seconds/interval.Seconds()),
			fmt.Sprintf("%.3g s a device", seconds/float64(devices)), verdict,
		})
	}
	published := map[int][6]float64{}
	for _, r := range devicesTable() {
		published[r.devices] = r.published
	}
	for _, c := range measured {
		row(c.devices, "Voltbus here", b.Median(c.Name), b.Duration("interval"))
		for i, seconds := range published[c.devices] {
			if seconds > 0 {
				row(c.devices, devicesLabels()[i]+" (published)", seconds, time.Minute)
			}
			if seconds >= time.Minute.Seconds() {
				row(c.devices, devicesLabels()[i]+" (published)", seconds, 2*time.Minute)
			}
		}
	}
	return t
}
