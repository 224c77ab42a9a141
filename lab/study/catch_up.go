package study

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"voltbus/api/answer"
	"voltbus/lab/experiment"
	"voltbus/lab/rig"
	"voltbus/lab/rig/cable"
)

// catchUp measures what a node sends after an outage, and what it does to the others.
func catchUp() experiment.Experiment {
	return experiment.Experiment{
		Name:     "catch-up",
		Title:    "A node returns after an outage while others report as before",
		Question: "How fast does the centre take what one node recorded during an outage, and how much later do live samples of others arrive meanwhile?",
		Method: []string{
			"The centre and all its descendants are processes of their own. One node records a backlog while its cable is pulled: devices of 18 points, read once a minute, twelve of the points measured values with one digit behind the point and some noise, six of them states. The others read simulated devices each interval, one after another.",
			"Delays of the others, from a sample's time to the commit in the centre's store, are counted through a window before the cable is plugged, and then until the centre's log has the backlog, and the store too.",
			"The metric is the backlog divided by the time from when the first of it was acknowledged until all was: on the centre's disk, not yet in its store. The bytes on the wire are all that went up the cable, TLS and greeting included.",
			"Then the accounts of all nodes are closed and compared with the centre's, and the rows counted.",
		},
		Limits: []string{
			"All nodes share one machine: the returning node, the centre's log and its store compete for the same cores.",
			"The values of the backlog are made up. Those that vary more take more bytes.",
		},
		Metric: experiment.Metric{Name: "acknowledged while catching up", Unit: "samples/s", Axis: "samples", Higher: true},
		Settings: []experiment.Setting{
			{Name: "samples", Default: "6000000", Quick: "200000", Doc: "in the backlog"},
			{Name: "devices", Default: "500", Doc: "of the returning node"},
			{Name: "batch", Default: "50", Doc: "devices that the returning node read at one time, and so recorded in one block"},
			{Name: "others", Default: "3", Quick: "1", Doc: "nodes that report all the time"},
			{Name: "other-devices", Default: "100", Quick: "10", Doc: "devices of 18 points of each of the others"},
			{Name: "interval", Default: "1s", Doc: "between two reads of a device of the others"},
			{Name: "warm-up", Default: "10s", Quick: "1s", Doc: "before the window"},
			{Name: "window", Default: "20s", Quick: "2s", Doc: "how long delays are counted before the cable is plugged"},
		},
		Run: func(ctx context.Context, b *experiment.Bench) error {
			n := max(1, b.Int("samples"))
			c := experiment.Case{Name: experiment.Count(n) + " samples", X: float64(n)}
			return b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) error {
				return (&returning{tree: tree{bench: b, trial: t}}).run(ctx)
			})
		},
	}
}

// returning is one trial.
type returning struct {
	tree
	centre  *rig.Running
	cable   *cable.Cable
	backlog uint64
}

func (s *returning) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, s.close()) }()
	if s.centre, err = s.plant(ctx, rig.Site{Name: "centre"}); err != nil {
		return err
	}
	if s.cable, err = cable.New(s.centre.Bus); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.cable.Close()) }()
	if err := s.recordApart(ctx); err != nil {
		return err
	}
	for i := range max(1, s.bench.Int("others")) {
		name := fmt.Sprintf("other-%d", i+1)
		site := rig.Site{
			Devices: max(1, s.bench.Int("other-devices")), Points: backlogPoints, NoStore: true, Seed: s.bench.Seed() + int64(1000*i),
			Interval: s.bench.Duration("interval"), Stagger: s.bench.Duration("interval"),
		}
		if _, err := s.graft(ctx, s.centre, site, name, "all/"+name); err != nil {
			return err
		}
	}
	if err := s.arrived(ctx, s.centre); err != nil {
		return err
	}
	before, err := s.watch(ctx, s.centre)
	if err != nil {
		return err
	}
	if err := s.catchUp(ctx, before); err != nil {
		return err
	}
	return s.audit(ctx)
}

// recordApart makes the node that was away and starts it behind its pulled cable.
func (s *returning) recordApart(ctx context.Context) error {
	site := rig.Site{Name: apart, NoStore: true}
	place, err := s.centre.Provision(ctx, filepath.Join(s.trial.Dir, "bundles"), apart, "all/"+apart, s.cable.Addr())
	if err != nil {
		return err
	}
	file, err := site.Write(place)
	if err != nil {
		return err
	}
	s.trial.Report(experiment.Progress{Message: "the backlog is recorded"})
	n, err := rig.Backlog{
		Config: file, Samples: s.bench.Int("samples"), Seed: s.bench.Seed(),
		Devices: max(1, s.bench.Int("devices")), Batch: max(1, s.bench.Int("batch")),
	}.Record(ctx, s.bench.Program())
	if err != nil {
		return err
	}
	s.backlog = uint64(n)
	running, err := site.Below(ctx, s.bench.Program(), place)
	if err == nil {
		s.add(running, apart)
	}
	return err
}

// catchUp plugs the cable and watches until the centre has stored the backlog.
func (s *returning) catchUp(ctx context.Context, before *watched) error {
	w, err := s.begin(s.centre)
	if err != nil {
		return err
	}
	s.cable.Plug()
	plugged := time.Now()
	var first, last, stored time.Time
	var began, acknowledged uint64
	next := plugged.Add(time.Second)
	err = until(ctx, func() (bool, error) {
		a, err := s.account(ctx)
		now := time.Now()
		if err != nil {
			return false, err
		}
		if first.IsZero() && a.Acknowledged > 0 {
			first, began = now, a.Acknowledged
		}
		if last.IsZero() && a.Acknowledged >= s.backlog {
			last, acknowledged = now, a.Acknowledged
			if began == acknowledged { // all was there when it was first looked
				first, began = plugged, 0
			}
		}
		if stored = now; !last.IsZero() && a.BacklogSamples == 0 {
			return true, w.look(s.trial, s.centre)
		}
		if now.After(next) {
			next = now.Add(time.Second)
			return false, w.look(s.trial, s.centre)
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	up, _ := s.cable.Bytes()
	if w.usage, err = w.meter.Usage(); err != nil {
		return err
	}
	s.trial.Value(float64(acknowledged-began) / max(last.Sub(first), time.Millisecond).Seconds())
	s.trial.Also("stored while catching up", "samples/s", float64(s.backlog)/stored.Sub(first).Seconds())
	s.trial.Also("bytes on the wire", "bytes a sample", float64(up)/float64(s.backlog))
	s.trial.Also("delay of others before, p99", "s", before.delays.At(99).Seconds())
	s.trial.Also("delay of others before, most", "s", before.delays.Most().Seconds())
	s.trial.Also("delay of others meanwhile, p99", "s", w.delays.At(99).Seconds())
	s.trial.Also("delay of others meanwhile, most", "s", w.delays.Most().Seconds())
	s.trial.Also("processor of the centre", "cores", w.usage.Cores())
	s.trial.Also("memory of the centre", "MB", float64(w.usage.Memory)/1e6)
	s.trial.Latency(w.delays)
	s.usage("node")
	return nil
}

// account is the centre's line of the returning node.
func (s *returning) account(ctx context.Context) (answer.Origin, error) {
	accounts, err := s.centre.Accounts(ctx)
	return accounts[apart], err
}
