package study

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"voltbus/lab/account"
	"voltbus/lab/experiment"
	"voltbus/lab/machine"
	"voltbus/lab/rig"
)

// manyChildren measures what children cost that are connected and report a little.
func manyChildren() experiment.Experiment {
	return experiment.Experiment{
		Name:     "many-children",
		Title:    "A thousand nodes stay connected to one centre and report",
		Question: "What does a connected child that reports now and then cost the centre, in memory and processor time?",
		Method: []string{
			"The centre is a whole node in a process of its own, with the default store. The children are in one process: each has a key of its own that the centre was told, an encrypted connection, and the sender that a node has; their logs are in memory. Each reports one sample of each of its points an interval, all of them spread over it.",
			"Memory is what the centre's resident memory grew by since before the first child connected, divided by their number, at the end of the window. Processor time is that of the window, while all are connected and report.",
			"Delays run from a sample's time to the commit in the centre's store. In the end the children report no more, and what they produced is compared with the centre's ledger and a count of its rows.",
		},
		Limits: []string{
			"The children are no whole nodes; what they use themselves says nothing about a node.",
			"Memory for the points of the children is in the figure: a child with more points costs more.",
		},
		Metric: experiment.Metric{Name: "memory of the centre per child", Unit: "MB", Axis: "children"},
		Settings: []experiment.Setting{
			{Name: "children", Default: "1000", Quick: "50", Doc: "that are connected at once"},
			{Name: "points", Default: "18", Doc: "of each child"},
			{Name: "interval", Default: "10s", Quick: "1s", Doc: "between two reports of a child"},
			{Name: "warm-up", Default: "30s", Quick: "1s", Doc: "before the window"},
			{Name: "window", Default: "1m", Quick: "3s", Doc: "how long the centre is watched"},
		},
		Run: func(ctx context.Context, b *experiment.Bench) error {
			n := max(1, b.Int("children"))
			c := experiment.Case{Name: experiment.Count(n) + " children", X: float64(n)}
			return b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) error {
				return (&gathering{tree: tree{bench: b, trial: t}, children: n}).run(ctx)
			})
		},
	}
}

// gathering is one trial.
type gathering struct {
	tree
	children int
	centre   *rig.Running
	crowd    *rig.Gathered
}

func (s *gathering) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, s.close()) }()
	if s.centre, err = s.plant(ctx, rig.Site{Name: "centre"}); err != nil {
		return err
	}
	crowd := rig.Crowd{
		Keys: filepath.Join(s.trial.Dir, "keys"), Children: s.children,
		Points: max(1, s.bench.Int("points")), Interval: s.bench.Duration("interval"),
	}
	if err := os.MkdirAll(crowd.Keys, 0o700); err != nil {
		return err
	}
	if err := crowd.Register(ctx, s.centre); err != nil {
		return err
	}
	before, err := machine.NewMeter(s.centre.Process()).Usage()
	if err != nil {
		return err
	}
	if s.crowd, err = crowd.Open(s.bench.Program()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.crowd.Stop()) }()
	if err := s.connected(ctx); err != nil {
		return err
	}
	w, err := s.watch(ctx, s.centre)
	if err != nil {
		return err
	}
	status, err := s.crowd.Look()
	if err != nil {
		return err
	}
	n := float64(s.children)
	grown := max(float64(w.usage.Memory)-float64(before.Memory), float64(os.Getpagesize()))
	s.trial.Value(grown / n / 1e6)
	s.trial.Also("processor of the centre per child", "millicores", 1000*w.usage.Cores()/n)
	s.trial.Also("connected at the end", "children", float64(status.Connected))
	w.record(s.trial)
	return s.settle(ctx)
}

// connected waits until all children are.
func (s *gathering) connected(ctx context.Context) error {
	began := time.Now()
	err := until(ctx, func() (bool, error) {
		status, err := s.crowd.Look()
		s.trial.Report(experiment.Progress{Message: experiment.Count(status.Connected) + " children are connected"})
		return status.Connected == s.children, err
	})
	s.trial.Also("all connected after", "s", time.Since(began).Seconds())
	return err
}

// settle has the children report no more, and closes the account when all has arrived.
func (s *gathering) settle(ctx context.Context) error {
	status, err := s.crowd.Hush()
	if err != nil {
		return err
	}
	err = until(ctx, func() (bool, error) {
		before := status
		if status, err = s.crowd.Look(); err != nil || status.Produced != before.Produced || status.Acknowledged != status.Produced {
			return false, err
		}
		return s.stored(ctx, status.Produced)
	})
	if err != nil {
		return err
	}
	balance := account.Balance{Sent: status.Produced, Acknowledged: status.Acknowledged}
	return s.rows(ctx, balance)
}

// stored reports whether the centre has so many samples in its store, and no backlog.
func (s *gathering) stored(ctx context.Context, want uint64) (bool, error) {
	accounts, err := s.centre.Accounts(ctx)
	stored := uint64(0)
	for _, a := range accounts {
		if !a.Own {
			stored += a.Stored
		}
	}
	return stored >= want, err
}
