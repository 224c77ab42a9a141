package study

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"voltbus/fault"
	"voltbus/lab/account"
	"voltbus/lab/experiment"
	"voltbus/lab/load"
	"voltbus/lab/machine"
	"voltbus/lab/rig"
)

// tree is nodes that report to each other, each in a process of its own. The last of their way is
// the first node.
type tree struct {
	bench   *experiment.Bench
	trial   *experiment.Trial
	nodes   []*rig.Running
	meters  []*machine.Meter
	names   []string
	sources []string // of the nodes that read devices
}

// plant starts the node where everything arrives.
func (t *tree) plant(ctx context.Context, site rig.Site) (*rig.Running, error) {
	site.Bus = true
	file, err := site.Write(t.trial.Dir)
	if err != nil {
		return nil, err
	}
	n, err := rig.Station{Config: file, Apart: apart}.Open(ctx, t.bench.Program())
	if err != nil {
		return nil, err
	}
	t.add(n, site.Name)
	return n, nil
}

// apart is the node whose samples stations count apart from the others.
const apart = "returning"

func (t *tree) add(n *rig.Running, name string) {
	t.nodes, t.names, t.meters = append(t.nodes, n), append(t.names, name), append(t.meters, machine.NewMeter(n.Process()))
}

// graft starts a child of another node, which takes its points below prefix.
func (t *tree) graft(ctx context.Context, parent *rig.Running, site rig.Site, name, prefix string) (*rig.Running, error) {
	place, err := parent.Provision(ctx, filepath.Join(t.trial.Dir, "bundles"), name, prefix, "")
	if err != nil {
		return nil, err
	}
	n, err := site.Below(ctx, t.bench.Program(), place)
	if err != nil {
		return nil, err
	}
	t.add(n, name)
	if site.Devices > 0 {
		t.sources = append(t.sources, name)
	}
	return n, nil
}

// close ends the nodes, those at the leaves first.
func (t *tree) close() error {
	last := slices.Clone(t.nodes)
	slices.Reverse(last)
	return rig.Ended(last)
}

// every is the interval of checks of what runs by the wall clock.
const every = 100 * time.Millisecond

// until repeats a check until it succeeds.
func until(ctx context.Context, there func() (bool, error)) error {
	for began := time.Now(); time.Since(began) < longestWait; {
		if ok, err := there(); ok || err != nil {
			return err
		}
		if err := pause(ctx, every); err != nil {
			return err
		}
	}
	return fault.E("study.until", fault.Timeout, "", fmt.Errorf("the nodes had not all that was waited for after %s", longestWait))
}

// longestWait is how long nodes may take to have what is waited for.
const longestWait = 10 * time.Minute

// arrived waits until a node has stored something of each node that reads devices.
func (t *tree) arrived(ctx context.Context, at *rig.Running) error {
	return until(ctx, func() (bool, error) {
		accounts, err := at.Accounts(ctx)
		if err != nil {
			return false, err
		}
		for _, name := range t.sources {
			if accounts[name].Stored == 0 {
				return false, nil
			}
		}
		return true, nil
	})
}

// watched is what a node did through a window.
type watched struct {
	delays *load.Histogram
	apart  uint64
	heap   uint64 // of Go, in use
	taken  uint64 // of Go, with what it has to spare
	meter  *machine.Meter
	usage  machine.Usage
	began  time.Time
	took   time.Duration
}

// watch counts the delays at a node through the window, after the warm-up.
func (t *tree) watch(ctx context.Context, at *rig.Running) (*watched, error) {
	if err := pause(ctx, t.bench.Duration("warm-up")); err != nil {
		return nil, err
	}
	w, err := t.begin(at)
	if err != nil {
		return nil, err
	}
	for w.took < t.bench.Duration("window") || w.delays.Count() == 0 {
		if err := pause(ctx, min(time.Second, max(every, t.bench.Duration("window")-w.took))); err != nil {
			return nil, err
		}
		if err := w.look(t.trial, at); err != nil {
			return nil, err
		}
	}
	w.usage, err = w.meter.Usage()
	return w, err
}

