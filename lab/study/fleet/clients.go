package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"voltbus/lab/account"
	"voltbus/lab/experiment"
	"voltbus/lab/fleetsim"
)

// clients measures many clients with the published profiles.
func clients() experiment.Experiment {
	return experiment.Experiment{
		Name:     "mqtt-clients",
		Title:    "Ten thousand MQTT clients publish with three profiles",
		Question: "How fast are messages answered that are recorded, and what does a client cost the broker?",
		Method: []string{
			simulated,
			"Memory of a client is what the resident memory of the broker grew by while all connected, without messages, divided by their number. Then each device publishes once to each of its topics, so that their points are known; and then with the three profiles, 200 bytes each 2 s, 500 bytes each 10 s and 700 bytes each 60 s, all at once. The figure is the 99th percentile of the response time in the window.",
			"At the end the rows of the store are compared with what was acknowledged.",
		},
		Limits: []string{sharing, promises(), "Half of what the garbage collector of Go leaves is in the memory of a client: the broker had no time to return it."},
		Metric: experiment.Metric{Name: "response time, 99th percentile", Unit: "ms", Axis: "clients"},
		Settings: append(common("1"),
			experiment.Setting{Name: "clients", Default: "10000", Quick: "300", Doc: "that connect"},
			experiment.Setting{Name: "topics", Default: "21", Quick: "3", Doc: "that each publishes to in turn"},
			experiment.Setting{Name: "connects", Default: "1500", Doc: "that connect a second"},
			experiment.Setting{Name: "http", Default: "0", Quick: "5", Doc: "devices beside them that publish over HTTP"},
			experiment.Setting{Name: "speed", Default: "1", Quick: "10", Doc: "how many times faster than published the profiles are"},
			experiment.Setting{Name: "rest", Default: "3s", Quick: "100ms", Doc: "after connecting, before memory is measured"},
			experiment.Setting{Name: "warm-up", Default: "5s", Quick: "300ms", Doc: "published but not measured"},
			experiment.Setting{Name: "window", Default: "30s", Quick: "1s", Doc: "that is measured"},
		),
		Run:   func(ctx context.Context, b *experiment.Bench) error { return runClients(ctx, b, experiment.Own) },
		Peers: peersOf(runClients),
	}
}

// profiles are the published ones, so many times faster as the setting says.
func profiles(b *experiment.Bench) []fleetsim.Profile {
	list := fleetsim.Published()
	for i := range list {
		list[i].Every /= time.Duration(max(1, b.Int("speed")))
	}
	return list
}

func runClients(ctx context.Context, b *experiment.Bench, kind string) error {
	n := max(1, b.Int("clients"))
	c := experiment.Case{Name: fmt.Sprintf("%d clients", n), X: float64(n)}
	return b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) (err error) {
		posters := b.Int("http")
		if kind != experiment.Own {
			posters = 0
		}
		h, err := open(ctx, b, t, plan{devices: n + posters, kind: kind})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, h.close()) }()
		f := fleetsim.Fleet{Profiles: profiles(b), QoS: b.Int("qos"), Topics: max(1, b.Int("topics")), Keep: true, Posters: posters}
		r, err := h.fleet(f, 0, n)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.Stop()) }()
		return serve(ctx, h, r, n)
	})
}

// connecting is how long a fleet may take to connect, or to be answered.
const connecting = 3 * time.Minute

// serve is one trial of clients.
func serve(ctx context.Context, h *hub, r *fleetsim.Running, n int) error {
	t, b := h.trial, h.bench
	if err := pause(ctx, b.Duration("rest")); err != nil {
		return err
	}
	before, err := h.usage()
	if err != nil {
		return err
	}
	took, err := r.Connect(ctx, n, float64(b.Int("connects")), connecting)
	if err != nil {
		return err
	}
	if err := pause(ctx, b.Duration("rest")); err != nil {
		return err
	}
	after, err := h.usage()
	if err != nil {
		return err
	}
	t.Also("connected after", "s", took.Seconds())
	t.Also("memory of the broker per client", "kB", max(0, float64(after.Memory)-float64(before.Memory))/float64(n)/1e3)
	t.Also("processor of the broker per connection", "ms", 1000*after.CPU/float64(n))
	if err := r.Prime(ctx, connecting); err != nil {
		return err
	}
	if err := r.Begin(ctx); err != nil {
		return err
	}
	primed, err := h.watch(ctx, r, b.Duration("warm-up"))
	if err != nil {
		return err
	}
	if _, err := h.usage(); err != nil {
		return err
	}
	l, err := h.watch(ctx, r, b.Duration("window"))
	if err != nil {
		return err
	}
	u, err := h.usage()
	if err != nil {
		return err
	}
	response := fleetsim.Histogram(l.Response)
	t.Value(float64(response.At(99).Microseconds()) / 1e3)
	t.Also("answered", "messages/s", float64(l.Answered)/l.Seconds)
	t.Also("processor of the broker", "cores", u.Cores())
	t.Also("memory of the broker", "MB", float64(u.Memory)/1e6)
	if posts := fleetsim.Histogram(l.Posts); posts.Count() > 0 {
		t.Also("response time over HTTP, 99th percentile", "ms", float64(posts.At(99).Microseconds())/1e3)
	}
	t.Latency(response)
	t.Usage("broker", u)
	note(h, l, r)
	return settle(ctx, h, r, fleetsim.Together(primed, l))
}

// settle has the devices publish no more, and closes the account.
func settle(ctx context.Context, h *hub, r *fleetsim.Running, so *fleetsim.Look) error {
	if err := r.Hush(ctx, connecting); err != nil {
		return err
	}
	rest, err := r.Look(ctx)
	if err != nil {
		return err
	}
	sum := fleetsim.Together(so, rest)
	a := account.Balance{Sent: sum.Published, Acknowledged: sum.Answered, Refused: sum.Refused}
	a.Unanswered = a.Sent - min(a.Sent, a.Acknowledged+a.Refused)
	if h.node() == nil || h.bench.Int("qos") == 0 {
		a.Found = a.Acknowledged // nobody promised that it is on disk
		if h.node() == nil {
			return nil
		}
	}
	rows, distinct, err := h.rows(ctx, a.Acknowledged)
	if err != nil {
		return err
	}
	if h.bench.Int("qos") > 0 {
		a.Found = min(distinct, a.Acknowledged)
		a.Lost, a.Foreign = a.Acknowledged-a.Found, distinct-min(distinct, a.Sent)
	}
	h.trial.Also("recorded twice, as an answer was lost", "messages", float64(rows-distinct))
	h.trial.Account(a)
	return nil
}
