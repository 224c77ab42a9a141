package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"voltbus/lab/experiment"
	"voltbus/lab/fleetsim"
)

// scenario is one of the public benchmarks of brokers: publishers and subscribers.
type scenario struct {
	name, title, shape string
	topic, filter      string  // of publishers and subscribers, see fleetsim.Fleet
	published          float64 // 99th percentile, ms
	publishers         experiment.Setting
	subscribers        experiment.Setting
	every              experiment.Setting
	qos                string
}

// record says where the published figures of the scenarios come from.
const record = "EMQX's open MQTT benchmark suite, results of 2023: EMQX on one machine of 16 cores with 32 GB"

func pairs() experiment.Experiment {
	return scenario{
		name: "mqtt-p2p", title: "Each publisher has a subscriber of its own", qos: "1", topic: "p2p/{n}", filter: "p2p/{n}", published: 18,
		shape:       "p2p-50K: 50,000 publishers send a message a second each to as many subscribers, with QoS 1. Here there are fewer of both, which send faster.",
		publishers:  experiment.Setting{Name: "publishers", Default: "1000", Quick: "20", Doc: "that publish; for p2p as many as subscribers"},
		subscribers: experiment.Setting{Name: "subscribers", Default: "1000", Quick: "20", Doc: "that receive"},
		every:       experiment.Setting{Name: "every", Default: "100ms", Quick: "100ms", Doc: "a publisher sends a message"},
	}.experiment()
}

func fanIn() experiment.Experiment {
	return scenario{
		name: "mqtt-fan-in", title: "Many publishers and a few subscribers that share the messages", qos: "1", topic: "in/{n}", filter: "$share/sink/in/#", published: 19,
		shape:       "sharedsub-50K: 50,000 publishers send a message a second each; 500 subscribers share one subscription, with QoS 1. Here there are fewer of both.",
		publishers:  experiment.Setting{Name: "publishers", Default: "1000", Quick: "20", Doc: "that publish"},
		subscribers: experiment.Setting{Name: "subscribers", Default: "10", Quick: "3", Doc: "that share one subscription"},
		every:       experiment.Setting{Name: "every", Default: "100ms", Quick: "100ms", Doc: "a publisher sends a message"},
	}.experiment()
}

func fanOut() experiment.Experiment {
	return scenario{
		name: "mqtt-fan-out", title: "A few publishers and a thousand subscribers of all messages", qos: "0", topic: "out/{n}", filter: "out/#", published: 4,
		shape:       "fanout-5-1000: 5 publishers send 50 messages a second each to 1,000 subscribers: 250,000 deliveries a second. Here there are fewer messages by default, as the subscribers share the processors.",
		publishers:  experiment.Setting{Name: "publishers", Default: "5", Quick: "2", Doc: "that publish"},
		subscribers: experiment.Setting{Name: "subscribers", Default: "1000", Quick: "20", Doc: "that receive all messages"},
		every:       experiment.Setting{Name: "every", Default: "50ms", Quick: "50ms", Doc: "a publisher sends a message"},
	}.experiment()
}

func (s scenario) experiment() experiment.Experiment {
	others := peersOf(s.run)
	if s.name == "mqtt-fan-in" {
		others = slices.DeleteFunc(others, func(p experiment.Peer) bool { return peer(p.Name).Alone })
	}
	return experiment.Experiment{
		Name: s.name, Title: s.title,
		Question: "How long does a message take from a publisher to its subscribers?",
		Source:   record + ". " + s.shape,
		Method: []string{
			"Publishers and subscribers are in two processes on the machine of the broker, which is a whole node in a process of its own. No template takes the messages: they are delivered, and not recorded.",
			"A message carries the time at which it was due. The figure is the 99th percentile of the time from then to its receipt by a subscriber, in the window.",
		},
		Limits: []string{sharing, promises(), "The published figure is of a machine with eight times the cores, and of more clients; it is context."},
		Metric: experiment.Metric{Name: "delivery, 99th percentile", Unit: "ms", Axis: "deliveries due a second"},
		Settings: []experiment.Setting{
			{Name: "tls", Default: "false", Doc: "whether connections are encrypted"},
			{Name: "qos", Default: s.qos, Doc: "of messages and subscriptions: 0, 1 or 2"},
			s.publishers, s.subscribers, s.every,
			{Name: "octets", Default: "256", Doc: "bytes of a payload"},
			{Name: "warm-up", Default: "2s", Quick: "200ms", Doc: "published but not measured"},
			{Name: "window", Default: "10s", Quick: "600ms", Doc: "that is measured"},
		},
		Published: []experiment.Published{{
			Case: experiment.Case{Name: "as published", X: 50_000}, Figures: []experiment.Figure{{Label: "EMQX, 16 cores", Value: s.published}},
		}},
		Run:   func(ctx context.Context, b *experiment.Bench) error { return s.run(ctx, b, experiment.Own) },
		Peers: others,
	}
}

