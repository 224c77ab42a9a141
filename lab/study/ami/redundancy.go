package ami

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"voltbus/api/client"
	"voltbus/lab/account"
	"voltbus/lab/experiment"
	"voltbus/lab/metersim"
	"voltbus/operation/metering"
)

// redundancy kills one of two.
func redundancy() experiment.Experiment {
	return experiment.Experiment{
		Name:     "ami-redundancy",
		Title:    "One of two is killed: metering data systems, concentrators",
		Question: "What do meters notice, and what is lost or stored twice, if one of two metering data systems is killed, or one of two concentrators that meters use?",
		Source:   openQuestion + " It names redundancy and load balancing of both.",
		Method: []string{
			"All nodes have processes of their own. One is killed with SIGKILL in the midst, and its directory stays.",
			"Two systems: a concentrator divides its bulks between them. Meters send to the concentrator meanwhile. At the end the killed system is started again on its directory, and both are asked which intervals they have: each reading that the concentrator acknowledged must be found in one of them at least.",
			"Two concentrators: meters send each reading to both, which have the same system. One concentrator is killed. What the other acknowledged must be found in the system, and nothing else.",
			"The figure is what was acknowledged to meters a second, the outage included.",
		},
		Limits: []string{together, "Two systems that know nothing of each other share the readings. A bulk that one had committed when it was killed before it answered is in both; the report says how many readings."},
		Metric: experiment.Metric{Name: "acknowledged to meters", Unit: "readings/s", Axis: "case", Higher: true},
		Settings: []experiment.Setting{
			{Name: "meters", Default: "1000", Quick: "100", Doc: "behind the concentrators"},
			{Name: "members", Default: "20", Quick: "4", Doc: "requests that meters have under way"},
			{Name: "requests", Default: "300", Quick: "20", Doc: "of each member"},
			{Name: "period", Default: "10ms", Quick: "20ms", Doc: "from one request of a member to the next"},
			{Name: "bulk", Default: "100", Quick: "10", Doc: "readings of a bulk of the concentrator"},
			{Name: "age", Default: "200ms", Quick: "50ms", Doc: "how long a reading waits at most for its bulk to fill"},
		},
		Run: func(ctx context.Context, b *experiment.Bench) error {
			for i, one := range []struct {
				name string
				run  func(context.Context, *experiment.Bench, *experiment.Trial) error
			}{{"two systems", twoSystems}, {"two concentrators", twoConcentrators}} {
				if err := b.Measure(ctx, experiment.Case{Name: one.name, X: float64(i + 1)}, func(ctx context.Context, t *experiment.Trial) error { return one.run(ctx, b, t) }); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// few is the fleet of meters that send one reading each request.
func few(b *experiment.Bench) metersim.Fleet {
	members := max(1, b.Int("members"))
	return metersim.Fleet{
		Form: metersim.SOAP, Kept: true, Members: members, Batch: 1, Meters: max(1, b.Int("meters")/members), Rhythm: metersim.Serial,
		Period: b.Duration("period"), Requests: max(2, b.Int("requests")), For: longest,
	}
}

// half is when a fleet has sent half of its requests.
func half(f *metersim.Fleet) time.Duration { return f.Period * time.Duration(f.Requests) / 2 }

func keys(b *experiment.Bench) string {
	return fmt.Sprintf("bulk: %d, age: %s, form: soap, kept: true", max(1, b.Int("bulk")), b.Text("age"))
}

func openSystem(ctx context.Context, b *experiment.Bench, t *experiment.Trial, name string) (*plant, error) {
	return open(ctx, b, t, metersim.Site{Name: name}, false)
}

func twoSystems(ctx context.Context, b *experiment.Bench, t *experiment.Trial) (err error) {
	first, err := openSystem(ctx, b, t, "mds-1")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, first.Close()) }()
	second, err := openSystem(ctx, b, t, "mds-2")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, second.Kill()) }()
	f := few(b)
	if err := second.register(ctx, f.Members*f.Meters); err != nil {
		return err
	}
	c, err := before{b, t, "concentrator", keys(b)}.open(ctx, first, second)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	defer time.AfterFunc(half(&f), func() { _ = second.Signal() }).Stop() // Kill says what went wrong
	s, err := c.play(ctx, f)
	if err != nil {
		return err
	}
	t.Value(s.Rate)
	s.record(t)
	if err := second.Kill(); err != nil {
		return err
	}
	again, err := metersim.System{Config: filepath.Join(t.Dir, "mds-2", "metering.yaml")}.Open(ctx, b.Program())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, again.Close()) }()
	both := &pair{first: first, second: &plant{Running: again, from: first.from}, readings: s.Sent}
	return both.settle(ctx, t, s)
}

