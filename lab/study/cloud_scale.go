package study

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"voltbus/lab/experiment"
	"voltbus/lab/machine"
	"voltbus/lab/rig"
)

// cloudScale repeats the experiment of synthetic buildings that forward into one central store.
func cloudScale() experiment.Experiment {
	e := experiment.Experiment{
		Name:     "cloud-scale",
		Title:    "Buildings of 500 devices forward into one central store",
		Question: "How long after a sample was taken in a building is it in the store of the centre, if 1 to 50 buildings send?",
		Source: "VOLTTRON Deployment and Scalability (PNNL-FY17, April 2017), Table B.1: collectors of 500 devices of 18 points, each forwarding to one central node with one connection to its database. " +
			"The table gives the seconds after which the first and the last batch were stored; 1 to 3 s count as not affected by scale there, and a building cost the central node 200 to 300 MB.",
		Method: []string{
			"Every building is a whole node in a process of its own, with simulated devices that are read each interval, spread over it; it keeps a log and no store. It is enrolled by provisioning, without a person, and sends over TLS to the centre, a node in a process of its own with the default store.",
			"The centre notes of every sample how long after its time the transaction that stored it was committed. After a warm-up these delays are counted through the window. The metric is the longest one; the shortest, the median and the 99th percentile stand beside it.",
			"Then the devices are read no more, and the accounts are closed: all that the buildings produced must be refused there or stored at the centre, once, by the ledgers of both and by a count of the rows.",
			"Memory of a collector at the centre is what the centre's resident memory grew by since before the first one joined, divided by their number: buffers and caches of the store are in it. Its parts stand below: what Go took, with what it has to spare; pages of the program's file, which the system takes back when it needs room; and the rest, which is the store's engine.",
		},
		Limits: []string{
			"All nodes share one machine and its clock: what is measured is the program and not a network, and the processor time of the collectors comes out of the same cores.",
			"The published text does not say how its batches were counted; the shortest and the longest delay of a sample are taken for the first and the last one.",
		},
		Metric: experiment.Metric{Name: "last stored after", Unit: "s", Axis: "buildings"},
		Settings: []experiment.Setting{
			{Name: "buildings", Default: "1,2,3,4,10,25,50", Quick: "1,3", Doc: "numbers of collectors, one case each"},
			{Name: "devices", Default: "500", Quick: "20", Doc: "devices of 18 points of a building"},
			{Name: "interval", Default: "1m", Quick: "1s", Doc: "between two reads of a device"},
			{Name: "spread", Default: "true", Doc: "whether the devices are read one after another through the interval, or all at once"},
			{Name: "warm-up", Default: "1m", Quick: "1s", Doc: "before the window"},
			{Name: "window", Default: "2m", Quick: "3s", Doc: "how long delays are counted"},
		},
		Run: runCloudScale,
	}
	for n, last := range map[int]float64{1: 9, 2: 25, 3: 45, 4: 60} {
		e.Published = append(e.Published, experiment.Published{
			Case: buildings(n), Figures: []experiment.Figure{{Label: "VOLTTRON, last batch (first: 1 s)", Value: last}},
		})
	}
	return e
}

func buildings(n int) experiment.Case {
	name := fmt.Sprintf("%d buildings", n)
	if n == 1 {
		name = "1 building"
	}
	return experiment.Case{Name: name, X: float64(n)}
}

var errNumbers = errors.New("is not a list of numbers of 1 or more; write such as 1,2,50")

func runCloudScale(ctx context.Context, b *experiment.Bench) error {
	for text := range strings.SplitSeq(b.Text("buildings"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return fmt.Errorf("setting buildings: %q %w", b.Text("buildings"), errNumbers)
		}
		err = b.Measure(ctx, buildings(n), func(ctx context.Context, t *experiment.Trial) error {
			return (&cloudTrial{bench: b, trial: t, buildings: n}).run(ctx)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// cloudTrial is one trial.
type cloudTrial struct {
	bench     *experiment.Bench
	trial     *experiment.Trial
	buildings int
	tree      tree
}

func (s *cloudTrial) run(ctx context.Context) (err error) {
	s.tree = tree{bench: s.bench, trial: s.trial}
	defer func() { err = errors.Join(err, s.tree.close()) }()
	centre, err := s.tree.plant(ctx, rig.Site{Name: "centre"})
	if err != nil {
		return err
	}
	if err := pause(ctx, time.Second); err != nil { // the start's garbage is not the collectors'
		return err
	}
	before, err := memoryOf(centre)
	if err != nil {
		return err
	}
	if err := s.join(ctx, centre); err != nil {
		return err
	}
	w, err := s.tree.watch(ctx, centre)
	if err != nil {
		return err
	}
	s.trial.Value(w.delays.Most().Seconds())
	w.record(s.trial)
	after := memory{all: float64(w.usage.Memory), file: float64(machine.FileMemory(centre.Process())), runtime: float64(w.taken)}
	s.trial.Also("processor of the centre per collector", "cores", w.usage.Cores()/float64(s.buildings))
	s.perCollector(before, after)
	s.collectors()
	return s.tree.audit(ctx)
}

// memory is what a process has of it, in bytes.
type memory struct{ all, file, runtime float64 }

// memoryOf returns what a node has of it now.
func memoryOf(n *rig.Running) (memory, error) {
	u, err := machine.NewMeter(n.Process()).Usage()
	if err != nil {
		return memory{}, err
	}
	d, err := n.Delays()
	return memory{all: float64(u.Memory), file: float64(machine.FileMemory(n.Process())), runtime: float64(d.Taken)}, err
}

// perCollector records what the centre's memory grew by, and which parts of it did.
func (s *cloudTrial) perCollector(before, after memory) {
	each := float64(s.buildings) * 1e6
	rest := func(m memory) float64 { return m.all - m.file - m.runtime }
	s.trial.Also("memory of the centre per collector", "MB", (after.all-before.all)/each)
	s.trial.Also("of it taken by Go", "MB", (after.runtime-before.runtime)/each)
	s.trial.Also("of it taken by the store's engine", "MB", (rest(after)-rest(before))/each)
	s.trial.Also("of it pages of the program's file", "MB", (after.file-before.file)/each)
	s.trial.Also("memory of the centre before", "MB", before.all/1e6)
}

// join starts the buildings and waits until the centre has something of each.
func (s *cloudTrial) join(ctx context.Context, centre *rig.Running) error {
	site := rig.Site{
		Devices: max(1, s.bench.Int("devices")), Points: backlogPoints, Interval: s.bench.Duration("interval"),
		NoStore: true, LogSize: "256MiB",
	}
	if s.bench.Flag("spread") {
		site.Stagger = site.Interval
	}
	for i := range s.buildings {
		name := fmt.Sprintf("building-%d", i+1)
		site.Seed = s.bench.Seed() + int64(1000*i)
		if _, err := s.tree.graft(ctx, centre, site, name, "cloud/"+name); err != nil {
			return err
		}
		s.trial.Report(experiment.Progress{Message: fmt.Sprintf("%d of %d buildings run", i+1, s.buildings)})
	}
	return s.tree.arrived(ctx, centre)
}

// collectors records what the buildings' processes used.
func (s *cloudTrial) collectors() {
	var memory, cores float64
	for _, m := range s.tree.meters[1:] {
		if u, err := m.Usage(); err == nil {
			memory += float64(u.Memory) / float64(s.buildings)
			cores += u.Cores() / float64(s.buildings)
		}
	}
	s.trial.Also("memory of a collector", "MB", memory/1e6)
	s.trial.Also("processor of a collector", "cores", cores)
}
