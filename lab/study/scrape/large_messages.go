package scrape

import (
	"context"

	"voltbus/lab/experiment"
)

// largeMessages repeats the measurement with many points a device of the report of December 2020.
func largeMessages() experiment.Experiment {
	c := experiment.Case{Name: "400 devices × 4,998 points", X: 4998}
	cases := []scanCase{{Case: c, devices: 400, points: 4998, listeners: 1}}
	e := experiment.Experiment{
		Name:     "large-messages",
		Title:    "Interval of a scrape of 400 devices of 4,998 points, 1 listener",
		Question: "How long after a scrape began does one listener have all of it, if every message holds 4,998 points?",
		Source:   "Message Bus Usage Recommendations (PNNL-30858, December 2020), the measurement with large messages.",
		Method:   scanMethod(), Limits: scanLimits(), Metric: scanMetric("points a device"),
		Published: []experiment.Published{{
			Case: c, Peer: peer(7.03), Figures: figures([]string{"ZeroMQ", "RabbitMQ"}, 579.8724, 38.9306),
		}},
		Settings: scanSettings(),
		Run:      func(ctx context.Context, b *experiment.Bench) error { return measureScans(ctx, b, orSmaller(cases, b)) },
		Peers:    brokerPeers(func(b *experiment.Bench) []scanCase { return orSmaller(cases, b) }),
	}
	for i := range e.Settings {
		switch s := &e.Settings[i]; s.Name {
		case "interval":
			s.Default, s.Quick = "2s", "1s"
		case "most-devices":
			s.Quick = "40"
		}
	}
	return e
}
