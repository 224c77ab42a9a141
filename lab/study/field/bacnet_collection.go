package field

import (
	"context"
	"fmt"

	"voltbus/lab/bacnetfarm"
	"voltbus/lab/experiment"
)

// bacnetCollection compares how many BACnet devices behind a controller of limited rate are read.
func bacnetCollection() experiment.Experiment {
	return experiment.Experiment{
		Name:     "bacnet-collection",
		Title:    "500 BACnet devices behind a controller: all at once, staggered, or by change of value",
		Question: "How many devices behind a controller that takes a limited number of requests a second are read when all are asked at once, when they are staggered over the interval, and when they report changes?",
		Source:   "The PNNL report of 2017 about the platform publishes no figures, but this finding: 9,000 points collected at once overwhelmed a building controller; spread over a minute, in collection groups, they did not.",
		Method: []string{
			"Devices of protocol/bacnet/server have 18 analog inputs each and loopback addresses of their own. All are behind one controller (setting controllers), which drops requests that exceed its rate and a queue of those that come faster.",
			"The real device owner reads them with the real driver over one socket: one ReadPropertyMultiple a device, which is repeated once after the timeout. Staggered devices are a group whose stagger is the interval, as in a configuration.",
			"With change of value each point is subscribed to, and each device is read in every fifth interval only, staggered. Notifications are confirmed.",
			"All devices are read, and subscribed to, without the limit first. Then the limit holds from the beginning of an interval on.",
			"The figure is the share of reads of a device that came whole; with change of value it is the share of changes that were known at the end. The age of a change is the time until its value was known, if it was not overwritten before.",
		},
		Limits: []string{
			"A controller here drops what exceeds its rate, and answers the rest at once. A real one also becomes slow, and some restart.",
			"A value that changes again before it was told counts as not told.",
			"Loopback has no loss and no delay; devices and node share the processors.",
			"The published finding has no rate of the controller: the rates are assumptions.",
		},
		Metric: experiment.Metric{Name: "read or told", Unit: "%", Axis: "requests/s that a controller takes", Higher: true},
		Settings: []experiment.Setting{
			{Name: "devices", Default: "500", Quick: "100", Doc: "devices, at most 10,000"},
			{Name: "points", Default: "18", Doc: "points of a device"},
			{Name: "controllers", Default: "1", Doc: "controllers, over which the devices are distributed"},
			{Name: "rates", Default: "20,200,2000", Quick: "40,400", Doc: "requests a second that a controller takes, with commas between"},
			{Name: "queue", Default: "50", Quick: "10", Doc: "requests that may come faster"},
			{Name: "interval", Default: "1m", Quick: "4s", Doc: "between two scans; staggered devices are spread over it"},
			{Name: "scans", Default: "1", Doc: "scans of a repeat"},
			{Name: "changing", Default: "10", Doc: "points that change within an interval, in %"},
			{Name: "timeout", Default: "3s", Quick: "500ms", Doc: "of a request, which is repeated once"},
		},
		Run: collectBACnet,
	}
}

// collection is a way of reading devices.
type collection struct {
	name           string
	staggered, cov bool
}

func collectBACnet(ctx context.Context, b *experiment.Bench) error {
	rates, err := numbers("rates", b.Text("rates"))
	if err != nil {
		return err
	}
	for _, way := range []collection{{name: "all at once"}, {name: "staggered over the interval", staggered: true}, {name: "change of value", cov: true}} {
		for _, rate := range rates {
			c := experiment.Case{Name: fmt.Sprintf("%s, %s requests/s", way.name, experiment.Count(rate)), X: float64(rate), Line: way.name}
			err := b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) error { return way.measure(ctx, b, t, rate) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *collection) measure(ctx context.Context, b *experiment.Bench, t *experiment.Trial, rate int) error {
	r, err := bacnetfarm.Measure(ctx, bacnetfarm.Options{
		Devices: min(10_000, max(1, b.Int("devices"))), Points: max(1, b.Int("points")), Controllers: max(1, b.Int("controllers")),
		Rate: rate, Queue: max(1, b.Int("queue")), Interval: b.Duration("interval"), Scans: max(1, b.Int("scans")),
		Staggered: c.staggered, COV: c.cov, Changing: float64(b.Int("changing")) / 100, Seed: uint64(b.Seed()), Timeout: b.Duration("timeout"), //nolint:gosec // any seed is one
	})
	if err != nil {
		return err
	}
	share := 100 * float64(r.Good) / float64(max(1, r.Expected))
	t.Value(share)
	if !c.cov {
		t.Also("reads lost", "", float64(r.Expected-r.Good))
		t.Also("time of a scan", "s", r.Scan.Seconds())
	}
	t.Also("requests dropped", "", float64(r.Load.Dropped))
	t.Also("busiest second of a controller", "requests", float64(r.Load.Peak))
	t.Also("messages to and from devices", "", float64(r.Load.Received+r.Load.Sent))
	t.Also("age of a change", "s", r.Age.Seconds())
	t.Report(experiment.Progress{Value: &share})
	return nil
}
