package study

import (
	"context"
	"errors"
	"time"

	"voltbus/api/answer"
	"voltbus/internal/plural"
	"voltbus/lab/account"
	"voltbus/lab/experiment"
	"voltbus/lab/machine"
	"voltbus/lab/rig"
)

// historianBacklog finds where the store falls behind.
func historianBacklog() experiment.Experiment {
	e := experiment.Experiment{
		Name:     "historian-backlog",
		Title:    "Continuous scrapes until the history falls behind",
		Question: "How many devices of 18 points, scraped without pause, does one node record and store before a backlog forms?",
		Source: "Message Bus Usage Recommendations (PNNL-30858, December 2020): the SQLite historian kept up with continuous scrapes of 1,600 devices of 18 points and fell behind at 3,200. " +
			"The peer's figure is the rate that its SQLite historian held.",
		Method: []string{
			"A whole node in a process of its own: simulated devices, device owner, bus, recorder, log with a flush for each block, sink, store. The devices are scraped every interval, all at once.",
			"After a warm-up the node's ledger is read each second over HTTP. A backlog has formed when what waits between log and store grows through the whole window and is more than two intervals of samples, or when samples are refused.",
			"Devices are doubled until a backlog forms, the devices themselves fall behind their interval, or most-devices is reached. Which of these it was stands under Limits.",
			"Then the node is stopped and started without devices: produced must be acknowledged + refused, and acknowledged must be stored and found by a query.",
		},
		Limits: []string{
			"The simulated devices cost processor time in the same process, as drivers do.",
			"As long as no backlog forms the stored rate is the offered one, so a ratio there is a lower bound.",
			"The published text does not say how long a continuous scrape took; the interval here is a setting.",
		},
		Metric: experiment.Metric{Name: "stored", Unit: "samples/s", Axis: "devices", Higher: true},
		Settings: []experiment.Setting{
			{Name: "first-devices", Default: "1600", Quick: "100", Doc: "devices of the first case"},
			{Name: "most-devices", Default: "51200", Quick: "200", Doc: "devices of the last case"},
			{Name: "interval", Default: "1s", Doc: "between two scrapes"},
			{Name: "warm-up", Default: "3s", Quick: "1s", Doc: "before the window"},
			{Name: "window", Default: "15s", Quick: "3s", Doc: "how long the ledger is watched"},
		},
		Run: runBacklog,
	}
	for _, n := range []int{1600, 3200} {
		e.Published = append(e.Published, experiment.Published{
			Case: backlogCase(n), Peer: &experiment.Figure{Label: "VOLTTRON 9.0.4 SQLite historian, rate held, development machine", Value: 10_100},
		})
	}
	return e
}

func backlogCase(devices int) experiment.Case {
	return experiment.Case{Name: experiment.Count(devices) + " devices", X: float64(devices)}
}

// backlogPoints is how many points a device has.
const backlogPoints = 18

func runBacklog(ctx context.Context, b *experiment.Bench) error {
	most := max(1, b.Int("most-devices"))
	for devices := min(most, max(1, b.Int("first-devices"))); devices <= most; devices *= 2 {
		formed, behind := false, false
		err := b.Measure(ctx, backlogCase(devices), func(ctx context.Context, t *experiment.Trial) error {
			s := backlogTrial{bench: b, trial: t, devices: devices}
			if err := s.run(ctx); err != nil {
				return err
			}
			formed, behind = formed || s.formed(), behind || s.behind()
			return nil
		})
		if err != nil {
			return err
		}
		switch {
		case formed:
			b.Note("A backlog formed at %s devices.", experiment.Count(devices))
			return nil
		case behind:
			b.Note("At %s devices the devices themselves fell behind their interval of %v; no backlog had formed.", experiment.Count(devices), b.Duration("interval"))
			return nil
		}
	}
	b.Note("No backlog formed; the largest case had at most %s devices.", experiment.Count(most))
	return nil
}

// backlogTrial is one trial.
type backlogTrial struct {
	bench    *experiment.Bench
	trial    *experiment.Trial
	devices  int
	accounts []answer.Origin // one a second
	times    []time.Time
}

