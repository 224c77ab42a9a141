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
		Title:    "A replica of the broker is killed, and its clients move to the others",
		Question: "How long are clients without service when their broker is killed, and what is lost?",
		Source:   source + " Fault test in three stages: one of two replicas is cut off by force, its clients move gradually, all are on the other one.",
		Method: []string{
			simulated,
			"Three stages: the clients are spread over the replicas; one of these is killed, as by a power cut, and its clients move to the others; all clients are served by those. Messages that are due while a client has no connection wait, and their response time runs from when they were due. With replicas=1 the only broker is killed and started again at once at the same addresses.",
			"The figure is the time from the kill until all clients are connected. Then the replica is started again. At the end every acknowledged message must be in the store of each replica.",
		},
		Limits: []string{sharing, "A killed process closes its connections, so clients notice at once. Those of a machine that loses its power notice when an answer is late."},
		Metric: experiment.Metric{Name: "time until all clients are back", Unit: "s", Axis: "clients"},
		Settings: append(common("1"),
			experiment.Setting{Name: "replicas", Default: "3", Doc: "of the broker: 3, or 1 that is started again"},
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
				h, err := open(ctx, b, t, plan{devices: n, kind: experiment.Own, fixed: true, replicas: b.Int("replicas")})
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
	killed, victim := time.Now(), h.members[0]
	if err := h.fell(ctx, victim); err != nil {
		return err
	}
	moving, took, err := h.gather(ctx, r, n, killed)
	if err != nil {
		return err
	}
	back, err := h.watch(ctx, r, h.bench.Duration("window"))
	if err != nil {
		return err
	}
	if err := h.mend(ctx, victim); err != nil {
		return err
	}
	h.trial.Value(took.Seconds())
	h.trial.Latency(fleetsim.Histogram(moving.Response))
	h.stages([]stage{{"all are served", served}, {"killed and reconnecting", moving}, {"all are connected again", back}})
	note(h, back, r)
	all := fleetsim.Together(fleetsim.Together(first, served), fleetsim.Together(moving, back))
	return settle(ctx, h, r, all)
}

// fell kills a member, and starts it again if there is no other one.
func (h *hub) fell(ctx context.Context, m *member) error {
	began := time.Now()
	if err := m.kill(); err != nil {
		return err
	}
	h.measure()
	if len(h.members) > 1 {
		return nil
	}
	err := h.start(ctx, m)
	h.trial.Also("broker back after", "s", time.Since(began).Seconds())
	return err
}

// mend starts a member that was killed, if it is not back yet.
func (h *hub) mend(ctx context.Context, m *member) error {
	if m.node != nil {
		return nil
	}
	began := time.Now()
	err := h.start(ctx, m)
	h.trial.Also("replica started again in", "s", time.Since(began).Seconds())
	return err
}

// stages adds a table of what happened in each stage of the first trial.
func (h *hub) stages(list []stage) {
	if h.trial.Repeat > 0 {
		return
	}
	table := experiment.Table{Title: "Response time in three stages", Head: []string{"stage", "messages answered", "mean, ms", "99th percentile, ms", "longest, ms"}}
	for _, s := range list {
		d := fleetsim.Histogram(s.Response)
		table.Rows = append(table.Rows, []string{
			s.name, strconv.FormatUint(s.Answered, 10), number(d.Summary().Mean * 1e3), number(d.At(99).Seconds() * 1e3), number(d.Most().Seconds() * 1e3),
		})
	}
	h.bench.Table(table)
}

// gather waits until so many clients are connected, and returns what happened until then.
func (h *hub) gather(ctx context.Context, r *fleetsim.Running, n int, since time.Time) (*fleetsim.Look, time.Duration, error) {
	sum := &fleetsim.Look{}
	for before := 0; ; {
		l, err := r.Look(ctx)
		if err != nil {
			return nil, 0, err
		}
		h.tell(l)
		sum = together(sum, l)
		if sum.Lost > 0 && l.Connected >= n && before >= n { // twice, as clients notice the loss one after the other
			return sum, time.Since(since), nil
		}
		before = l.Connected
		if time.Since(since) > connecting {
			return nil, 0, fmt.Errorf("only %d of %d clients are back after %s; the first trouble: %s", l.Connected, n, connecting, sum.First)
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return nil, 0, err
		}
	}
}
