package scrape

import (
	"context"

	"voltbus/lab/experiment"
	"voltbus/lab/peers"
	"voltbus/lab/rig/scan"
)

// brokerPeers let other message buses run the cases of a scan. choose returns the cases of a run.
func brokerPeers(choose func(*experiment.Bench) []scanCase) []experiment.Peer {
	var list []experiment.Peer
	for _, broker := range peers.Brokers() {
		list = append(list, experiment.Peer{
			Name: broker.Name, Find: broker.Find,
			Run: func(ctx context.Context, b *experiment.Bench) error {
				for _, c := range choose(b) {
					if c.devices > b.Int("most-devices") {
						continue
					}
					err := b.Measure(ctx, c.Case, func(ctx context.Context, t *experiment.Trial) error {
						return c.measureOver(ctx, b, t, broker)
					})
					if err != nil {
						return err
					}
				}
				return nil
			},
		})
	}
	return list
}

// measureOver is measure for another message bus.
func (c *scanCase) measureOver(ctx context.Context, b *experiment.Bench, t *experiment.Trial, broker peers.Broker) error {
	scrapes, err := broker.Run(ctx, &peers.Scrapes{
		Devices: c.devices, Points: c.points, Listeners: c.listeners, Scans: max(1, b.Int("scrapes")), Dir: t.Dir,
		Watch: c.watch(t),
	})
	if err != nil {
		return err
	}
	c.record(t, scrapes)
	return nil
}

// watch shows each scrape as it ends.
func (c *scanCase) watch(t *experiment.Trial) func(scan.Scrape) {
	return func(s scan.Scrape) {
		rate := float64(c.devices*c.listeners) / s.Slowest.Seconds()
		t.Report(experiment.Progress{Rate: rate, Message: scrapeWords(s)})
	}
}

// normalised is the column of the report of December 2020 that makes cases comparable.
const normalised = "normalised"

// record records what the scrapes of a repeat took.
func (c *scanCase) record(t *experiment.Trial, scrapes []scan.Scrape) {
	mean, slowest := 0.0, 0.0
	for _, s := range scrapes {
		mean += s.Mean.Seconds() / float64(len(scrapes))
		slowest = max(slowest, s.Slowest.Seconds())
	}
	t.Value(mean)
	t.Also(normalised, "s a device", mean/float64(c.devices))
	t.Also("slowest listener of the slowest scrape", "s", slowest)
	t.Also("deliveries during a scrape", "messages/s", float64(c.devices*c.listeners)/mean)
}
