package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"voltbus/lab/experiment"
	"voltbus/lab/fleetsim"
)

// storm measures what happens when all clients connect at once.
func storm() experiment.Experiment {
	return experiment.Experiment{
		Name:     "mqtt-storm",
		Title:    "All clients lose their connections and connect again at once",
		Question: "How many clients a second does a broker let in, and how long do other clients wait meanwhile?",
		Method: []string{
			simulated,
			"Silent clients with sessions connect. Then all their connections are cut at once, and all connect again as fast as they can, up to 128 at the same time, each with a full TLS handshake unless resume is set. The figure is their number divided by the time until all are connected again.",
			"Meanwhile other clients publish ten messages a second each with QoS 1, which are recorded. Their response times in the storm are the distribution.",
		},
		Limits: []string{sharing, promises(), "The simulator does its half of each TLS handshake on the same processors: a broker alone lets in more."},
		Metric: experiment.Metric{Name: "clients that connect", Unit: "1/s", Axis: "clients", Higher: true},
		Settings: append(common("1"),
			experiment.Setting{Name: "clients", Default: "10000", Quick: "100", Doc: "that connect at once"},
			experiment.Setting{Name: "live", Default: "50", Quick: "5", Doc: "that publish meanwhile"},
			experiment.Setting{Name: "resume", Default: "false", Doc: "whether TLS sessions are resumed"},
			experiment.Setting{Name: "window", Default: "3s", Quick: "300ms", Doc: "before the storm"},
		),
		Run:   func(ctx context.Context, b *experiment.Bench) error { return runStorm(ctx, b, experiment.Own) },
		Peers: peersOf(runStorm),
	}
}

func runStorm(ctx context.Context, b *experiment.Bench, kind string) error {
	n := max(1, b.Int("clients"))
	c := experiment.Case{Name: fmt.Sprintf("%d clients", n), X: float64(n)}
	return b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) (err error) {
		alive := max(1, b.Int("live"))
		h, err := open(ctx, b, t, plan{devices: n + alive, kind: kind})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, h.close()) }()
		crowd, err := h.fleet(fleetsim.Fleet{Keep: true, QoS: 1, Resume: b.Flag("resume")}, alive, n)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, crowd.Stop()) }()
		f := fleetsim.Fleet{Keep: true, QoS: b.Int("qos"), Profiles: []fleetsim.Profile{{Octets: 200, Every: 100 * time.Millisecond}}, Patience: 1000}
		live, err := h.fleet(f, 0, alive)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, live.Stop()) }()
		return (&tempest{hub: h, crowd: crowd, live: live, n: n, alive: alive}).rage(ctx)
	})
}

// tempest is one trial of a storm.
type tempest struct {
	*hub
	crowd, live *fleetsim.Running
	n, alive    int // devices of both
}

func (s *tempest) rage(ctx context.Context) error {
	t, h, crowd, live, n := s.trial, s.hub, s.crowd, s.live, s.n
	if _, err := live.Connect(ctx, s.alive, 0, connecting); err != nil {
		return err
	}
	if _, err := crowd.Connect(ctx, n, 0, connecting); err != nil {
		return err
	}
	if err := live.Begin(ctx); err != nil {
		return err
	}
	before, err := h.watch(ctx, live, h.bench.Duration("window"))
	if err != nil {
		return err
	}
	if _, err := crowd.Look(ctx); err != nil {
		return err
	}
	if _, err := h.usage(); err != nil {
		return err
	}
	took, err := crowd.Storm(ctx, connecting)
	if err != nil {
		return err
	}
	in, err := live.Look(ctx)
	if err != nil {
		return err
	}
	u, err := h.usage()
	if err != nil {
		return err
	}
	crowded, err := crowd.Look(ctx)
	if err != nil {
		return err
	}
	h.tell(in)
	calm, response := fleetsim.Histogram(before.Response), fleetsim.Histogram(in.Response)
	t.Value(float64(n) / took.Seconds())
	t.Also("all connected again after", "s", took.Seconds())
	t.Also("response time before the storm, 99th percentile", "ms", calm.At(99).Seconds()*1e3)
	t.Also("response time in the storm, 99th percentile", "ms", response.At(99).Seconds()*1e3)
	t.Also("response time in the storm, the longest", "ms", response.Most().Seconds()*1e3)
	t.Also("processor of the broker per connection", "ms", 1000*u.CPU/float64(n))
	t.Also("processor of the simulator per connection", "ms", 1000*crowded.Processor/float64(n))
	t.Latency(response)
	t.Usage("broker", u)
	note(h, in, live)
	return settle(ctx, h, live, fleetsim.Together(before, in))
}
