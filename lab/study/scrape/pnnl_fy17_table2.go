package scrape

import (
	"context"
	"fmt"

	"voltbus/lab/experiment"
)

// pnnlFY17Table2 repeats table 2 of the report of April 2017.
func pnnlFY17Table2() experiment.Experiment {
	labels := []string{"RPC-based publish/subscribe", "raw ZeroMQ publish/subscribe", "router with publish/subscribe"}
	rows := []struct {
		devices, listeners int
		published          [3]float64
		peer               float64
	}{
		{50, 2, [3]float64{0.13615, 0.0119, 0.05199}, 0.033},
		{100, 2, [3]float64{0.3533, 0.01234, 0.0404}, 0.063},
		{500, 2, [3]float64{1.467, 0.0398, 0.1972}, 0.253},
		{1000, 2, [3]float64{2.258, 0.08439, 0.2634}, 0},
		{1500, 2, [3]float64{3.6162, 0.13425, 0.2301}, 0},
		{50, 10, [3]float64{0.5088, 0.0751, 0.196}, 0.079},
		{100, 10, [3]float64{0.97167, 0.16813, 0.285}, 0.168},
		{500, 10, [3]float64{3.9861, 0.651, 1.1968}, 0.812},
		{1000, 10, [3]float64{10.2173, 1.2188, 2.4375}, 0},
		{1500, 10, [3]float64{16.2269, 2.704, 3.3629}, 0},
		{2000, 10, [3]float64{19.24, 4.7028, 5.436}, 0},
	}
	var cases []scanCase
	var published []experiment.Published
	for _, r := range rows {
		c := experiment.Case{
			Name: fmt.Sprintf("%s devices, %d listeners", experiment.Count(r.devices), r.listeners), X: float64(r.devices),
			Line: fmt.Sprintf("%d listeners", r.listeners),
		}
		cases = append(cases, scanCase{Case: c, devices: r.devices, points: 18, listeners: r.listeners})
		published = append(published, experiment.Published{Case: c, Figures: figures(labels, r.published[:]...), Peer: peer(r.peer)})
	}
	return experiment.Experiment{
		Name:     "pnnl-fy17-table2",
		Title:    "Seconds from the driver's publishing to the listeners' receipt, 2 and 10 listeners",
		Question: "How long after a scrape began do 2 or 10 listeners have all of it, for 50 to 2,000 devices of 18 points?",
		Source:   "VOLTTRON Deployment and Scalability: Lessons and Enhancements in FY16/FY17 (PNNL and ORNL, April 2017), table 2: three designs of a message bus, 18 points a device, depth-first all.",
		Method:   scanMethod(), Limits: scanLimits(), Metric: scanMetric("devices"), Published: published, Settings: scanSettings(),
		Run:   func(ctx context.Context, b *experiment.Bench) error { return measureScans(ctx, b, cases) },
		Peers: brokerPeers(func(*experiment.Bench) []scanCase { return cases }),
	}
}
