// Package destination contains the experiments on destinations of readings.
package destination

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/internal/plural"
	"voltbus/internal/sqlite"
	"voltbus/lab/account"
	"voltbus/lab/experiment"
	"voltbus/lab/peers"
	"voltbus/lab/rig"
	"voltbus/operation/sinks"
)

// List returns the experiments.
func List() []experiment.Experiment { return []experiment.Experiment{catchUp()} }

// catchUp studies destinations that get what was recorded while they were away.
func catchUp() experiment.Experiment {
	return experiment.Experiment{
		Name:     "sink-catch-up",
		Title:    "A destination gets what was recorded while it was away",
		Question: "How fast does a destination catch up, and does it have every reading after the node and the server were killed meanwhile?",
		Method: []string{
			"A whole node in a process of its own has a destination: a file of SQLite, or a server on loopback with the data directory of the trial. Nothing is sent while a backlog is recorded: devices of 18 points that are read once a minute. Then the node starts, and sends.",
			"When the destination has a quarter, its server gets SIGKILL, which it cannot notice, and is started again with what it has; when it has a half, the node gets it.",
			"The metric is the samples of the backlog by the time from the start of the node until the destination has confirmed all, the kills and further starts included. At the end what is there is counted, and that with a point and time that no other has.",
		},
		Limits: []string{
			"A file of SQLite is written by the node's process, so that there is no other end to kill.",
			"The destinations are SQLite and the servers that Debian has. The conformance suite of destinations kills those of all kinds, and its benchmarks measure them.",
			"The node stores the same samples in its own history at the same time.",
			"SIGKILL ends the process, not the machine: what the kernel holds for the disk survives.",
		},
		Metric: experiment.Metric{Name: "sent to the destination", Unit: "samples/s", Axis: "samples of the backlog", Higher: true},
		Settings: []experiment.Setting{
			{Name: "destinations", Default: "sqlite,mariadb,rabbitmq,influxdb", Quick: "sqlite", Doc: "to which, with commas; those that are not here are left out"},
			{Name: "samples", Default: "2000000", Quick: "100000", Doc: "samples of the backlog, rounded to whole minutes; an hour at 50,000 a second is 180,000,000"},
			{Name: "devices", Default: "500", Quick: "100", Doc: "devices of 18 points whose readings they are"},
			{Name: "batch", Default: "100", Doc: "devices that are read at one time, and so about a block"},
			{Name: "kill", Default: "true", Doc: "kill the server when a quarter is sent, and the node when a half is"},
		},
		Run: measure,
	}
}

// measure measures each destination that is here.
func measure(ctx context.Context, b *experiment.Bench) error {
	n, measured := max(1, b.Int("samples")), 0
	for name := range strings.SplitSeq(b.Text("destinations"), ",") {
		var server *peers.Destination
		if name != file {
			var err error
			if server, err = find(name); err != nil && fault.Is(err, fault.NotFound) {
				b.Note("%s was left out: %v.", name, err)
				continue
			} else if err != nil {
				return err
			}
		}
		measured++
		c := experiment.Case{Name: name + ", " + plural.Of(n, "sample"), X: float64(n), Line: name}
		err := b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) error {
			return (&attempt{bench: b, trial: t, to: server}).run(ctx, n)
		})
		if err != nil {
			return err
		}
	}
	if measured == 0 {
		return fault.E("destination.measure", fault.NotFound, b.Text("destinations"), errors.New("none of these destinations is here"))
	}
	return nil
}

// file is the destination without a server.
const file = "sqlite"

// find returns the server of that name. It fails with fault.NotFound if it is not here, and with fault.Invalid if there is none of that name.
func find(name string) (*peers.Destination, error) {
	names := []string{file}
	for _, d := range peers.Destinations() {
		if d.Name == name {
			return &d, d.Find()
		}
		names = append(names, d.Name)
	}
	return nil, fault.E("destination.find", fault.Invalid, name, fmt.Errorf("is no destination of this experiment; write some of %s, with commas", strings.Join(names, ",")))
}

// attempt is one trial.
type attempt struct {
	bench *experiment.Bench
	trial *experiment.Trial
	to    *peers.Destination // nil for a file
	out   *peers.Receiver
	dead  bool // the server was killed, so that the node may complain
}

// sqliteFile is the file that gets the readings.
func (s *attempt) sqliteFile() string { return filepath.Join(s.trial.Dir, "out.sqlite") }

