// Package regulate runs fleets of modelled buildings that follow a regulation signal, in a time of its own: as fast as the machine can, and
// the same each time for a seed. The programs that decide are those of package regulation; the network between them loses messages.
package regulate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"voltbus/regulation"
	"voltbus/regulation/master"
	"voltbus/regulation/score"
	"voltbus/regulation/signal"
	"voltbus/regulation/unit"
)

// tick is the step of the signal, of the models and of the network.
const tick = signal.Step

// Config of a run.
type Config struct {
	Units  int
	Seed   uint64 // of the buildings, the signal and the network
	Length time.Duration
	Period time.Duration // between two decisions; 0: each tick
	Report time.Duration // between two reports of a unit; 0: 10 seconds
	Loss   float64       // share of the messages that are lost: reports, orders and answers
	Share  float64       // of the baseline that is offered as capacity for the next hour; 0: 0.2
	Fans   float64       // share of the units whose speed is ordered
}

// Outcome is what a run measured.
type Outcome struct {
	Score    *score.Report
	Comfort  Spread  // K·h a day, of each unit
	Switches float64 // mean of a unit and day
	Early    int     // switches before the end of a lock-out
	Natural  float64 // switches of a unit and day that its thermostat made by itself
	Refused  int     // orders that were refused
	Orders   int
	Messages int     // reports, orders and answers that were sent
	Capacity float64 // kW, the mean
	Baseline float64 // kW, the mean
	Took     time.Duration
	Digest   string // SHA-256 of the history, hexadecimal: equal for equal runs
}

// Spread is of all units.
type Spread struct{ Mean, Worst float64 }

// place is a building with its account.
type place struct {
	*unit.Unit

	comfort  score.Comfort
	switches score.Switches
	natural  int

	// Of the tick: the power, what would hold the temperature, kW, and whether the thermostat has switched.
	power, hold float64
	switched    bool
}

// world is what a run has.
type world struct {
	c      Config
	begin  time.Time
	random *rand.Rand
	signal *signal.Signal
	places []place
	names  map[string]int
	master *master.Master
	orders []regulation.Order // on their way
	down   int                // tick until which the master is killed
	out    Outcome
	answer []float64 // the response at each tick
	told   history

	capacity float64 // kW, of this hour
}

// Run runs a fleet with one master. It ends early with ctx.
func Run(ctx context.Context, c Config) (*Outcome, error) {
	began := time.Now()
	w := newWorld(c)
	if err := w.through(ctx, w.tick); err != nil {
		return nil, err
	}
	w.out.Took = time.Since(began)
	return &w.out, nil
}

// through lets all ticks pass, and sums up. It ends early with ctx.
func (w *world) through(ctx context.Context, pass func(i int)) error {
	n := int(w.c.Length / tick)
	if err := each(ctx, n, pass); err != nil {
		return err
	}
	report, err := score.Judge(w.signal, &signal.Signal{Step: tick, Values: w.answer})
	if err != nil {
		return err
	}
	w.account(report, n)
	return nil
}

// each lets so many ticks pass. It ends early with ctx.
func each(ctx context.Context, ticks int, pass func(i int)) error {
	for i := range ticks {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		pass(i)
	}
	return nil
}

func newWorld(c Config) *world {
	c.Period = max(c.Period, tick)
	if c.Report == 0 {
		c.Report = 10 * time.Second
	}
	c.Report = max(c.Report, tick)
	if c.Share == 0 {
		c.Share = 0.2
	}
	w := &world{
		c: c, begin: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC), random: rand.New(rand.NewPCG(c.Seed, 1)), //nolint:gosec // a model, the same for a seed
		signal: signal.Generate(c.Seed, c.Length), names: map[string]int{}, told: newHistory(),
	}
	for i := range c.Units {
		u := w.building(i)
		w.names[u.name] = i
		w.places = append(w.places, place{Unit: u.unit})
	}
	w.appoint()
	return w
}

// appoint begins with a master that knows nothing.
func (w *world) appoint() {
	w.master = master.New(master.Config{Stale: max(5*time.Minute, 3*w.c.Report), Wait: 2 * tick, Capacity: w.capacity})
}

// kill ends the master, and another one begins later.
func (w *world) kill(i int) {
	w.down, w.orders = i+int(away/tick), w.orders[:0]
	w.appoint()
}

type named struct {
	name string
	unit *unit.Unit
}

// building draws one from the ranges that Hao and Mathieu give for air conditioners, in a random phase of its cycle.
func (w *world) building(i int) named {
	between := func(low, high float64) float64 { return low + (high-low)*w.random.Float64() }
	c := unit.Config{
		Name: fmt.Sprintf("campus/b%05d/ac", i), R: between(1.5, 2.5), C: between(1.5, 2.5), COP: 2.5, Rated: between(4, 7.2),
		Set: between(21, 24), Band: 1, Lockout: 3 * time.Minute, Variable: w.random.Float64() < w.c.Fans,
	}
	u := unit.New(c, c.Set+between(-0.4, 0.4), false)
	return named{c.Name, unit.New(c, u.Temperature(), w.random.Float64() < u.Hold(outside(0))/c.Rated)}
}