func (s *backlogTrial) run(ctx context.Context) error {
	interval := s.bench.Duration("interval")
	file, err := rig.Site{Devices: s.devices, Points: backlogPoints, Interval: interval, Seed: s.bench.Seed()}.Write(s.trial.Dir)
	if err != nil {
		return err
	}
	n, err := rig.Open(ctx, s.bench.Program(), file)
	if err != nil {
		return err
	}
	if err := errors.Join(s.watch(ctx, n), n.Close()); err != nil {
		return err
	}
	first, last := s.accounts[0], s.accounts[len(s.accounts)-1]
	took := s.times[len(s.times)-1].Sub(s.times[0]).Seconds()
	s.trial.Value(float64(last.Stored-first.Stored) / took)
	s.trial.Also("offered", "samples/s", s.offered())
	s.trial.Also("produced", "samples/s", float64(last.Produced-first.Produced)/took)
	s.trial.Also("backlog at the end", "samples", float64(last.BacklogSamples))
	s.trial.Also("refused", "samples", float64(last.Refused-first.Refused))
	return s.audit(ctx)
}

// watch reads the ledger each second through the window.
func (s *backlogTrial) watch(ctx context.Context, n *rig.Running) error {
	if err := pause(ctx, s.bench.Duration("warm-up")); err != nil {
		return err
	}
	meter := machine.NewMeter(n.Process())
	end := time.Now().Add(s.bench.Duration("window"))
	for {
		o, err := n.Origin(ctx)
		if err != nil {
			return err
		}
		s.accounts, s.times = append(s.accounts, o), append(s.times, time.Now())
		p := experiment.Progress{Message: "backlog of " + plural.Of(o.BacklogSamples, "sample")}
		if i := len(s.accounts) - 2; i >= 0 {
			p.Rate = float64(o.Stored-s.accounts[i].Stored) / s.times[i+1].Sub(s.times[i]).Seconds()
		}
		s.trial.Report(p)
		if len(s.accounts) > 1 && !time.Now().Before(end) {
			break
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
	if u, err := meter.Usage(); err == nil {
		s.trial.Usage("node", u)
	}
	return nil
}

// pause waits for the next look at something that runs by the wall clock.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// offered is what the devices have to say, in samples a second.
func (s *backlogTrial) offered() float64 {
	return float64(s.devices*backlogPoints) / s.bench.Duration("interval").Seconds()
}

// formed says whether a backlog has formed.
func (s *backlogTrial) formed() bool {
	last := s.accounts[len(s.accounts)-1]
	if last.Refused > s.accounts[0].Refused {
		return true
	}
	half := len(s.accounts) / 2
	early, late := uint64(0), last.BacklogSamples
	for i, o := range s.accounts {
		if i < half {
			early = max(early, o.BacklogSamples)
		} else {
			late = min(late, o.BacklogSamples)
		}
	}
	return late > early && late > uint64(2*s.devices*backlogPoints)
}

// enough is the share of the offered samples that devices which keep up produce; a window need not
// begin and end with a scrape.
const enough = 0.8

// behind says whether the devices fell behind their interval.
func (s *backlogTrial) behind() bool {
	first, last := s.accounts[0], s.accounts[len(s.accounts)-1]
	took := s.times[len(s.times)-1].Sub(s.times[0])
	if took < 5*s.bench.Duration("interval") {
		return false // a window too short to tell
	}
	return float64(last.Produced-first.Produced)/took.Seconds() < enough*s.offered()
}

// audit opens the data again, without devices, and counts the rows.
func (s *backlogTrial) audit(ctx context.Context) (err error) {
	file, err := rig.Site{}.Write(s.trial.Dir)
	if err != nil {
		return err
	}
	n, err := rig.Open(ctx, s.bench.Program(), file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	o, err := n.Settled(ctx)
	if err != nil {
		return err
	}
	rows := uint64(0)
	if err := n.Numbers(ctx, "SELECT count(*)::BIGINT FROM samples", 1, func(v int64) { rows = uint64(v) }); err != nil {
		return err
	}
	balance := account.Balance{Sent: o.Produced, Acknowledged: o.Acknowledged, Refused: o.Refused, Found: rows}
	if rows < o.Acknowledged {
		balance.Lost = o.Acknowledged - rows
	} else {
		balance.Repeated = rows - o.Acknowledged
	}
	s.trial.Account(balance)
	return nil
}
