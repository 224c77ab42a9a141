package ami

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"voltbus/lab/experiment"
	"voltbus/lab/machine"
	"voltbus/lab/metersim"
)

// concentratorLimit measures at which rate of readings of meters a concentrator is stable.
func concentratorLimit() experiment.Experiment {
	return experiment.Experiment{
		Name:     "ami-2",
		Title:    "Rates at which a concentrator is stable, over the size of its bulks",
		Question: "How many readings a second does a concentrator take of meters that send each reading by itself, and hand on in bulks of b, before the cycles of the meters stretch?",
		Source:   source + " Experiment II: 454 … 2,000 readings/s over sizes of bulks; a concentrator is stable up to 500–550 readings/s, with 12 % of its processor in use.",
		Method: []string{
			"Concentrator and metering data system are whole nodes, each in a process of its own; simulated meters are in a third. A meter sends a reading in a request with a new connection, waits for the answer, sleeps a period, and sends the next; meters begin a period, divided by their number, after one another.",
			"This loop is closed: an overloaded concentrator stretches the cycles of its meters, and is offered less. The stability is the actual run time of the cycles, divided by the expected one: 1 is stable. The rate of the meters is multiplied by four until it is above 1.1, or a reading is refused; then the program halves what is between, by ratio. The figure is the highest stable rate.",
			"At the end the metering data system is asked which intervals it has: what the concentrator acknowledged must be found there.",
			"Valves at both nodes take the time of each message: request seen, handler entered, handler left, reply sent.",
		},
		Limits: []string{together, "The concentrator answers when a reading is on its disk; the published one held readings in memory until a bulk was full."},
		Metric: experiment.Metric{Name: "stable up to", Unit: "readings/s", Axis: "readings in a bulk", Higher: true},
		Published: []experiment.Published{
			{Case: bulk(100), Figures: []experiment.Figure{{Label: published + " (500–550)", Value: 550}}},
		},
		Settings: append([]experiment.Setting{
			{Name: "bulks", Default: "10,100", Quick: "100", Doc: "sizes of a bulk of the concentrator, one case each"},
			{Name: "first-rate", Default: "454", Quick: "200", Doc: "readings a second of the first step"},
			{Name: "most-rate", Default: "8000", Quick: "400", Doc: "readings a second of the last step"},
			{Name: "halvings", Default: "2", Quick: "0", Doc: "how often the last interval is halved"},
			{Name: "period", Default: "1s", Quick: "500ms", Doc: "that a meter sleeps between two readings"},
			{Name: "rhythm", Default: "closed", Doc: "closed, or open: a reading is sent when it is due, whatever became of those before; the stability is then the offered rate by the accepted one"},
			{Name: "age", Default: "1s", Doc: "how long a reading waits at most for its bulk to fill"},
			{Name: "kept-bulks", Default: "false", Doc: "whether the concentrator's connection to the MDS stays open"},
		}, shared("500ms", "3s")...),
		Run: runConcentrator,
	}
}

// stable is the share of the actual run time that is expected, from which on a concentrator counts as stable. An answer of a tenth of the period stretches a cycle so far that it does not.
const stable = 1 / 1.1

// collector is a concentrator before an MDS.
type collector struct {
	*plant      // the concentrator
	mds         *plant
	stabilities map[int]float64 // by rate
}

// collect starts an MDS and a concentrator of bulks of a size before it.
func collect(ctx context.Context, b *experiment.Bench, t *experiment.Trial, size int) (*collector, error) {
	mds, err := open(ctx, b, t, metersim.Site{}, false)
	if err != nil {
		return nil, err
	}
	c := &collector{mds: mds, stabilities: map[int]float64{}}
	keys := fmt.Sprintf("bulk: %d, age: %s, form: %s, kept: %s", size, b.Text("age"), b.Text("form"), b.Text("kept-bulks"))
	if c.plant, err = (before{b, t, "concentrator", keys}).open(ctx, mds); err != nil {
		return nil, errors.Join(err, mds.Close())
	}
	return c, nil
}

// before is a concentrator before metering data systems. keys are further ones of its section.
type before struct {
	bench      *experiment.Bench
	trial      *experiment.Trial
	name, keys string
}

