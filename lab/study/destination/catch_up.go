// Package destination contains the experiments on destinations of readings.
package destination

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/internal/plural"
	"voltbus/internal/sqlite"
	"voltbus/lab/account"
	"voltbus/lab/experiment"
	"voltbus/lab/rig"
	"voltbus/operation/sinks"
)

// List returns the experiments.
func List() []experiment.Experiment { return []experiment.Experiment{catchUp()} }

// catchUp studies a destination that gets what was recorded while it was away.
func catchUp() experiment.Experiment {
	return experiment.Experiment{
		Name:     "sink-catch-up",
		Title:    "A destination gets what was recorded while it was away",
		Question: "How fast does a destination catch up, and does it have every reading after the node was killed meanwhile?",
		Method: []string{
			"A whole node in a process of its own has a destination: a file of SQLite. Nothing is sent while a backlog is recorded: devices of 18 points that are read once a minute. Then the node starts, and sends.",
			"When the destination has a half, the node gets SIGKILL, which it cannot notice, and is started again on the same data directory.",
			"The metric is the samples of the backlog by the time from the start of the node until the destination has confirmed all, the kill and the second start included. At the end all rows of the file are counted, and those with a point and time that no other has.",
		},
		Limits: []string{
			"A file is written by the node's process, so that there is no other end to kill here; the conformance suite of destinations kills the servers of the others.",
			"The node stores the same samples in its own history at the same time.",
			"SIGKILL ends the process, not the machine: what the kernel holds for the disk survives.",
		},
		Metric: experiment.Metric{Name: "sent to the destination", Unit: "samples/s", Axis: "samples of the backlog", Higher: true},
		Settings: []experiment.Setting{
			{Name: "samples", Default: "2000000", Quick: "100000", Doc: "samples of the backlog, rounded to whole minutes; an hour at 50,000 a second is 180,000,000"},
			{Name: "devices", Default: "500", Quick: "100", Doc: "devices of 18 points whose readings they are"},
			{Name: "batch", Default: "100", Doc: "devices that are read at one time, and so about a block"},
			{Name: "kill", Default: "true", Doc: "kill the node when a half is sent"},
		},
		Run: func(ctx context.Context, b *experiment.Bench) error {
			n := max(1, b.Int("samples"))
			c := experiment.Case{Name: "SQLite file, " + plural.Of(n, "sample"), X: float64(n)}
			return b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) error {
				s := attempt{bench: b, trial: t, out: filepath.Join(t.Dir, "out.sqlite")}
				return s.run(ctx, n)
			})
		},
	}
}

// attempt is one trial.
type attempt struct {
	bench *experiment.Bench
	trial *experiment.Trial
	out   string // the file that gets the readings
}

func (s *attempt) run(ctx context.Context, samples int) error {
	file, err := rig.Site{}.Write(s.trial.Dir)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, fmt.Appendf(text, "sinks:\n  - {name: out, kind: sqlite, into: %q, points: [\"floor*/**\"]}\n", s.out), 0o600)
	}
	if err != nil {
		return fault.E("destination.run", fault.Unavailable, file, err)
	}
	first, err := rig.Open(s.bench.Program(), file) // the destination begins where the log ends
	if err != nil {
		return err
	}
	if err := first.Close(); err != nil {
		return err
	}
	recorded, err := rig.Backlog{
		Config: file, Samples: samples, Devices: max(1, s.bench.Int("devices")), Batch: max(1, s.bench.Int("batch")), Seed: s.bench.Seed(),
	}.Record(ctx, s.bench.Program())
	if err != nil {
		return err
	}
	begin, kills := time.Now(), uint64(0)
	if s.bench.Flag("kill") {
		if err := s.until(ctx, file, uint64(recorded/2), true); err != nil {
			return err
		}
		kills++
	}
	if err := s.until(ctx, file, uint64(recorded), false); err != nil {
		return err
	}
	s.trial.Value(float64(recorded) / time.Since(begin).Seconds())
	return s.audit(ctx, uint64(recorded), kills)
}

// until runs the node until the destination has so many samples, and ends it, at once or in good order.
func (s *attempt) until(ctx context.Context, file string, samples uint64, kill bool) (err error) {
	n, err := rig.Open(s.bench.Program(), file)
	if err != nil {
		return err
	}
	defer func() {
		if kill {
			err = errors.Join(err, n.Kill())
		}
		err = errors.Join(err, n.Close())
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		list, err := client.Do(ctx, n.Client, sinks.List, struct{}{})
		switch {
		case err != nil:
			return err
		case len(list.Sinks) != 1:
			return fault.E("destination.until", fault.NotFound, file, errors.New("the node has no destination"))
		case list.Sinks[0].Sent >= samples:
			return nil
		case list.Sinks[0].Reason != "":
			return fault.E("destination.until", fault.Unavailable, file, errors.New(list.Sinks[0].Reason))
		}
		s.trial.Report(experiment.Progress{Message: plural.Of(list.Sinks[0].Sent, "sample") + " sent"})
		select {
		case <-ctx.Done():
			return fault.E("destination.until", fault.Canceled, file, ctx.Err())
		case <-tick.C:
		}
	}
}

// audit counts the rows of the destination. Each point and time is a sample.
func (s *attempt) audit(ctx context.Context, recorded, kills uint64) error {
	db, err := sqlite.Open(s.out, sqlite.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer db.Close()
	var rows, distinct uint64
	const question = "SELECT count(*), (SELECT count(*) FROM (SELECT DISTINCT point, time FROM readings)) FROM readings"
	if err := db.QueryRowContext(ctx, question).Scan(&rows, &distinct); err != nil {
		return fault.E("destination.audit", fault.Unavailable, s.out, err)
	}
	b := account.Balance{Sent: recorded, Acknowledged: recorded, Found: distinct, Repeated: rows - distinct, Interrupt: kills}
	if distinct < recorded {
		b.Lost = recorded - distinct
	} else {
		b.Foreign = distinct - recorded
	}
	s.trial.Account(b)
	return nil
}
