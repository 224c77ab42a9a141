package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/lab/experiment"
	"voltbus/lab/fleetsim"
	"voltbus/lab/machine"
)

// setup is one of the published experiments.
type setup struct {
	number, replicas int
	cores            float64 // of each
	machines         int
	clients          float64 // published: compared with those of the first
	response         float64 // published, in milliseconds
}

// all are the published experiments.
func all() []setup {
	return []setup{
		{1, 1, 0.2, 1, 1, 8.01},
		{2, 2, 0.2, 1, 2.14, 4.35},
		{3, 3, 0.2, 1, 3.23, 4.61},
		{4, 1, 0.4, 1, 2.9, 6.05},
		{5, 1, 0.6, 1, 6.8, 5.05},
		{6, 2, 0.2, 2, 2.16, 6.10},
		{7, 3, 0.2, 3, 3.04, 4.86},
	}
}

func (s *setup) kase() experiment.Case {
	return experiment.Case{Name: fmt.Sprintf("experiment %d: %d × %g CPU on %d", s.number, s.replicas, s.cores, s.machines), X: float64(s.number)}
}

// search looks for the most clients that are served in time.
func search(list []setup) experiment.Experiment {
	run := func(kind string) func(context.Context, *experiment.Bench) error {
		return func(ctx context.Context, b *experiment.Bench) error {
			chosen, err := chosen(b, list)
			if err != nil {
				return err
			}
			return runSearch(ctx, b, kind, chosen)
		}
	}
	e := experiment.Experiment{
		Name:     "mqtt-fleet",
		Title:    "How many clients brokers serve with a part of a processor each",
		Question: "How many clients do one, two and three replicas of a broker with bounded processors serve within a response time, and how fast?",
		Source:   source,
		Method: []string{
			simulated,
			"Before, each device connects once and publishes to each of its topics, so that the broker knows all points. Then each broker's process has a share of a core, by a control group (cgroup) with the period of 100 ms that container engines use. Clients are added step by step; each step is watched for a window. When the 95th percentile of the response time exceeds the limit in two windows, or messages remain unanswered, the step before is the most that are served. The figure is the mean response time there.",
			"Replicas share a log: what one acknowledges is on the disks of a majority, and each stores the readings of all. Clients are spread evenly over them. Two replicas have a third beside them that gives them a majority, with a share of its own and without store and clients. Several machines are network namespaces with addresses of their own, joined by a bridge.",
		},
		Limits: []string{
			sharing,
			"A process with a share of 0.2 that used it up stands still until its period of 100 ms is over; response times jump from milliseconds to tens of milliseconds there, and the number of clients depends on the bursts of the base load.",
			"The machines share the processors of one, which the shares bound. Each of our replicas records the messages of all; those of the document share a bus for live messages.",
			promises(),
			"The document does not say from which response time on a client was not served; the limit is a setting.",
		},
		Metric: experiment.Metric{Name: "mean response time at the most clients", Unit: "ms", Axis: "experiment"},
		Settings: append(common("0"),
			experiment.Setting{Name: "first", Default: "200", Quick: "20", Doc: "clients of the first step"},
			experiment.Setting{Name: "most", Default: "10000", Quick: "40", Doc: "clients at most"},
			experiment.Setting{Name: "introduced", Default: "1500", Doc: "devices that connect a second, before the bound"},
			experiment.Setting{Name: "step", Default: "20", Quick: "50", Doc: "percent by which each step is larger"},
			experiment.Setting{Name: "limit", Default: "50ms", Quick: "10s", Doc: "of the 95th percentile of the response time"},
			experiment.Setting{Name: "topics", Default: strconv.Itoa(fleetsim.PublishedTopics), Quick: "2", Doc: "that each publishes to in turn"},
			experiment.Setting{Name: "connects", Default: "200", Quick: "0", Doc: "that connect a second"},
			experiment.Setting{Name: "speed", Default: "1", Quick: "10", Doc: "how many times faster than published the profiles are"},
			experiment.Setting{Name: "window", Default: "5s", Quick: "500ms", Doc: "of a step"},
			experiment.Setting{Name: "bound", Default: "true", Doc: "whether processors are bounded; without it nothing is as published"},
			experiment.Setting{Name: "machines", Default: "true", Doc: "whether machines are network namespaces; without it all brokers are on one"},
			experiment.Setting{Name: "experiments", Default: "1,2,3,4,5,6,7", Doc: "those that are run"},
		),
		Run:   run(experiment.Own),
		Peers: peersOf(func(ctx context.Context, b *experiment.Bench, kind string) error { return run(kind)(ctx, b) }),
	}
	if len(list) == 1 {
		s := &list[0]
		e.Name = fmt.Sprint("mqtt-fleet-", s.number)
		e.Settings = e.Settings[:len(e.Settings)-1] // there is nothing to choose
		e.Title = fmt.Sprintf("How many clients brokers serve: experiment %d, %d × %g CPU on %d", s.number, s.replicas, s.cores, s.machines)
	}
	for _, s := range list {
		e.Published = append(e.Published, experiment.Published{Case: s.kase(), Figures: []experiment.Figure{{Label: published, Value: s.response}}})
	}
	return e
}

