// Package sim is a driver that simulates parts of a building, without a device. Its values are a function of time and seed, so two reads
// at the same time agree and no goroutine is needed; only written set points change the course. The clock may run faster than the real
// one.
//
// Most models stand alone. A building is the meter for all rooms on its line: writing a set point of a room changes the power of the
// building.
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
	"voltbus/internal/strictyaml"
	"voltbus/point"
)

const (
	maxPoints = 100_000 // of the model random
	maxSpeed  = 3600    // seconds of a model per second
)

// errClocks says that devices of a line have incompatible clocks.
var errClocks = errors.New("another device on its line has another clock; write the same speed, begin and shows for all of them")

// Kind returns the simulator.
func Kind() driver.Kind {
	return driver.Kind{
		Name:      "sim",
		Doc:       "A simulated building: zone, air handler, meter, weather, cooled rooms with their building, or many random points.",
		NewConfig: func() driver.Config { return NewConfig() },
		Dial:      dial,
	}
}

// Config is one simulated device.
type Config struct {
	// Model is zone (the default), ahu, meter, weather, random, or room and building: a building
	// measures the power of all rooms on its line.
	Model string `yaml:"model"`
	// Seed makes devices differ. Devices with one seed have the same weather. 1 if left out.
	Seed int64 `yaml:"seed"`
	// Count is how many points the model random has; 18 if left out.
	Count int `yaml:"points"`
	// StuckDamper is the position in % at which the damper of the model ahu is stuck, whatever its command. -1, the
	// default, lets it move.
	StuckDamper float64 `yaml:"stuck_damper"`
	// Start is the time at which its meter was at zero. Default: 2026-01-01.
	Start time.Time `yaml:"start"`
	// Line is the line that the device shares with all others of that name; without it the
	// device has a line of its own. Rooms and a building that belong together share one, and its
	// weather.
	Line string `yaml:"line"`
	// Climate is moderate (the default), with seasons, or hot: 25 to 35 °C all year.
	Climate string `yaml:"climate"`
	// Speed is how many seconds pass in the model in one second, 1 to 3600; 1 if left out. Samples
	// have the real time. All devices of a line need the same speed, begin and shows.
	Speed int64 `yaml:"speed"`
	// Begin is the real time at which the model's clock shows what shows says. 2026-01-01 if left
	// out.
	Begin time.Time `yaml:"begin"`
	// Shows is the time that the model's clock shows at begin, for a day that begins at noon
	// whenever it is started. That of begin if left out.
	Shows time.Time `yaml:"shows"`
}

// NewConfig returns a configuration with the defaults.
func NewConfig() *Config {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return &Config{
		Model: "zone", Seed: 1, Count: 18, StuckDamper: moves, Start: start, Climate: "moderate", Speed: 1, Begin: start,
	}
}

// Load has nothing to read.
func (c *Config) Load(driver.Files) []error { return nil }

// Validate reports every problem, as *driver.Problem.
func (c *Config) Validate() []error {
	var problems []error
	add := func(wrong bool, key, text string, args ...any) {
		if wrong {
			problems = append(problems, &driver.Problem{Key: key, Text: fmt.Sprintf(text, args...), Kind: strictyaml.Kind(text)})
		}
	}
	names := []string{"zone", "ahu", "meter", "weather", "random", "room", "building"}
	climates := []string{"moderate", "hot"}
	add(!slices.Contains(names, c.Model), "model", "%q is not known; write %s", c.Model, strings.Join(names, ", "))
	add(c.Count < 1 || c.Count > maxPoints, "points", "%d is out of range; write a number from 1 to %d", c.Count, maxPoints)
	add(!(c.StuckDamper == moves || c.StuckDamper >= 0 && c.StuckDamper <= 100), "stuck_damper", "%g is out of range; write a number from 0 to 100, or -1", c.StuckDamper)
	add(!slices.Contains(climates, c.Climate), "climate", "%q is not known; write %s", c.Climate, strings.Join(climates, ", "))
	add(c.Speed < 1 || c.Speed > maxSpeed, "speed", "%d is out of range; write a number from 1 to %d", c.Speed, maxSpeed)
	return problems
}

// LineName is the shared line, or "" for its own line.
func (c *Config) LineName() string {
	if c.Line != "" {
		return "sim:" + c.Line
	}
	return ""
}

// Points lists the points of the model.
func (c *Config) Points() []point.Info {
	if c.Model == "random" {
		return crowdPoints(c.Count)
	}
	m := newModel(&line{}, c)
	infos := make([]point.Info, len(m.fields))
	for i, f := range m.fields {
		infos[i] = point.Info{
			Path: point.Path(f.name), Kind: f.kind, Unit: f.unit, Description: f.doc,
			Writable: f.set != nil,
		}
	}
	return infos
}

// BuiltInTags describes the kind of device; a random one has none.
func (c *Config) BuiltInTags() map[string]string {
	if c.Model == "random" {
		return nil
	}
	return map[string]string{"equip": c.Model}
}

// dial returns a line; there is nothing to connect to.
func dial(ctx context.Context, cfg driver.Config) (driver.Line, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.E("sim.Dial", fault.KindOf(err), cfg.LineName(), err)
	}
	return &line{}, nil
}

// line is a line without a wire.
type line struct {
	closed bool
	open   int     // open devices
	clock  clock   // of all open devices
	rooms  []*room // open rooms
}

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
	if own := c.clock(); l.open == 0 {
		l.clock = own
	} else if !l.clock.same(own) {
		return nil, fault.E(op, fault.Invalid, c.LineName(), errClocks)
	}
	l.open++
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
