package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"voltbus/lab/experiment"
	"voltbus/lab/fleetsim"
	"voltbus/lab/machine"
	"voltbus/lab/peers"
)

// hub is a broker that serves fleets: a node, replicas, or that of another project.
type hub struct {
	bench   *experiment.Bench
	trial   *experiment.Trial
	dir     string
	members []*member // none for a peer
	network *machine.Network
	peer    *peers.FleetBroker
	quotas  []*machine.Quota
	meters  map[int]*machine.Meter // by process
	all     int                    // devices that may connect
	old     bool                   // they speak MQTT 3.1.1
}

// plan is what a trial needs of a broker.
type plan struct {
	devices int    // that may connect
	live    bool   // nothing is recorded
	fixed   bool   // its addresses stay the same when it is started again
	kind    string // experiment.Own, or the name of a peer

	replicas int  // 0 or 1 for a node alone
	apart    bool // each replica is at a machine of its own
}

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
	if p.kind == experiment.Own {
		return h, h.openNodes(ctx, p)
	}
	return h, h.openPeer(ctx, peer(p.kind))
}

// bind bounds the processor of each process of the broker to so many cores.
func (h *hub) bind(cores float64) error {
	for _, process := range h.processes() {
		q, err := machine.NewQuota(cores)
		if err != nil {
			return err
		}
		h.quotas = append(h.quotas, q)
		if err := q.Bind(process); err != nil {
			return err
		}
	}
	return nil
}

func (h *hub) openPeer(ctx context.Context, p *peers.Fleet) (err error) {
	h.old = p.Old
	passwords := make(map[string]string, h.all)
	for n := range h.all {
		passwords[fmt.Sprint(prefix, n)] = fleetsim.SecretOf(secret, n)
	}
	if h.peer, err = p.Open(ctx, h.dir, passwords); err != nil {
		return err
	}
	h.measure()
	return nil
}

// processes are those of the broker that run.
func (h *hub) processes() (list []int) {
	if h.peer != nil {
		return []int{h.peer.Process()}
	}
	for _, m := range h.members {
		if m.node != nil {
			list = append(list, m.node.Process())
		}
	}
	return list
}

// close ends the broker. Replicas are killed: what they hold goes with the trial, and the last ones would wait for a majority
// that is gone.
func (h *hub) close() error {
	var errs []error
	for _, q := range h.quotas {
		errs = append(errs, q.Lift())
	}
	for _, m := range h.members {
		errs = append(errs, m.close(len(h.members) > 1))
	}
	if h.peer != nil {
		errs = append(errs, h.peer.Close())
	}
	for _, q := range h.quotas {
		errs = append(errs, q.Remove())
	}
	if h.network != nil {
		errs = append(errs, h.network.Remove())
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
	var err error
	f.Brokers = h.doors(h.bench.Flag("tls"))
	if h.bench.Flag("tls") {
		if f.CA, err = h.ca(); err != nil {
			return nil, err
		}
		if f.Posters > 0 {
			f.HTTP = h.node().URL
		}
	}
	return fleetsim.Open(h.bench.Program(), f, devices)
}

// measure begins to measure the processes of the broker.
func (h *hub) measure() {
	h.meters = map[int]*machine.Meter{}
	for _, process := range h.processes() {
		h.meters[process] = machine.NewMeter(process)
	}
}

// usage returns what all processes of the broker used together since the last call.
func (h *hub) usage() (sum machine.Usage, err error) {
	for _, m := range h.meters {
		u, err := m.Usage()
		if err != nil {
			return sum, err
		}
		sum.Wall = max(sum.Wall, u.Wall)
		sum.CPU += u.CPU
		sum.Memory += u.Memory
		sum.Peak += u.Peak
		sum.Written += u.Written
		sum.Threads += u.Threads
	}
	h.measure()
	return sum, nil
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
		Rate: float64(n) / l.Seconds, Clients: l.Connected, P50: d.At(50).Seconds(), P99: d.At(99).Seconds(), Message: fmt.Sprintf("%d clients are connected", l.Connected),
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