// begin begins to count the delays at a node.
func (t *tree) begin(at *rig.Running) (*watched, error) {
	_, err := at.Delays() // what was before does not count
	return &watched{delays: load.NewHistogram(), meter: machine.NewMeter(at.Process()), began: time.Now()}, err
}

// look adds what was stored since the look before.
func (w *watched) look(t *experiment.Trial, at *rig.Running) error {
	d, err := at.Delays()
	if err != nil {
		return err
	}
	before := w.took
	w.took = time.Since(w.began)
	w.add(t, &d, w.took-before)
	return nil
}

// add adds what was stored in a while.
func (w *watched) add(t *experiment.Trial, d *rig.Delays, while time.Duration) {
	h := load.NewHistogram()
	h.AddBars(d.Bars)
	w.delays.Merge(h)
	w.apart += d.Apart
	w.heap, w.taken = d.Heap, d.Taken
	t.Report(experiment.Progress{
		Rate: float64(h.Count()+d.Apart) / while.Seconds(), P50: h.At(50).Seconds(), P99: h.At(99).Seconds(),
		Message: fmt.Sprintf("longest delay %s", w.delays.Most().Round(time.Millisecond)),
	})
}

// record records what was watched.
func (w *watched) record(t *experiment.Trial) {
	t.Also("first stored after", "s", w.delays.Least().Seconds())
	t.Also("median", "s", w.delays.At(50).Seconds())
	t.Also("p99", "s", w.delays.At(99).Seconds())
	t.Also("last stored after", "s", w.delays.Most().Seconds())
	t.Also("stored", "samples/s", float64(w.delays.Count())/w.took.Seconds())
	t.Also("processor of the centre", "cores", w.usage.Cores())
	t.Also("memory of the centre", "MB", float64(w.usage.Memory)/1e6)
	t.Also("of it in use by Go", "MB", float64(w.heap)/1e6)
	t.Latency(w.delays)
	t.Usage("centre", w.usage)
}

// audit has the devices read no more, waits until all that was produced has arrived in the store of
// the first node, and closes the account.
func (t *tree) audit(ctx context.Context) error {
	for _, n := range t.nodes[1:] {
		if err := n.Hush(); err != nil {
			return err
		}
	}
	var books books
	err := until(ctx, func() (_ bool, err error) {
		books, err = t.balance(ctx)
		return books.settled, err
	})
	if err != nil {
		return err
	}
	for _, g := range books.gaps {
		t.bench.Note("%s", g)
	}
	return t.rows(ctx, books.balance)
}

// rows counts the rows of the first node and closes the account.
func (t *tree) rows(ctx context.Context, balance account.Balance) error {
	rows := uint64(0)
	if err := t.nodes[0].Numbers(ctx, "SELECT count(*)::BIGINT FROM samples", 1, func(v int64) { rows = uint64(v) }); err != nil {
		return err
	}
	balance.Found = min(rows, balance.Acknowledged)
	balance.Lost, balance.Repeated = balance.Acknowledged-balance.Found, rows-balance.Found
	t.trial.Account(balance)
	return nil
}

// books are the accounts of all nodes.
type books struct {
	balance account.Balance
	gaps    []string // what does not balance at the first node, in sentences
	settled bool     // nothing is under way
}

// balance compares what the nodes that read devices say with what the first node has stored.
func (t *tree) balance(ctx context.Context) (s books, err error) {
	accounts, err := t.nodes[0].Accounts(ctx)
	if err != nil {
		return s, err
	}
	s.settled = true
	b := &s.balance
	for i, n := range t.nodes[1:] {
		mine, err := n.Accounts(ctx)
		if err != nil {
			return s, err
		}
		own, there := mine[t.names[i+1]], accounts[t.names[i+1]]
		b.Sent += own.Produced
		b.Acknowledged += own.Acknowledged
		b.Refused += own.Refused
		if own.Produced != own.Acknowledged+own.Refused || there.Acknowledged != own.Acknowledged || there.BacklogSamples > 0 {
			s.settled = false
		}
		if there.Missing > 0 || (!there.Balanced && there.Acknowledged > 0) {
			s.gaps = append(s.gaps, fmt.Sprintf("The ledger of the centre does not balance for %s: %d missing of %d.", t.names[i+1], there.Missing, there.Acknowledged))
		}
	}
	return s, nil
}