func (s *attempt) run(ctx context.Context, samples int) (err error) {
	entry := fmt.Sprintf("kind: sqlite, into: %q", s.sqliteFile())
	if s.to != nil {
		if s.out, err = s.to.Open(ctx, s.trial.Dir); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.out.Close()) }()
		entry = s.out.Entry
	}
	config, err := s.configure(ctx, entry)
	if err != nil {
		return err
	}
	recorded, err := rig.Backlog{
		Config: config, Samples: samples, Devices: max(1, s.bench.Int("devices")), Batch: max(1, s.bench.Int("batch")), Seed: s.bench.Seed(),
	}.Record(ctx, s.bench.Program())
	if err != nil {
		return err
	}
	begin := time.Now()
	kills, err := s.send(ctx, config, uint64(recorded))
	if err != nil {
		return err
	}
	s.trial.Value(float64(recorded) / time.Since(begin).Seconds())
	return s.audit(ctx, uint64(recorded), kills)
}

// configure writes the configuration of a node with the destination, which begins where the log ends.
func (s *attempt) configure(ctx context.Context, entry string) (string, error) {
	config, err := rig.Site{}.Write(s.trial.Dir)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(config)
	if err == nil {
		err = os.WriteFile(config, fmt.Appendf(text, "sinks:\n  - {name: out, %s, points: [\"floor*/**\"]}\n", entry), 0o600)
	}
	if err != nil {
		return "", fault.E("destination.run", fault.Unavailable, config, err)
	}
	first, err := rig.Open(ctx, s.bench.Program(), config)
	if err != nil {
		return "", err
	}
	return config, first.Close()
}

// send runs the node until the destination has all, and kills both ends meanwhile. It returns how often it killed.
func (s *attempt) send(ctx context.Context, config string, recorded uint64) (kills uint64, err error) {
	if s.bench.Flag("kill") {
		var quarter func() error
		if s.out != nil {
			kills++
			quarter = func() error {
				s.dead = true
				return errors.Join(s.out.Kill(ctx), s.out.Start(ctx))
			}
		}
		if err := s.until(ctx, config, recorded/2, true, quarter); err != nil {
			return kills, err
		}
		kills++
	}
	return kills, s.until(ctx, config, recorded, false, nil)
}

// until runs the node until the destination has so many samples, and ends it, at once or in good order. Halfway it does what halfway says.
func (s *attempt) until(ctx context.Context, config string, samples uint64, kill bool, halfway func() error) (err error) {
	n, err := rig.Open(ctx, s.bench.Program(), config)
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
		sent, err := s.sent(ctx, n)
		if err == nil && halfway != nil && sent >= samples/2 {
			err, halfway = halfway(), nil
		}
		if err != nil || sent >= samples {
			return err
		}
		s.trial.Report(experiment.Progress{Message: plural.Of(sent, "sample") + " sent"})
		select {
		case <-ctx.Done():
			return fault.E("destination.until", fault.Canceled, config, ctx.Err())
		case <-tick.C:
		}
	}
}

// sent asks the node how many samples the destination has. It fails if the node cannot send for another reason than the killed server.
func (s *attempt) sent(ctx context.Context, n *rig.Running) (uint64, error) {
	list, err := client.Do(ctx, n.Client, sinks.List, struct{}{})
	switch {
	case err != nil:
		return 0, err
	case len(list.Sinks) != 1:
		return 0, fault.E("destination.sent", fault.NotFound, "", errors.New("the node has no destination"))
	case list.Sinks[0].Reason != "" && !s.dead:
		return 0, fault.E("destination.sent", fault.Unavailable, "", errors.New(list.Sinks[0].Reason))
	}
	return list.Sinks[0].Sent, nil
}

// audit counts what the destination has. Each point and time is a sample.
func (s *attempt) audit(ctx context.Context, recorded, kills uint64) error {
	count := s.rows
	if s.out != nil {
		count = s.out.Count
	}
	rows, distinct, err := count(ctx)
	if err != nil {
		return err
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

// rows counts those of the file.
func (s *attempt) rows(ctx context.Context) (rows, distinct uint64, err error) {
	db, err := sqlite.Open(s.sqliteFile(), sqlite.Options{ReadOnly: true})
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	const question = "SELECT count(*), (SELECT count(*) FROM (SELECT DISTINCT point, time FROM readings)) FROM readings"
	if err := db.QueryRowContext(ctx, question).Scan(&rows, &distinct); err != nil {
		return 0, 0, fault.E("destination.audit", fault.Unavailable, s.sqliteFile(), err)
	}
	return rows, distinct, nil
}
