// Package sim is a driver without a device: parts of a building that behave plausibly. What it
// shows is a function of the time and the seed, so two reads at one time agree and it needs no
// goroutine; only set points that were written change its course.
package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// maxPoints bounds the model random.
const maxPoints = 100_000

// Kind returns the simulator.
func Kind() driver.Kind {
	return driver.Kind{
		Name:      "sim",
		Doc:       "A simulated building: zone, air handler, meter, weather, or many random points.",
		NewConfig: func() driver.Config { return NewConfig() },
		Dial:      dial,
	}
}

// Config is one simulated device.
type Config struct {
	// Model is zone (the default), ahu, meter, weather or random.
	Model string `yaml:"model"`
	// Seed makes devices differ. Devices with one seed have the same weather. 1 if left out.
	Seed int64 `yaml:"seed"`
	// Count is how many points the model random has; 18 if left out.
	Count int `yaml:"points"`
	// StuckDamper is the opening in % at which the blade of the model ahu's damper sticks, whatever
	// its signal says. -1, which is also what holds if left out, lets it move.
	StuckDamper float64 `yaml:"stuck_damper"`
	// Start is when the device was built: its meter stands at zero then. 2026-01-01 if left out.
	Start time.Time `yaml:"start"`
	// Line is the line that the device shares with all others of that name; without it the
	// device has a line of its own.
	Line string `yaml:"line"`
}

// NewConfig returns a configuration with the defaults.
func NewConfig() *Config {
	return &Config{
		Model: "zone", Seed: 1, Count: 18, StuckDamper: moves, Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
}

// Load has nothing to read.
func (c *Config) Load(string) []error { return nil }

// Validate reports every problem, as *driver.Problem.
func (c *Config) Validate() []error {
	var problems []error
	add := func(wrong bool, key, text string, args ...any) {
		if wrong {
			problems = append(problems, &driver.Problem{Key: key, Text: fmt.Sprintf(text, args...)})
		}
	}
	names := []string{"zone", "ahu", "meter", "weather", "random"}
	add(!slices.Contains(names, c.Model), "model", "%q is not known; write %s", c.Model, strings.Join(names, ", "))
	add(c.Count < 1 || c.Count > maxPoints, "points", "%d is out of range; write a number from 1 to %d", c.Count, maxPoints)
	add(!(c.StuckDamper == moves || c.StuckDamper >= 0 && c.StuckDamper <= 100), "stuck_damper", "%g is out of range; write a number from 0 to 100, or -1", c.StuckDamper)
	return problems
}

// LineName is the shared line, or "": a line of its own.
func (c *Config) LineName() string {
	if c.Line != "" {
		return "sim:" + c.Line
	}
	return ""
}

// Points lists what the model has.
func (c *Config) Points() []point.Info {
	if c.Model == "random" {
		return crowdPoints(c.Count)
	}
	m := newModel(c)
	infos := make([]point.Info, len(m.fields))
	for i, f := range m.fields {
		infos[i] = point.Info{
			Path: point.Path(f.name), Kind: f.kind, Unit: f.unit, Description: f.doc,
			Writable: f.set != nil, Tags: map[string]string{"equip": c.Model},
		}
	}
	return infos
}

// dial makes a line; there is nothing to connect to.
func dial(ctx context.Context, cfg driver.Config) (driver.Line, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.E("sim.Dial", fault.KindOf(err), cfg.LineName(), err)
	}
	return &line{}, nil
}

// line is a line without a wire.
type line struct{ closed bool }

// Open implements driver.Line.
func (l *line) Open(_ context.Context, cfg driver.Config) (driver.Session, error) {
	const op = "sim.Open"
	c, ok := cfg.(*Config)
	if !ok {
		return nil, fault.E(op, fault.Internal, "", fmt.Errorf("configuration is a %T", cfg))
	}
	if l.closed {
		return nil, fault.E(op, fault.Unreachable, c.LineName(), driver.ErrNotConnected)
	}
	if problems := c.Validate(); len(problems) > 0 {
		return nil, fault.E(op, fault.Invalid, c.LineName(), errors.Join(problems...))
	}
	if c.Model == "random" {
		return &crowd{line: l, seed: uint64(c.Seed), count: c.Count}, nil
	}
	return newSession(l, c), nil
}

// Close implements driver.Line.
func (l *line) Close() error {
	l.closed = true
	return nil
}
