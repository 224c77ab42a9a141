package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"voltbus/lab/experiment"
	"voltbus/lab/fleetsim"
	"voltbus/lab/machine"
	"voltbus/lab/peers"
	"voltbus/lab/rig"
)

// hub is a broker that serves fleets: a node, or that of another project.
type hub struct {
	bench *experiment.Bench
	trial *experiment.Trial
	dir   string
	file  string       // the configuration of a node
	node  *rig.Running // nil for a peer
	peer  *peers.FleetBroker
	quota *machine.Quota
	doors fleetsim.Doors
	meter *machine.Meter
	all   int  // devices that may connect
	old   bool // they speak MQTT 3.1.1
}

// plan is what a trial needs of a broker.
type plan struct {
	devices int    // that may connect
	live    bool   // nothing is recorded
	fixed   bool   // its addresses stay the same when it is started again
	kind    string // experiment.Own, mosquitto or aedes
}

// The brokers of others.
const (
	mosquitto = "Mosquitto"
	aedes     = "aedes"
)

// The names and secrets of simulated devices.
const (
	prefix = "device"
	secret = "only-for-simulated-devices" //nolint:gosec // it opens nothing
)

// open starts a broker that knows the devices of the plan.
func open(ctx context.Context, b *experiment.Bench, t *experiment.Trial, p plan) (h *hub, err error) {
	h = &hub{bench: b, trial: t, dir: t.Dir, all: p.devices}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	h.old = p.kind == aedes
	switch p.kind {
	case mosquitto:
		err = h.openPeer(ctx, peers.OpenMosquitto)
	case aedes:
		err = h.openPeer(ctx, peers.OpenAedes)
	default:
		err = h.openNode(ctx, p)
	}
	return h, err
}

// bind bounds the processor of the broker to so many cores.
func (h *hub) bind(cores float64) (err error) {
	if h.quota, err = machine.NewQuota(cores); err == nil {
		err = h.quota.Bind(h.process())
	}
	return err
}

func (h *hub) openPeer(ctx context.Context, start func(context.Context, string, map[string]string) (*peers.FleetBroker, error)) (err error) {
	passwords := make(map[string]string, h.all)
	for n := range h.all {
		passwords[fmt.Sprint(prefix, n)] = fleetsim.SecretOf(secret, n)
	}
	if h.peer, err = start(ctx, h.dir, passwords); err != nil {
		return err
	}
	h.doors, h.meter = fleetsim.Doors{Plain: h.peer.Plain, Secure: h.peer.Secure}, machine.NewMeter(h.peer.Process())
	return nil
}

func (h *hub) openNode(ctx context.Context, p plan) (err error) {
	site := fleetsim.Site{Clients: p.devices + 100, Live: p.live}
	if p.fixed {
		if site.Secure, err = freeAddress(); err != nil {
			return err
		}
	}
	dir := filepath.Join(h.dir, "node")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if h.file, err = site.Write(dir); err != nil {
		return err
	}
	if err := h.start(); err != nil {
		return err
	}
	return fleetsim.Provision(ctx, h.node, &fleetsim.Fleet{Prefix: prefix, Secret: secret}, p.devices)
}

// start starts the node, for the first time or again.
func (h *hub) start() (err error) {
	if h.node, err = rig.Open(h.bench.Program(), h.file); err != nil {
		return err
	}
	h.meter = machine.NewMeter(h.node.Process())
	h.doors, err = fleetsim.DoorsOf(h.node)
	return err
}

// freeAddress returns an address of loopback that nobody listens at.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed at once
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func (h *hub) process() int {
	if h.peer != nil {
		return h.peer.Process()
	}
	return h.node.Process()
}

// close ends the broker.
func (h *hub) close() error {
	var errs []error
	if h.node != nil {
		errs = append(errs, h.node.Close())
	}
	if h.peer != nil {
		errs = append(errs, h.peer.Close())
	}
	if h.quota != nil {
		errs = append(errs, h.quota.Remove())
	}
	return errors.Join(errs...)
}

// fleet opens a fleet of at most so many devices, from number first on, as the settings and the arguments say.
func (h *hub) fleet(f fleetsim.Fleet, first, devices int) (*fleetsim.Running, error) {
	f.Prefix, f.Secret, f.First, f.Old = prefix, secret, first, h.old
	if f.Topic == "" {
		f.Topic, f.Topics = "fleet/{n}/c{k}", max(1, f.Topics)
	}
	if f.Window == 0 {
		f.Window, f.Patience = 20, 100
	}
	f.Brokers = []string{h.doors.Plain}
	if h.bench.Flag("tls") {
		f.Brokers = []string{h.doors.Secure}
		if f.CA = h.ca(); f.Posters > 0 {
			f.HTTP = h.node.URL
		}
	}
	return fleetsim.Open(h.bench.Program(), f, devices)
}

func (h *hub) ca() string {
	if h.peer != nil {
		return h.peer.CA
	}
	return h.node.CA()
}

// usage returns what the broker used since the last call.
func (h *hub) usage() (machine.Usage, error) {
	u, err := h.meter.Usage()
	h.meter = machine.NewMeter(h.process())
	return u, err
}

// rows counts the values that the node has stored, and those that differ. It waits for what is on its way.
func (h *hub) rows(ctx context.Context) (rows, distinct uint64, err error) {
	if _, err := h.node.Settled(ctx); err != nil {
		return 0, 0, err
	}
	for _, q := range []struct {
		statement string
		n         *uint64
	}{
		{"SELECT count(*)::BIGINT FROM samples", &rows},
		{"SELECT count(*)::BIGINT FROM (SELECT DISTINCT point, value FROM samples)", &distinct},
	} {
		if err := h.node.Numbers(ctx, q.statement, 1, func(v int64) { *q.n = uint64(v) }); err != nil { //nolint:gosec // a count
			return 0, 0, err
		}
	}
	return rows, distinct, nil
}

// watch has a fleet publish for a time, and returns what it did. It tells each second how it goes.
func (h *hub) watch(ctx context.Context, r *fleetsim.Running, while time.Duration) (*fleetsim.Look, error) {
	sum := &fleetsim.Look{}
	for began := time.Now(); time.Since(began) < while; {
		if err := pause(ctx, min(time.Second, while-time.Since(began))); err != nil {
			return nil, err
		}
		l, err := r.Look(ctx)
		if err != nil {
			return nil, err
		}
		h.tell(l)
		sum = together(sum, l)
	}
	return sum, nil
}

// tell shows a look.
func (h *hub) tell(l *fleetsim.Look) {
	d := fleetsim.Histogram(l.Response, l.Posts, l.Delivery)
	n := l.Answered
	if n == 0 {
		n = l.Received
	}
	h.trial.Report(experiment.Progress{
		Rate: float64(n) / l.Seconds, P50: d.At(50).Seconds(), P99: d.At(99).Seconds(), Message: fmt.Sprintf("%d clients are connected", l.Connected),
	})
}

// together is one look after another.
func together(a, b *fleetsim.Look) *fleetsim.Look {
	seconds := a.Seconds + b.Seconds
	sum := fleetsim.Together(a, b)
	sum.Seconds, sum.Connected, sum.Memory = seconds, b.Connected, b.Memory
	return sum
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