// pair is two systems that share readings.
type pair struct {
	first, second *plant
	readings      uint64 // that were sent
}

// settle waits until the systems together have what was acknowledged.
func (p *pair) settle(ctx context.Context, t *experiment.Trial, s *step) error {
	var found, twice, most uint64
	grown := time.Now()
	err := until(ctx, func() (bool, error) {
		var err error
		if found, twice, err = p.found(ctx); err != nil {
			return false, err
		}
		if found > most {
			most, grown = found, time.Now()
		}
		return found >= s.Accepted || time.Since(grown) > lostAfter, nil
	})
	if err != nil {
		return err
	}
	t.Also("in both systems", "readings", float64(twice))
	a := account.Balance{Sent: s.Sent, Acknowledged: s.Accepted, Refused: s.Refused, Found: found, Interrupt: 1}
	a.Unanswered = a.Sent - a.Acknowledged - a.Refused
	a.Lost = a.Acknowledged - min(a.Acknowledged, a.Found)
	a.Foreign = a.Found - min(a.Found, a.Acknowledged+a.Unanswered)
	t.Account(a)
	return nil
}

// found counts the readings that one of the systems has, and those that both have.
func (p *pair) found(ctx context.Context) (found, twice uint64, err error) {
	there := map[string]int{}
	for _, mds := range []*plant{p.first, p.second} {
		if err := mds.intervals(ctx, there); err != nil {
			return 0, 0, err
		}
	}
	for _, n := range there {
		if found++; n > 1 {
			twice++
		}
	}
	return found, twice, nil
}

// intervals adds one to each interval of the first day of which a system has a reading.
func (p *plant) intervals(ctx context.Context, there map[string]int) error {
	day, after := p.from.Format(time.DateOnly), ""
	for {
		m, err := client.Do(ctx, p.Client, metering.Missing, metering.Lacking{Day: day, Limit: 10_000, After: after})
		if err != nil {
			return err
		}
		for _, one := range m.List {
			lacks := make(map[int64]bool, len(one.Ends))
			for _, end := range one.Ends {
				lacks[end.Unix()] = true
			}
			for end := p.from.Add(metersim.Minute); !end.After(p.from.AddDate(0, 0, 1)); end = end.Add(metersim.Minute) {
				if !lacks[end.Unix()] {
					there[one.Meter+end.Format(time.TimeOnly)]++
				}
			}
			after = one.Meter
		}
		if !m.More {
			return nil
		}
	}
}

func twoConcentrators(ctx context.Context, b *experiment.Bench, t *experiment.Trial) (err error) {
	mds, err := openSystem(ctx, b, t, "mds")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mds.Close()) }()
	kept, err := before{b, t, "concentrator-1", keys(b)}.open(ctx, mds)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	killed, err := before{b, t, "concentrator-2", keys(b)}.open(ctx, mds)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, killed.Kill()) }()
	f := few(b)
	if err := mds.register(ctx, f.Members*f.Meters); err != nil {
		return err
	}
	other := f
	other.URL, other.Tokens, other.From, other.Slots, other.Interval = killed.URL, killed.tokens, killed.from, metersim.Days*metersim.PerDay(metersim.Minute), metersim.Minute
	defer time.AfterFunc(half(&f), func() { _ = killed.Signal() }).Stop()
	var all sync.WaitGroup
	var atKilled *metersim.Outcome
	var failed error
	all.Go(func() { atKilled, failed = other.Run(ctx, b.Program(), nil, nil) })
	s, err := kept.play(ctx, f)
	all.Wait()
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	t.Value(s.Rate)
	s.record(t)
	t.Also("acknowledged by the one that was killed", "readings", float64(atKilled.Accepted))
	kept.balance.Interrupt = 1
	_, err = kept.settle(ctx)
	return err
}
