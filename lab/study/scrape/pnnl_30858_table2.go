package scrape

import (
	"context"

	"voltbus/lab/experiment"
)

// byDevices are the tables about the number of devices of the report of December 2020, and what the peer reached.
type byDevices struct {
	devices   int
	published [6]float64 // s, in the order of devicesLabels; 0 where there is none
	peer      float64
}

// devicesLabels name the columns of these tables.
func devicesLabels() []string {
	return []string{
		"ZeroMQ, Raspberry Pi 4", "RabbitMQ, Raspberry Pi 4", "ZeroMQ on Python 2, 1-CPU VM",
		"RabbitMQ on Python 2, 1-CPU VM", "ZeroMQ on Python 3, 1-CPU VM", "RabbitMQ on Python 3, 1-CPU VM",
	}
}

func devicesTable() []byDevices {
	return []byDevices{
		{2000, [6]float64{6.8425, 7.1926}, 0.927},
		{4000, [6]float64{15.7469, 15.3346, 22.6471, 11.9526, 11.4655, 4.4405}, 1.76},
		{6000, [6]float64{27.3608, 23.1164}, 0},
		{8000, [6]float64{38.9499, 30.1291, 49.2673, 41.5333, 32.0258, 14.9644}, 0},
		{10000, [6]float64{52.9024, 39.2204}, 4.29},
		{15000, [6]float64{92.7736, 59.5759}, 0},
	}
}

// pnnl30858Table2 repeats the tables about the number of devices of the report of December 2020.
func pnnl30858Table2() experiment.Experiment {
	cases, published := publishedDevices()
	return experiment.Experiment{
		Name:     "pnnl-30858-table2",
		Title:    "Interval of a scrape of 2,000 to 15,000 devices, 1 listener",
		Question: "How long after a scrape began does one listener have all of it, for 2,000 to 15,000 devices of 18 points?",
		Source:   "Message Bus Usage Recommendations (PNNL-30858, December 2020), the tables about the number of devices: a Raspberry Pi 4, and a virtual machine with 1 processor.",
		Method:   scanMethod(), Limits: scanLimits(), Metric: scanMetric("devices"), Published: published, Settings: scanSettings(),
		Run:   func(ctx context.Context, b *experiment.Bench) error { return measureScans(ctx, b, orSmaller(cases, b)) },
		Peers: brokerPeers(func(b *experiment.Bench) []scanCase { return orSmaller(cases, b) }),
	}
}

// publishedDevices are the cases of the tables, with their figures.
func publishedDevices() (cases []scanCase, published []experiment.Published) {
	for _, r := range devicesTable() {
		c := devicesCase(r.devices)
		cases = append(cases, c)
		published = append(published, experiment.Published{Case: c.Case, Figures: figures(devicesLabels(), r.published[:]...), Peer: peer(r.peer)})
	}
	return cases, published
}

func devicesCase(devices int) scanCase {
	c := experiment.Case{Name: experiment.Count(devices) + " devices", X: float64(devices)}
	return scanCase{Case: c, devices: devices, points: 18, listeners: 1}
}