// chosen are the experiments that the settings name.
func chosen(b *experiment.Bench, list []setup) (some []setup, err error) {
	if len(list) == 1 {
		return list, nil
	}
	for text := range strings.SplitSeq(b.Text("experiments"), ",") {
		i := slices.IndexFunc(list, func(s setup) bool { return strconv.Itoa(s.number) == strings.TrimSpace(text) })
		if i < 0 {
			return nil, fault.E("fleet.search", fault.Invalid, "experiments", fmt.Errorf("there is no experiment %q; write some of 1 to %d, such as 1,3", text, len(list)))
		}
		some = append(some, list[i])
	}
	return some, nil
}

func runSearch(ctx context.Context, b *experiment.Bench, kind string, list []setup) error {
	table := experiment.Table{
		Title: "Clients that are served: " + kind, Head: []string{"experiment", "clients", "× experiment 1", "published ×", "mean response time, ms", "published, ms"},
	}
	course := experiment.Table{Title: "Mean response time over the number of clients: " + kind, Head: []string{"experiment", "clients", "mean, ms", "95th percentile, ms", "processor of the broker, cores"}}
	first := 0.0
	climbs := map[int][]step{}
	var missing []error
	for i := range list {
		s := &list[i]
		row := []string{strconv.Itoa(s.number), "–", "–", number(s.clients), "–", number(s.response)}
		if why := s.why(b, kind); why != nil {
			b.Note("Experiment %d is not measured: %v.", s.number, why)
			table.Rows = append(table.Rows, row)
			missing = append(missing, why)
			continue
		}
		err := b.Measure(ctx, s.kase(), func(ctx context.Context, t *experiment.Trial) error {
			steps, err := climb(ctx, b, t, s, kind)
			if t.Repeat == 0 {
				climbs[s.number] = steps
				for _, p := range steps {
					course.Rows = append(course.Rows, []string{strconv.Itoa(s.number), strconv.Itoa(p.clients), number(p.mean), number(p.p95), number(p.cores)})
				}
			}
			return err
		})
		if err != nil {
			return err
		}
		served := b.MedianOf(s.kase().Name, served)
		if first == 0 {
			first = served
		}
		row[1], row[4] = fmt.Sprintf("%.0f", served), number(b.Median(s.kase().Name))
		if first > 0 {
			row[2] = number(served / first)
		}
		table.Rows = append(table.Rows, row)
	}
	b.Table(table)
	b.Table(course)
	for _, p := range append(plots(kind, list, b.Measured()), courses(kind, list, climbs)) {
		b.Plot(p)
	}
	if len(missing) == len(list) {
		return errors.Join(missing...)
	}
	return nil
}

// why says why a set-up cannot be measured here, nil if it can.
func (s *setup) why(b *experiment.Bench, kind string) error {
	if kind != experiment.Own && s.replicas > 1 {
		return fmt.Errorf("%s is one broker, without replicas", kind)
	}
	if b.Flag("bound") {
		q, err := machine.NewQuota(1)
		if err != nil {
			return fmt.Errorf("%w; or set bound=false", err)
		}
		if err := q.Remove(); err != nil {
			return err
		}
	}
	if s.machines == 1 || !b.Flag("machines") {
		return nil
	}
	n, err := machine.NewNetwork(1)
	if err != nil {
		return fmt.Errorf("%w; or set machines=false", err)
	}
	return n.Remove()
}

// The figures beside the metric.
const (
	served     = "clients served"
	percentile = "95th percentile of the response time there"
)

