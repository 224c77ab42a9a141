package study

import (
	"context"
	"errors"
	"fmt"

	"voltbus/lab/experiment"
	"voltbus/lab/rig"
)

// chain measures nodes in a row.
func chain() experiment.Experiment {
	return experiment.Experiment{
		Name:     "chain",
		Title:    "Four nodes in a row, from the devices to the last store",
		Question: "How long after a sample was taken at the first of four nodes is it in the store of the last one, and heard live by somebody there?",
		Source: "VOLTTRON Deployment and Scalability (PNNL-FY17, April 2017): data of four chained instances, from a building to collaborators outside, was archived in less than a second. " +
			"The text names no rate.",
		Method: []string{
			"Each node is a process of its own. The first one reads simulated devices of 18 points, one after another through the interval; each reports to the next over TLS, and answers when a block is on its disk. All are enrolled by provisioning.",
			"The last node notes of every sample how long after its time the transaction that stored it was committed. After a warm-up these delays are counted through the window. The metric is their 99th percentile.",
			"Meanwhile a program at the last node subscribes to all live messages there, over TLS, and notes of each how long after its time it came: \"live p99\". It names no node.",
			"Then the devices are read no more, and the accounts of the first and the last node are closed and compared, and the rows counted.",
		},
		Limits: []string{
			"All nodes share one machine, its disk and its clock: each block is flushed to the same disk once for every node that it passes.",
			"A sink commits no more often than its work allows, and a sender waits a little for more of an origin: both spare work and cost delay.",
		},
		Metric: experiment.Metric{Name: "stored at the last node after, p99", Unit: "s", Axis: "nodes"},
		Published: []experiment.Published{{
			Case: chained(4), Figures: []experiment.Figure{{Label: "VOLTTRON, archived (less than)", Value: 1}},
		}},
		Settings: []experiment.Setting{
			{Name: "nodes", Default: "4", Doc: "in the row, one of them with devices and one with the last store"},
			{Name: "devices", Default: "1000", Quick: "20", Doc: "devices of 18 points at the first node"},
			{Name: "interval", Default: "1s", Doc: "between two reads of a device"},
			{Name: "listen", Default: "true", Doc: "whether somebody listens at the last node"},
			{Name: "stores", Default: "false", Doc: "whether the nodes before the last one have a store too"},
			{Name: "warm-up", Default: "10s", Quick: "1s", Doc: "before the window"},
			{Name: "window", Default: "1m", Quick: "3s", Doc: "how long delays are counted"},
		},
		Run: func(ctx context.Context, b *experiment.Bench) error {
			n := max(2, b.Int("nodes"))
			return b.Measure(ctx, chained(n), func(ctx context.Context, t *experiment.Trial) error {
				return measureChain(ctx, b, t, n)
			})
		},
	}
}

func chained(n int) experiment.Case {
	return experiment.Case{Name: fmt.Sprintf("%d nodes", n), X: float64(n)}
}

// measureChain is one trial.
func measureChain(ctx context.Context, b *experiment.Bench, t *experiment.Trial, nodes int) (err error) {
	row := tree{bench: b, trial: t}
	defer func() { err = errors.Join(err, row.close()) }()
	last, err := row.plant(ctx, rig.Site{Name: "last"})
	if err != nil {
		return err
	}
	above := last
	for i := 1; i < nodes; i++ {
		site := rig.Site{Bus: i < nodes-1, NoStore: !b.Flag("stores"), LogSize: "1GiB"}
		if i == nodes-1 {
			site.Devices, site.Points, site.Seed = max(1, b.Int("devices")), backlogPoints, b.Seed()
			site.Interval = b.Duration("interval")
			site.Stagger = site.Interval
		}
		if above, err = row.graft(ctx, above, site, fmt.Sprintf("hop-%d", nodes-i), "lab"); err != nil {
			return err
		}
	}
	if err := row.arrived(ctx, last); err != nil {
		return err
	}
	heard, err := row.overhear(ctx, last)
	if err != nil {
		return err
	}
	defer heard.close()
	w, err := row.watch(ctx, last)
	if err != nil {
		return err
	}
	if err := heard.record(t, w.took); err != nil {
		return err
	}
	t.Value(w.delays.At(99).Seconds())
	w.record(t)
	row.usage("hop")
	return row.audit(ctx)
}

// usage records what the nodes but the first used since they began.
func (t *tree) usage(part string) {
	for i, m := range t.meters[1:] {
		if u, err := m.Usage(); err == nil {
			t.trial.Usage(fmt.Sprintf("%s %d of the way up", part, i+1), u)
		}
	}
}
