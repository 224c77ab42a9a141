package scrape

import (
	"context"
	"fmt"

	"voltbus/lab/experiment"
)

// pnnl30858Table4 repeats the table about the number of listeners of the report of December 2020.
func pnnl30858Table4() experiment.Experiment {
	labels := []string{"ZeroMQ, Raspberry Pi 4", "RabbitMQ, Raspberry Pi 4"}
	rows := []struct {
		listeners int
		published [2]float64
		peer      float64
	}{
		{1, [2]float64{0.1385, 0.0967}, 0.017},
		{5, [2]float64{0.2649, 0.2912}, 0},
		{10, [2]float64{0.3543, 0.4311}, 0.054},
		{20, [2]float64{0.6048, 0.6192}, 0},
		{40, [2]float64{0.9850, 0.9401}, 0.170},
		{60, [2]float64{1.3602, 1.3350}, 0},
		{100, [2]float64{2.1723, 2.1973}, 0.438},
	}
	var cases []scanCase
	var published []experiment.Published
	for _, r := range rows {
		name := fmt.Sprintf("%d listeners", r.listeners)
		if r.listeners == 1 {
			name = "1 listener"
		}
		c := experiment.Case{Name: name, X: float64(r.listeners)}
		cases = append(cases, scanCase{Case: c, devices: 25, points: 18, listeners: r.listeners})
		published = append(published, experiment.Published{Case: c, Figures: figures(labels, r.published[:]...), Peer: peer(r.peer)})
	}
	return experiment.Experiment{
		Name:     "pnnl-30858-table4",
		Title:    "Interval of a scrape of 25 devices, 1 to 100 listeners",
		Question: "How long after a scrape of 25 devices began do 1 to 100 listeners have all of it?",
		Source:   "Message Bus Usage Recommendations (PNNL-30858, December 2020), the table about the number of listeners: a Raspberry Pi 4, 25 devices of 18 points.",
		Method:   scanMethod(), Limits: scanLimits(), Metric: scanMetric("listeners"), Published: published,
		Settings: append(scanSettings(), experiment.Setting{
			Name: "most-listeners", Default: "100", Quick: "5", Doc: "cases with more listeners are left out",
		}),
		Run: func(ctx context.Context, b *experiment.Bench) error {
			chosen := chooseListeners(cases, b)
			if left := len(cases) - len(chosen); left > 0 {
				b.Note("%d cases with more than %d listeners were left out.", left, b.Int("most-listeners"))
			}
			return measureScans(ctx, b, chosen)
		},
		Peers: brokerPeers(func(b *experiment.Bench) []scanCase { return chooseListeners(cases, b) }),
	}
}

// chooseListeners leaves out the cases with too many listeners for the run.
func chooseListeners(cases []scanCase, b *experiment.Bench) []scanCase {
	var chosen []scanCase
	for _, c := range cases {
		if c.listeners <= b.Int("most-listeners") {
			chosen = append(chosen, c)
		}
	}
	return chosen
}