func number(v float64) string { return experiment.Round(v) }

// step is what so many clients found.
type step struct {
	clients          int
	mean, p95, cores float64
}

// climb adds clients until they are not served in time.
func climb(ctx context.Context, b *experiment.Bench, t *experiment.Trial, s *setup, kind string) (steps []step, err error) {
	most := max(1, b.Int("most"))
	h, err := open(ctx, b, t, plan{devices: most, kind: kind, replicas: s.replicas, apart: s.machines > 1 && b.Flag("machines")})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	f := fleetsim.Fleet{Profiles: profiles(b), QoS: b.Int("qos"), Topics: max(1, b.Int("topics"))}
	if err := h.introduce(ctx, f, most); err != nil {
		return nil, err
	}
	if b.Flag("bound") {
		if err := h.bind(s.cores); err != nil {
			return nil, err
		}
	}
	r, err := h.fleet(f, 0, most)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Stop()) }()
	c := &climber{hub: h, fleet: r}
	for n := max(1, b.Int("first")); ; n = min(most, n+max(1, n*b.Int("step")/100)) {
		good, err := c.step(ctx, n)
		if err != nil {
			return c.steps, err
		}
		if !good || n >= most {
			break
		}
	}
	return c.steps, c.conclude()
}

// conclude records the most clients that were served in time: none, if the first step was too much already.
func (c *climber) conclude() error {
	t, b := c.trial, c.bench
	if len(c.steps) == 0 {
		return fmt.Errorf("not even %d clients can connect; set first to less", b.Int("first"))
	}
	if c.best == nil {
		first := c.steps[0]
		b.Note("%d clients, those of the first step, are not served within %s; the response time is theirs. Set first to less, or limit to more.", first.clients, b.Duration("limit"))
		t.Value(first.mean)
		t.Also(served, "clients", 0)
		t.Also(percentile, "ms", first.p95)
		return nil
	}
	t.Value(c.last.mean)
	t.Also(served, "clients", float64(c.last.clients))
	t.Also(percentile, "ms", c.last.p95)
	t.Latency(fleetsim.Histogram(c.best.Response))
	note(c.hub, c.best, c.fleet)
	return nil
}

// introduce has all devices connect and publish to each topic once, and leave, so that the broker knows their points.
func (h *hub) introduce(ctx context.Context, f fleetsim.Fleet, n int) (err error) {
	f.QoS = 1
	r, err := h.fleet(f, 0, n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Stop()) }()
	if _, err := r.Connect(ctx, n, float64(h.bench.Int("introduced")), connecting); err != nil {
		return err
	}
	if err := r.Prime(ctx, connecting); err != nil || h.node() == nil {
		return err
	}
	_, _, err = h.rows(ctx, uint64(n*f.Topics)) //nolint:gosec // few
	return err
}

// climber is a search under way.
type climber struct {
	*hub
	fleet *fleetsim.Running
	steps []step
	last  step           // the last good one
	best  *fleetsim.Look // of it
}

// step reports whether so many clients are served in time.
func (c *climber) step(ctx context.Context, n int) (good bool, err error) {
	if _, err := c.fleet.Connect(ctx, n, float64(c.bench.Int("connects")), connecting); err != nil {
		c.bench.Note("%d clients could not connect: %v", n, err)
		return false, ctx.Err()
	}
	if err := c.fleet.Begin(ctx); err != nil {
		return false, err
	}
	for range 2 {
		if _, err := c.watch(ctx, c.fleet, c.bench.Duration("window")/5); err != nil { // connecting does not count
			return false, err
		}
		if _, err := c.usage(); err != nil {
			return false, err
		}
		l, err := c.watch(ctx, c.fleet, c.bench.Duration("window"))
		if err != nil {
			return false, err
		}
		u, err := c.usage()
		if err != nil {
			return false, err
		}
		h := fleetsim.Histogram(l.Response)
		s := step{clients: n, mean: h.Summary().Mean * 1e3, p95: h.At(95).Seconds() * 1e3, cores: u.Cores()}
		c.steps = append(c.steps, s)
		if s.p95 <= float64(c.bench.Duration("limit"))/float64(time.Millisecond) && l.Answered > 0 && l.Skipped == 0 && l.Lost == 0 {
			c.last, c.best = s, l
			return true, nil
		}
	}
	return false, nil
}
