package testbed

import (
	"context"
	_ "embed" // for the world
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/lab/experiment"
	"voltbus/lab/machine"
	"voltbus/regulation"
	"voltbus/regulation/master"
	"voltbus/regulation/signal"
	"voltbus/virtual/world"
)

//go:embed scale.yaml
var scaleWorld []byte

// thousandNodes measures what a node of a world costs.
func thousandNodes() experiment.Experiment {
	return experiment.Experiment{
		Name:     "thousand-nodes",
		Title:    "A master and up to a thousand nodes in one world",
		Question: "How long does a virtual hour of many nodes take in real time, and how much memory does a node need?",
		Source:   appendix + ": a node image runs in as little as 256 MB, and the demonstration allotted 500 MB to a building",
		Method: []string{
			"Each node is a site with a room, a program in Go and a link to the master that delays for 20 to 30 ms and loses 1 % of the messages. It reports each minute, switches its unit by the band of its room, and follows the orders of the master.",
			"The master is the one of package regulation. It registers nodes by their first report, and decides each 10 seconds for a signal like RegD whose capacity is 20 % of the need.",
			"Memory is measured twice. The heap of a node is what the heap in use has grown by at the end of the run, after a collection, divided by the nodes. The resident memory is what the kernel counts for the process: before the world is made, when free memory has been given back, and at the end of the run, as it is then with all that waits to be collected. The history is counted, not kept.",
		},
		Limits: []string{
			"A node is a program in Go with models, links and messages. It has no log, store or bus server: those of a whole node are measured by other experiments.",
			"The published figures are those of whole programs in containers, and context.",
		},
		Metric: experiment.Metric{Name: "real time of a virtual hour", Unit: "s", Axis: "nodes"},
		Settings: []experiment.Setting{
			{Name: "nodes", Default: "10,100,1000", Quick: "10,100", Doc: "numbers of nodes, with commas between"},
			{Name: "length", Default: "1h", Doc: "virtual time"},
		},
		Run: func(ctx context.Context, b *experiment.Bench) error {
			nodes, err := numbers("nodes", b.Text("nodes"), 1, 1_000_000)
			if err != nil {
				return err
			}
			for _, n := range nodes {
				c := experiment.Case{Name: experiment.Count(n) + " nodes", X: float64(n)}
				if err := b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) error { return scaleOnce(ctx, b, t, n) }); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// scaleOnce runs the world once.
func scaleOnce(ctx context.Context, b *experiment.Bench, t *experiment.Trial, nodes int) (err error) {
	before := heap()
	without, err := resident(true)
	if err != nil {
		return err
	}
	w, desk, err := newScale(b, nodes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := w.Run(ctx, 0); err != nil {
		return err
	}
	r := w.Result()
	if len(r.Failures) > 0 {
		return fault.E("study.thousand-nodes", fault.Internal, r.Failures[0].Actor, errors.New(r.Failures[0].Reason))
	}
	with, err := resident(false)
	if err != nil {
		return err
	}
	grown := max(0, heap()-before)
	tellWorld(b, t, r)
	t.Also("heap of a node", "kB", grown/float64(nodes)/1000)
	t.Also("resident memory of a node", "kB", max(0, with-without)/float64(nodes)/1000)
	t.Also("resident memory of the process without nodes", "MB", without/1e6)
	t.Also("resident memory of the process with nodes", "MB", with/1e6)
	t.Also("nodes that the master knows", "", float64(len(desk.master.Reports())))
	t.Also("orders", "", float64(desk.orders))
	runtime.KeepAlive(w)
	return nil
}

// heap returns what of the heap is in use after a collection, in bytes.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// resident returns the memory that the kernel counts for this process, in bytes; free memory is given back before that, if asked for.
func resident(givenBack bool) (float64, error) {
	if givenBack {
		debug.FreeOSMemory()
	}
	u, err := machine.NewMeter(os.Getpid()).Usage()
	return float64(u.Memory), err
}

func newScale(b *experiment.Bench, nodes int) (*world.World, *chair, error) {
	f, problems := world.Parse("scale.yaml", scaleWorld)
	if len(problems) > 0 {
		return nil, nil, fault.E("study.thousand-nodes", fault.Internal, "", errors.New(problems[0].String()))
	}
	f.World.Duration = b.Duration("length")
	i := slices.IndexFunc(f.Sites, func(s world.Site) bool { return s.Name == "node" })
	f.Sites[i].Copies = nodes
	seed := uint64(b.Seed()) //nolint:gosec // any seed is one; all repeats are equal
	w, err := world.New(f, world.Options{Seed: &seed})
	if err != nil {
		return nil, nil, err
	}
	c := &chair{master: master.New(master.Config{Wait: 2 * decision}), signal: signal.Generate(seed, f.World.Duration)}
	if err := w.AddProgram("master", c); err != nil {
		return nil, nil, err
	}
	for n := range nodes {
		if err := w.AddProgram(fmt.Sprintf("node-%d", n+1), &keeper{}); err != nil {
			return nil, nil, err
		}
	}
	return w, c, nil
}

// The times of master and nodes.
const (
	decision = 10 * time.Second
	lockOut  = 3 * time.Minute
)

// chair is the program of the master.
type chair struct {
	master *master.Master
	signal *signal.Signal
	orders int
}

// Begin implements world.Program.
func (c *chair) Begin(d *world.Access) error {
	d.Listen("report.>", "answer.>")
	return d.Wake(decision)
}

// Scan implements world.Program.
func (c *chair) Scan(*world.Access, string, map[string]float64) error { return nil }

// Message implements world.Program.
func (c *chair) Message(d *world.Access, subject string, data []byte) error {
	if strings.HasPrefix(subject, "answer.") {
		var a regulation.Answer
		err := json.Unmarshal(data, &a)
		c.master.Answered(d.Time(), &a)
		return err
	}
	var r regulation.Report
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	_, err := c.master.Hear(&r)
	return err
}

// Wake implements world.Program.
func (c *chair) Wake(d *world.Access) error {
	need := 0.0
	for _, r := range c.master.Reports() {
		need += r.Hold
	}
	c.master.SetCapacity(0.2 * need)
	orders, _ := c.master.Decide(d.Time(), c.signal.At(d.Now()))
	for i := range orders {
		c.orders++
		if err := d.Publish("order."+orders[i].Unit, &orders[i]); err != nil {
			return err
		}
	}
	return d.Wake(decision)
}

// Save implements world.Program.
func (c *chair) Save() ([]byte, error) { return nil, errNotKept }

// Load implements world.Program.
func (c *chair) Load([]byte) error { return errNotKept }

var errNotKept = errors.New("the program keeps no state")

// keeper is the program of a node: it keeps the band of its room, and does what the master orders.
type keeper struct {
	site    string
	temp    float64
	on      bool
	changed time.Duration
}

// The band and the unit of a room.
const (
	low, high = 21.5, 22.5 // °C
	rated     = 5.6        // kW
)

// Begin implements world.Program.
func (k *keeper) Begin(*world.Access) error { return nil }

// Scan implements world.Program.
func (k *keeper) Scan(d *world.Access, device string, points map[string]float64) error {
	if k.site == "" {
		k.site, k.changed = strings.TrimSuffix(device, "/room"), -lockOut
		d.Listen("order." + k.site)
	}
	k.temp = points["temp"]
	if k.temp > high && !k.on || k.temp < low && k.on {
		if err := k.set(d, !k.on); err != nil {
			return err
		}
	}
	r := k.report(d)
	return d.Publish("report."+k.site, &r)
}

func (k *keeper) set(d *world.Access, on bool) error {
	value := 0.0
	if k.on, k.changed = on, d.Now(); on {
		value = 1
	}
	return d.Command(k.site+"/room/on", value)
}

func (k *keeper) report(d *world.Access) regulation.Report {
	r := regulation.Report{
		Unit: k.site, At: d.Time(), Temperature: k.temp, Low: low, High: high, On: k.on, Rated: rated,
		Hold: rated / 3, Free: max(0, lockOut-(d.Now()-k.changed)),
	}
	if k.on {
		r.Power = rated
	}
	return r
}

// Message implements world.Program.
func (k *keeper) Message(d *world.Access, _ string, data []byte) error {
	var o regulation.Order
	if err := json.Unmarshal(data, &o); err != nil {
		return err
	}
	a := regulation.Answer{Number: o.Number}
	switch {
	case d.Now()-k.changed < lockOut && o.On != k.on:
		a.Code = regulation.LockedOut
	case o.On && k.temp < low || !o.On && k.temp > high:
		a.Code = regulation.Uncomfortable
	case o.On != k.on:
		if err := k.set(d, o.On); err != nil {
			return err
		}
	}
	a.Report = k.report(d)
	return d.Publish("answer."+k.site, &a)
}

// Wake implements world.Program.
func (k *keeper) Wake(*world.Access) error { return nil }

// Save implements world.Program.
func (k *keeper) Save() ([]byte, error) { return nil, errNotKept }

// Load implements world.Program.
func (k *keeper) Load([]byte) error { return errNotKept }
