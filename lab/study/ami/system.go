package ami

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/lab/account"
	"voltbus/lab/experiment"
	"voltbus/lab/load"
	"voltbus/lab/machine"
	"voltbus/lab/metersim"
	"voltbus/lab/rig"
	"voltbus/operation/metering"
	"voltbus/operation/tokens"
)

// plant is a metering data system (MDS) in a process of its own, with valves, and what was sent to it.
type plant struct {
	bench *experiment.Bench
	trial *experiment.Trial
	*rig.Running

	tokens     []string
	from       time.Time // beginning of the first interval of all readings
	interval   time.Duration
	registered int   // meters
	used       int64 // readings of each member that were sent in earlier steps
	meters     int   // behind each member
	balance    account.Balance
	through    string // the address that simulators use instead of that of the node; "" for that
	mds        *plant // where readings arrive in the end; nil: here
}

// home is the MDS that knows the meters, and has the readings in the end.
func (p *plant) home() *plant {
	if p.mds != nil {
		return p.mds
	}
	return p
}

// senders is how many tokens simulators have: a node bounds the requests that one may have under way.
const senders = 16

// open starts an MDS for a trial. secure encrypts its connections.
func open(ctx context.Context, b *experiment.Bench, t *experiment.Trial, site metersim.Site, secure bool) (*plant, error) {
	dir := filepath.Join(t.Dir, cmp.Or(site.Name, "mds"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	file, err := site.Write(dir)
	if err != nil {
		return nil, err
	}
	n, err := metersim.System{Config: file, TLS: secure}.Open(ctx, b.Program())
	if err != nil {
		return nil, err
	}
	p := &plant{bench: b, trial: t, Running: n, from: metersim.FirstDay(time.Now()), interval: metersim.Minute}
	for i := range senders {
		issued, err := client.Do(ctx, n.Client, tokens.Issue, tokens.Recorder{Name: fmt.Sprint("simulator-", i+1), Under: "meters"})
		if err != nil {
			return nil, errors.Join(err, n.Close())
		}
		p.tokens = append(p.tokens, issued.Token)
	}
	return p, nil
}

// registration is how many meters are registered with one request.
const registration = 10_000

// register registers the meters up to a number.
func (p *plant) register(ctx context.Context, meters int) error {
	for p.registered < meters {
		n := min(registration, meters-p.registered)
		list := make([]answer.MeterEntry, n)
		for i := range list {
			list[i] = answer.MeterEntry{
				ID: metersim.MeterID(p.registered + i), Commodity: "electricity", From: &p.from,
				Channels: []answer.MeterChannel{{Number: 1, ReadingType: metersim.ReadingType(p.interval), Interval: p.interval.Seconds()}},
			}
		}
		done, err := client.Do(ctx, p.Client, metering.Register, metering.Registration{Meters: list})
		if err != nil {
			return err
		}
		if len(done.Refused) > 0 {
			return fmt.Errorf("register simulated meters: %s", done.Refused[0].Reason)
		}
		p.registered += n
	}
	return nil
}

// step is what one fleet found at the node.
type step struct {
	*metersim.Outcome
	valves metersim.Valves
	node   machine.Usage
	fleet  machine.Usage // of the simulators
}

// play has a fleet send to the node. Where it sends, its token and the readings that were sent before are filled in.
func (p *plant) play(ctx context.Context, f metersim.Fleet) (*step, error) {
	f.URL, f.Tokens, f.CA, f.From = cmp.Or(p.through, p.URL), p.tokens, p.CA(), p.from
	f.Slots, f.Skip, f.Interval = metersim.Days*metersim.PerDay(p.interval), p.used, p.interval
	if err := p.home().register(ctx, f.First+f.Members*f.Meters); err != nil {
		return nil, err
	}
	if _, err := metersim.ReadValves(p.Running); err != nil { // what was before does not count
		return nil, err
	}
	s := &step{}
	node := machine.NewMeter(p.Process())
	var sim *machine.Meter
	watch := func(m load.Moment) {
		if u, err := sim.Usage(); err == nil {
			s.fleet = u
		}
		p.trial.Report(experiment.Progress{Rate: m.Rate, P50: m.P50.Seconds(), P99: m.P99.Seconds()})
	}
	var err error
	s.Outcome, err = f.Run(ctx, p.bench.Program(), func(process int) { sim = machine.NewMeter(process) }, watch)
	if err != nil {
		return nil, err
	}
	if s.node, err = node.Usage(); err != nil {
		return nil, err
	}
	s.fleet.Wall, s.fleet.CPU = s.node.Wall, s.Processor
	if s.valves, err = metersim.ReadValves(p.Running); err != nil {
		return nil, err
	}
	p.used, p.meters = s.Reached, f.Meters
	p.balance.Sent += s.Sent
	p.balance.Acknowledged += s.Accepted
	p.balance.Refused += s.Refused
	if s.First != "" {
		p.bench.Note("%d requests failed or were refused, the first: %.300s", s.Failed, s.First)
	}
	return s, nil
}

// record notes what stands beside the metric.
func (s *step) record(t *experiment.Trial) {
	h := load.NewHistogram()
	h.AddBars(s.Latency)
	t.Latency(h)
	t.Generator(s.HeadRoom)
	t.Usage("node", s.node)
	t.Usage("simulators", s.fleet)
	t.Also("requests", "1/s", s.Asked)
	if s.valves.Readings > 0 {
		n := float64(s.valves.Readings) / 1e6
		t.Also("handler per reading", "µs", s.valves.Handler/n)
		t.Also("server beside the handler per reading", "µs", s.valves.Overhead()/n)
	}
	t.Also("processor of the node", "cores", s.node.Cores())
	t.Also("processor of the simulators", "cores", s.fleet.Cores())
}

// full is the share of the processors above which a machine has nothing to spare.
const full = 0.9

// bound says what was the limit of a step that went as fast as it could.
func (s *step) bound() string {
	all := float64(runtime.NumCPU())
	switch used := s.node.Cores() + s.fleet.Cores(); {
	case used >= full*all && s.fleet.Cores() > s.node.Cores():
		return fmt.Sprintf("the simulators were the limit: they used %.1f of %.0f cores, the node %.1f, so its own limit is higher", s.fleet.Cores(), all, s.node.Cores())
	case used >= full*all:
		return fmt.Sprintf("the processors were the limit: the node used %.1f of %.0f cores, the simulators %.1f", s.node.Cores(), all, s.fleet.Cores())
	}
	return fmt.Sprintf("waiting was the limit: the node used %.1f of %.0f cores, the simulators %.1f; the rest waited for the disk, for other programs, or for each other", s.node.Cores(), all, s.fleet.Cores())
}

// settle waits until all that was acknowledged is in the store, and closes the account. It returns how long that took.
func (p *plant) settle(ctx context.Context) (time.Duration, error) {
	began, grown, b := time.Now(), time.Now(), &p.balance
	err := until(ctx, func() (bool, error) {
		found, err := p.found(ctx)
		if found > b.Found {
			b.Found, grown = found, time.Now()
		}
		return found >= b.Acknowledged || time.Since(grown) > lostAfter, err
	})
	if err != nil {
		return 0, err
	}
	took := time.Since(began)
	b.Unanswered = b.Sent - b.Acknowledged - b.Refused
	b.Lost = b.Acknowledged - min(b.Acknowledged, b.Found)
	b.Foreign = b.Found - min(b.Found, b.Acknowledged+b.Unanswered)
	p.trial.Account(*b)
	return took, nil
}

// lostAfter is after how long without a new reading in the store those that are not there count as lost.
const lostAfter = 20 * time.Second

// found counts the intervals that the node has readings of, in the days that were sent.
func (p *plant) found(ctx context.Context) (n uint64, err error) {
	for day := range metersim.Days {
		if day > 0 && p.used < int64(day*metersim.PerDay(p.interval)*p.meters) {
			break
		}
		m, err := client.Do(ctx, p.home().Client, metering.Missing, metering.Lacking{Day: p.from.AddDate(0, 0, day).Format(time.DateOnly), Limit: 1})
		if err != nil {
			return n, err
		}
		n += m.Received
	}
	return n, nil
}

// until looks again and again until what is looked for is there.
func until(ctx context.Context, there func() (bool, error)) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := there(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
