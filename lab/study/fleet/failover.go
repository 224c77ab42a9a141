package fleet

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"voltbus/lab/experiment"
	"voltbus/lab/fleetsim"
)

// failover measures what clients notice when their broker is killed.
func failover() experiment.Experiment {
	return experiment.Experiment{
		Name:     "mqtt-failover",
		Title:    "The broker is killed, and its clients connect again",
		Question: "How long are clients without service when their broker is killed and started again, and what is lost?",
		Source:   source + " Fault test in three stages: one of two replicas is cut off by force, its clients move gradually, all are on the other one.",
		Method: []string{
			simulated,
			"Three stages: all clients are served; the broker's process is killed, as by a power cut, and started again at once at the same addresses, while its clients try to connect; all are back. Messages that are due while a client has no connection wait, and their response time runs from when they were due.",
			"The figure is the time from the kill until all clients are connected. At the end every acknowledged message must be in the store.",
		},
		Limits: []string{sharing, "It is one broker that comes back, and not another replica that takes over: the time includes its start."},
		Metric: experiment.Metric{Name: "time until all clients are back", Unit: "s", Axis: "clients"},
		Settings: append(common("1"),
			experiment.Setting{Name: "clients", Default: "5000", Quick: "100", Doc: "that publish"},
			experiment.Setting{Name: "topics", Default: "21", Quick: "2", Doc: "that each publishes to in turn"},
			experiment.Setting{Name: "connects", Default: "1500", Doc: "that connect a second, before the fault"},
			experiment.Setting{Name: "speed", Default: "1", Quick: "10", Doc: "how many times faster than published the profiles are"},
			experiment.Setting{Name: "window", Default: "10s", Quick: "500ms", Doc: "of the first and the last stage"},
		),
		Run: func(ctx context.Context, b *experiment.Bench) error {
			n := max(1, b.Int("clients"))
			c := experiment.Case{Name: fmt.Sprintf("%d clients", n), X: float64(n)}
			return b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) (err error) {
				h, err := open(ctx, b, t, plan{devices: n, kind: experiment.Own, fixed: true})
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, h.close()) }()
				f := fleetsim.Fleet{Profiles: profiles(b), QoS: b.Int("qos"), Topics: max(1, b.Int("topics")), Keep: true, Patience: 1000}
				r, err := h.fleet(f, 0, n)
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, r.Stop()) }()
				return fall(ctx, h, r, n)
			})
		},
	}
}

// stage is a part of a trial of a fail-over.
type stage struct {
	name string
	*fleetsim.Look
}

// fall is one trial.
func fall(ctx context.Context, h *hub, r *fleetsim.Running, n int) error {
	if _, err := r.Connect(ctx, n, float64(h.bench.Int("connects")), connecting); err != nil {
		return err
	}
	if err := r.Prime(ctx, connecting); err != nil {
		return err
	}
	first, err := r.Look(ctx)
	if err != nil {
		return err
	}
	if err := r.Begin(ctx); err != nil {
		return err
	}
	served, err := h.watch(ctx, r, h.bench.Duration("window"))
	if err != nil {
		return err
	}
	killed := time.Now()
	if err := h.node.Kill(); err != nil {
		return err
	}
	if err := h.start(); err != nil {
		return err
	}
	h.trial.Also("broker back after", "s", time.Since(killed).Seconds())
	moving, took, err := h.gather(ctx, r, n, killed)
	if err != nil {
		return err
	}
	back, err := h.watch(ctx, r, h.bench.Duration("window"))
	if err != nil {
		return err
	}
	h.trial.Value(took.Seconds())
	h.trial.Latency(fleetsim.Histogram(moving.Response))
	table := experiment.Table{Title: "Response time in three stages", Head: []string{"stage", "messages answered", "mean, ms", "99th percentile, ms", "longest, ms"}}
	for _, s := range []stage{{"all are served", served}, {"killed and reconnecting", moving}, {"all are back", back}} {
		d := fleetsim.Histogram(s.Response)
		table.Rows = append(table.Rows, []string{
			s.name, strconv.FormatUint(s.Answered, 10), number(d.Summary().Mean * 1e3), number(d.At(99).Seconds() * 1e3), number(d.Most().Seconds() * 1e3),
		})
	}
	if h.trial.Repeat == 0 {
		h.bench.Table(table)
	}
	note(h, back, r)
	all := fleetsim.Together(fleetsim.Together(first, served), fleetsim.Together(moving, back))
	return settle(ctx, h, r, all)
}

// gather waits until so many clients are connected, and returns what happened until then.
func (h *hub) gather(ctx context.Context, r *fleetsim.Running, n int, since time.Time) (*fleetsim.Look, time.Duration, error) {
	sum := &fleetsim.Look{}
	for {
		l, err := r.Look(ctx)
		if err != nil {
			return nil, 0, err
		}
		h.tell(l)
		if sum = together(sum, l); l.Connected >= n {
			return sum, time.Since(since), nil
		}
		if time.Since(since) > connecting {
			return nil, 0, fmt.Errorf("only %d of %d clients are back after %s; the first trouble: %s", l.Connected, n, connecting, sum.First)
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return nil, 0, err
		}
	}
}