// outside is the temperature of a summer day, °C: 26 before sunrise, 34 in the afternoon.
func outside(at time.Duration) float64 {
	return 30 - 4*math.Cos(2*math.Pi*(at.Hours()-5)/24)
}

func (w *world) arrives() bool { return w.c.Loss == 0 || w.random.Float64() >= w.c.Loss }

// tick lets the network deliver, the buildings follow, and the master decide.
func (w *world) tick(i int) {
	now := w.begin.Add(time.Duration(i) * tick)
	out := outside(time.Duration(i) * tick)
	w.deliver(now, out)
	power, hold := w.follow(i, now, out)
	if time.Duration(i)*tick%time.Hour == 0 {
		w.capacity = w.c.Share * hold
		w.master.SetCapacity(w.capacity)
	}
	w.measure(power, hold)
	if i < w.down || time.Duration(i)*tick%w.c.Period != 0 {
		return
	}
	orders, _ := w.master.Decide(now, w.signal.Values[i])
	w.out.Orders += len(orders)
	w.orders = append(w.orders, orders...)
}

// deliver hands the orders of the tick before to their units, and the answers to the master.
func (w *world) deliver(now time.Time, out float64) {
	for k := range w.orders {
		o := &w.orders[k]
		w.out.Messages++
		if !w.arrives() {
			continue
		}
		p := &w.places[w.names[o.Unit]]
		code := p.Order(now, o)
		if code != regulation.Done {
			w.out.Refused++
		}
		p.switches.Observe(now, p.On(), p.Lockout())
		w.out.Messages++
		if w.arrives() {
			w.master.Answered(now, &regulation.Answer{Number: o.Number, Code: code, Token: p.Token(), Report: p.Unit.Report(now, out)})
		}
	}
	w.orders = w.orders[:0]
}

// follow lets a tick pass in the buildings, and sends their reports: at times of their own, and when the thermostat has switched. It returns
// the power of all, and what would hold their temperatures.
func (w *world) follow(i int, now time.Time, out float64) (power, hold float64) {
	power, hold = w.live(now, out)
	every := int(w.c.Report / tick)
	for k := range w.places {
		p := &w.places[k]
		if !p.switched && (i+k)%every != 0 {
			continue
		}
		w.out.Messages++
		if i >= w.down && w.arrives() {
			r := p.Unit.Report(now, out)
			_, _ = w.master.Hear(&r) // the models report what is right
		}
	}
	return power, hold
}

// flock is how many buildings a goroutine takes at once.
const flock = 250

// live lets a tick pass in all buildings. It returns the power of all, and what would hold their temperatures.
func (w *world) live(now time.Time, out float64) (power, hold float64) {
	n := len(w.places)
	abreast((n+flock-1)/flock, func(k int) {
		for i := k * flock; i < min(n, (k+1)*flock); i++ {
			w.places[i].pass(now, out)
		}
	})
	for k := range w.places { // in this order, so that the sums are the same on any number of processors
		power, hold = power+w.places[k].power, hold+w.places[k].hold
	}
	return power, hold
}

// pass lets a tick pass in a building.
func (p *place) pass(now time.Time, out float64) {
	was := p.On()
	p.Step(now, tick, out)
	p.comfort.Add(p.Temperature(), p.Low(), p.High(), tick)
	p.switches.Observe(now, p.On(), p.Lockout())
	if p.switched = p.On() != was; p.switched {
		p.natural++
	}
	p.power, p.hold = p.Power(), p.Hold(out)
}

// measure notes the response of a tick.
func (w *world) measure(power, hold float64) {
	w.answer = append(w.answer, (hold-power)/w.capacity)
	w.out.Capacity += w.capacity
	w.out.Baseline += hold
	w.told.add(len(w.answer)-1, power, hold, w.places)
}

// account sums up.
func (w *world) account(report *score.Report, ticks int) {
	days := (time.Duration(ticks) * tick).Hours() / 24
	n := float64(len(w.places)) * days
	for i := range w.places {
		p := &w.places[i]
		w.out.Comfort.Mean += p.comfort.Violation / n
		w.out.Comfort.Worst = max(w.out.Comfort.Worst, p.comfort.Violation/days)
		w.out.Switches += float64(p.switches.Count) / n
		w.out.Natural += float64(p.natural) / n
		w.out.Early += p.switches.Early
	}
	w.out.Baseline /= float64(ticks)
	w.out.Capacity /= float64(ticks)
	w.out.Score, w.out.Digest = report, w.told.digest()
}