// copies is how many deliveries a message causes.
func (s scenario) copies(subscribers int) int {
	if s.name == "mqtt-fan-out" {
		return subscribers
	}
	return 1
}

func (s scenario) run(ctx context.Context, b *experiment.Bench, kind string) error {
	publishers, subscribers := max(1, b.Int("publishers")), max(1, b.Int("subscribers"))
	if s.name == "mqtt-p2p" {
		subscribers = publishers
	}
	rate := float64(publishers*s.copies(subscribers)) / b.Duration("every").Seconds()
	c := experiment.Case{Name: fmt.Sprintf("%d publishers, %d subscribers, %.0f deliveries/s", publishers, subscribers, rate), X: rate}
	return b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) (err error) {
		h, err := open(ctx, b, t, plan{devices: 2*max(publishers, subscribers) + 1, kind: kind, live: true})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, h.close()) }()
		to, err := h.fleet(fleetsim.Fleet{Filter: s.filter, QoS: b.Int("qos"), Offset: -publishers}, publishers, subscribers)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, to.Stop()) }()
		f := fleetsim.Fleet{
			Topic: s.topic, Topics: 1, QoS: b.Int("qos"), Profiles: []fleetsim.Profile{{Octets: b.Int("octets"), Every: b.Duration("every")}},
		}
		from, err := h.fleet(f, 0, publishers)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, from.Stop()) }()
		return s.measure(ctx, h, from, to)
	})
}

// measure is one trial.
func (s scenario) measure(ctx context.Context, h *hub, from, to *fleetsim.Running) error {
	t, b := h.trial, h.bench
	publishers, subscribers := max(1, b.Int("publishers")), max(1, b.Int("subscribers"))
	if s.name == "mqtt-p2p" {
		subscribers = publishers
	}
	if _, err := to.Connect(ctx, subscribers, 0, connecting); err != nil {
		return err
	}
	if _, err := from.Connect(ctx, publishers, 0, connecting); err != nil {
		return err
	}
	if err := from.Begin(ctx); err != nil {
		return err
	}
	sent, err := h.watch(ctx, from, b.Duration("warm-up"))
	if err != nil {
		return err
	}
	early, err := to.Look(ctx)
	if err != nil {
		return err
	}
	if _, err := h.usage(); err != nil {
		return err
	}
	l, err := h.watch(ctx, to, b.Duration("window"))
	if err != nil {
		return err
	}
	u, err := h.usage()
	if err != nil {
		return err
	}
	d := fleetsim.Histogram(l.Delivery)
	t.Value(d.At(99).Seconds() * 1e3)
	t.Also("deliveries", "1/s", float64(l.Received)/l.Seconds)
	t.Also("processor of the broker", "cores", u.Cores())
	t.Also("processor of the subscribers", "cores", l.Cores())
	t.Latency(d)
	t.Usage("broker", u)
	return s.settle(ctx, h, end{from, sent}, end{to, fleetsim.Together(early, l)})
}

// end is one end of the messages' way, and what it did.
type end struct {
	*fleetsim.Running
	so *fleetsim.Look
}

// settle waits for what is on its way, and says what did not arrive.
func (s scenario) settle(ctx context.Context, h *hub, from, to end) error {
	if err := from.Hush(ctx, connecting); err != nil {
		return err
	}
	l, err := from.Look(ctx)
	if err != nil {
		return err
	}
	from.so = fleetsim.Together(from.so, l)
	note(h, l, from.Running)
	due := from.so.Published * uint64(s.copies(to.Devices())) //nolint:gosec // few
	for began := time.Now(); to.so.Received < due && time.Since(began) < 5*time.Second; {
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
		if l, err = to.Look(ctx); err != nil {
			return err
		}
		to.so = fleetsim.Together(to.so, l)
	}
	h.trial.Also("deliveries that are missing", "messages", float64(due)-float64(to.so.Received))
	return nil
}