// open starts it. Readings are looked for in the first of the systems.
func (c before) open(ctx context.Context, systems ...*plant) (*plant, error) {
	dir := filepath.Join(c.trial.Dir, c.name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	var list []string
	for i, mds := range systems {
		file := fmt.Sprintf("mds-%d.token", i)
		if err := os.WriteFile(filepath.Join(dir, file), []byte(mds.tokens[0]+"\n"), 0o600); err != nil {
			return nil, fmt.Errorf("write the token: %w", err)
		}
		list = append(list, fmt.Sprintf("{url: %q, token_file: %s}", mds.URL, file))
	}
	extra := fmt.Sprintf("concentrator: {%s, to: systems, systems: [%s]}", c.keys, strings.Join(list, ", "))
	p, err := open(ctx, c.bench, c.trial, metersim.Site{Name: c.name, Role: "concentrator", Extra: extra}, false)
	if err != nil {
		return nil, err
	}
	p.mds = systems[0]
	return p, nil
}

func (c *collector) close() error { return errors.Join(c.plant.Close(), c.mds.Close()) }

// at offers a rate of single readings and returns the expected run time by the actual one; 0 if a reading was refused.
func (c *collector) at(ctx context.Context, rate int) (float64, *step, error) {
	f := fleet(c.bench)
	f.Members, f.Batch, f.Meters, f.Period = max(1, int(float64(rate)*c.bench.Duration("period").Seconds())), 1, 1, c.bench.Duration("period")
	f.Form = metersim.SOAP
	if f.Rhythm = metersim.Rhythm(c.bench.Text("rhythm")); f.Rhythm != metersim.Open && f.Rhythm != metersim.Closed {
		return 0, nil, fmt.Errorf("setting rhythm: %q: write closed or open", f.Rhythm)
	}
	s, err := c.play(ctx, f)
	if err != nil {
		return 0, nil, err
	}
	if f.Rhythm == metersim.Open { // whose cycles nothing stretches
		s.Stretch = float64(f.Members) / f.Period.Seconds() / max(s.Rate, 1)
	}
	c.stabilities[rate] = s.Stretch
	if s.Accepted < s.Sent {
		return 0, s, nil // what is refused is not kept
	}
	return 1 / max(s.Stretch, 1), s, nil
}

// limit finds the highest rate at which the concentrator is stable, and records it.
func (c *collector) limit(ctx context.Context) (rate float64, err error) {
	if err := c.mds.register(ctx, c.bench.Int("most-rate")); err != nil {
		return 0, err
	}
	before := machine.NewMeter(c.mds.Process())
	if _, err := metersim.ReadValves(c.mds.Running); err != nil {
		return 0, err
	}
	var last *step
	first := max(1, c.bench.Int("first-rate"))
	good, _, err := turning(first, max(first, c.bench.Int("most-rate")), c.bench.Int("halvings"), stable, func(rate int) (float64, error) {
		share, s, err := c.at(ctx, rate)
		if err == nil && (share >= stable || last == nil) {
			last = s
		}
		return share, err
	})
	if err != nil {
		return 0, err
	}
	if good == 0 {
		c.bench.Note("The concentrator was not stable at %d readings/s, the first rate; the figure is what it took of it.", first)
	}
	last.record(c.trial)
	if u, err := before.Usage(); err == nil {
		c.trial.Usage("MDS", u)
	}
	if v, err := metersim.ReadValves(c.mds.Running); err == nil && v.Messages > 0 {
		c.trial.Also("handler of the MDS per bulk", "µs", v.Handler/float64(v.Messages)*1e6)
		c.trial.Also("server of the MDS beside the handler per bulk", "µs", v.Overhead()/float64(v.Messages)*1e6)
	}
	if _, err := c.settle(ctx); err != nil {
		return 0, err
	}
	if good == 0 {
		return last.Rate, nil
	}
	return float64(good), nil
}

func runConcentrator(ctx context.Context, b *experiment.Bench) error {
	bulks, err := numbers(b, "bulks")
	if err != nil {
		return err
	}
	heat := newHeat("Stability: actual by expected run time, over readings/s and size of bulks")
	most := 0.0
	for _, size := range bulks {
		err := b.Measure(ctx, bulk(size), func(ctx context.Context, t *experiment.Trial) (err error) {
			c, err := collect(ctx, b, t, size)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, c.close()) }()
			rate, err := c.limit(ctx)
			t.Value(rate)
			heat.add(bulk(size).Name, c.stabilities)
			return err
		})
		if err != nil {
			return err
		}
		most = max(most, b.Median(bulk(size).Name))
	}
	b.Table(heat.table())
	b.Found(experiment.Finding{Key: "concentrator-rate", Name: "Limit of a concentrator, single readings with a new connection each", Value: most, Unit: "readings/s", Published: 550})
	return nil
}
