package testbed

import (
	"bytes"
	"context"
	_ "embed" // for the world and its agents
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/lab/experiment"
	"voltbus/virtual/world"
)

//go:embed fans.yaml
var fansWorld []byte

//go:embed fans.py
var fansAgents []byte

// What the plan takes the rooms and fans for. Rooms are kept between low and high.
const (
	planCapacity   = 1.5 // kWh/K
	planResistance = 2.0 // K/kW
	planCOP        = 3.0
	fanRated       = 6.0 // kW
	fanLow         = 21.5
	fanHigh        = 22.5
	askedPower     = 3.0 // kW that the signal 1 asks of all
)

// fans studies fans of variable air volume that are planned ahead, beside the rule.
func fans() experiment.Experiment {
	return experiment.Experiment{
		Name:     "fans",
		Title:    "Fans that are planned ahead by a solver, and by a rule, in rooms that the plan does not know",
		Question: "How well does model predictive control of VAV fans follow a signal beside the rule, and what is left of it where the rooms are not those of the model?",
		Source:   appendix + ": model predictive control for systems of variable air volume, rule-based switching for on/off units, a need each 10 minutes, comfort kept; no error is published",
		Method: []string{
			"One agent regulation, as it runs on a node, commands six fans of 6 kW each minute. The signal is the sum of two sines with periods of 90 and 34 minutes; the signal 1 asks for 3 kW, about a fifth of what holds the temperatures.",
			"The rule shares what is missing alike. The plan is a linear program over six periods by HiGHS, with a room of first order: capacity 1.5 kWh/K, resistance 2 K/kW, COP 3. What moves the temperature without the fan is learned from its readings in both cases.",
			"With a mismatch of 0 the rooms are those of the plan. Else air and walls of each have a capacity of their own (second order, 1 and 4 kWh/K), and capacity, resistance and COP differ from the plan's by up to the mismatch, drawn from the seed. Gains of 8 to 11 kW and the weather are not told to anybody.",
			"The error is the mean distance of the fans' power (cube of the speed) from the target of the last decision, through the capacity of 3 kW. The first half hour, in which the agent learns, does not count.",
		},
		Limits: []string{
			"Rooms are modelled; ducts, dampers and the lag of fans are not. A fan reaches its speed at once, and its power is known from its speed: a mismatch shows in comfort, and in fans that leave the plan to keep it.",
			"Baseline and target are those of the agent, which learns what holds the temperatures.",
		},
		Metric: experiment.Metric{Name: "error of the power", Unit: "% of the capacity", Axis: "mismatch, %"},
		Settings: []experiment.Setting{
			{Name: "length", Default: "12h", Quick: "2h", Doc: "virtual time"},
			{Name: "mismatches", Default: "0,15,30,50", Quick: "0,30", Doc: "by how much rooms may differ from the plan's, in %"},
			{Name: "python", Default: "python3", Doc: "interpreter of the agents, with msgspec and highspy"},
			{Name: "agent", Default: "agents/regulation/src", Doc: "folder with the sources of the agent regulation"},
		},
		Run: runFans,
	}
}

func runFans(ctx context.Context, b *experiment.Bench) error {
	mismatches, err := numbers("mismatches", b.Text("mismatches"), 0, 60)
	if err != nil {
		return err
	}
	for _, mismatch := range mismatches {
		power := experiment.Plot{
			Title: fmt.Sprintf("Power of the fans, mismatch %d %%", mismatch),
			X:     experiment.Axis{Name: "virtual time, h", Even: true}, Y: experiment.Axis{Name: "power, kW", Even: true},
		}
		for _, way := range []string{"rule", "plan"} {
			var h *fanHistory
			c := experiment.Case{Name: fmt.Sprintf("%s, mismatch %d %%", way, mismatch), X: float64(mismatch), Line: way}
			err := b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) (err error) {
				h, err = fansOnce(ctx, b, t, way == "plan", float64(mismatch)/100)
				return err
			})
			if err != nil {
				return err
			}
			power.Lines = append(power.Lines, experiment.Line{Label: way, Dots: h.power})
			if way == "plan" {
				power.Lines = append(power.Lines, experiment.Line{Label: "target of the plan", Dots: h.target})
			}
		}
		b.Plot(power)
	}
	return nil
}

// fansOnce runs the world of a case once.
func fansOnce(ctx context.Context, b *experiment.Bench, t *experiment.Trial, planned bool, mismatch float64) (h *fanHistory, err error) {
	seed := uint64(b.Seed()) + uint64(t.Repeat) //nolint:gosec // a seed is any number
	f, err := worldOfFans(b, t.Dir, seed, planned, mismatch)
	if err != nil {
		return nil, err
	}
	sdk, err := unpackSDK(t.Dir)
	if err != nil {
		return nil, err
	}
	var log, history bytes.Buffer
	w, err := world.New(f, world.Options{Seed: &seed, History: &history, SDK: sdk, Log: &log})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := w.Run(ctx, 0); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, log.String())
	}
	if r := w.Result(); len(r.Failures) > 0 {
		return nil, fault.E("study.fans", fault.Unavailable, r.Failures[0].Actor, errors.New(r.Failures[0].Reason))
	}
	if strings.Contains(log.String(), "not planned ahead") {
		return nil, fault.E("study.fans", fault.Unavailable, b.Text("python"), errors.New("has no solver: install highspy==1.16.0 there"))
	}
	h = &fanHistory{}
	if err := h.read(&history); err != nil {
		return nil, err
	}
	h.tell(t)
	r := w.Result()
	t.Also("virtual time", "× real", r.Simulated.Seconds()/r.Took.Seconds())
	return h, nil
}

// worldOfFans returns the world, whose files are in a folder.
func worldOfFans(b *experiment.Bench, dir string, seed uint64, planned bool, mismatch float64) (*world.File, error) {
	if err := os.WriteFile(filepath.Join(dir, "fans.py"), fansAgents, 0o600); err != nil {
		return nil, err
	}
	sources, err := filepath.Abs(b.Text("agent"))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(sources, "regulation", "agent.py")); err != nil {
		return nil, fault.E("study.fans", fault.NotFound, b.Text("agent"), errors.New("the agent regulation is not there; write agent= and the folder agents/regulation/src of the project"))
	}
	f, problems := world.Parse(filepath.Join(dir, "fans.yaml"), fansWorld)
	if len(problems) > 0 {
		return nil, fault.E("study.fans", fault.Internal, "", errors.New(problems[0].String()))
	}
	f.World.Duration, f.World.Python = b.Duration("length"), b.Text("python")
	campus := &f.Sites[1]
	campus.Path = append(campus.Path, sources)
	units := map[string]any{}
	random := rand.New(rand.NewPCG(seed, 5)) //nolint:gosec // a model, the same for a seed
	for i := range 6 {
		m := fanRoom(random, fmt.Sprintf("fan%d", i+1), 8+0.6*float64(i), mismatch)
		campus.Models = append(campus.Models, m)
		units["campus/"+m.Name] = map[string]any{
			"low": fanLow, "high": fanHigh, "rated": fanRated, "lockout": 0.0, "variable": true,
			"capacity": planCapacity, "resistance": planResistance, "cop": planCOP,
		}
	}
	agent := &campus.Agents[1]
	agent.Config["units"], agent.Config["predictive"], agent.Config["capacity"] = units, planned, askedPower
	return f, nil
}

// fanRoom draws a room. With a mismatch it is one of second order that the plan does not know.
func fanRoom(random *rand.Rand, name string, gains, mismatch float64) world.Model {
	off := func(value float64) float64 { return value * (1 + mismatch*(2*random.Float64()-1)) }
	m := world.Model{Name: name, Kind: "room", Commands: []string{"on"}, Inputs: map[string]any{"outdoor": "street/weather.temp", "gains": gains}}
	m.Parameters = map[string]float64{"capacity": planCapacity, "resistance": planResistance, "cop": planCOP, "rated": fanRated, "temp": 22}
	if mismatch > 0 {
		m.Kind = "zone"
		m.Parameters = map[string]float64{
			"air": off(1), "mass": off(4), "outside": off(planResistance), "inside": 0.5, "cop": off(planCOP), "rated": fanRated, "temp": 22,
		}
	}
	return m
}

// fanHistory is what a run of fans did.
type fanHistory struct {
	power, target []experiment.Dot
	errors        float64 // sum of a minute's
	minutes       int
	worst, sum    float64 // K·h outside of the band
	lost          map[string]float64
	speeds        map[string]float64
	begin         time.Time
}

// settled is how long the agent learns.
const settled = 30 * time.Minute

// read takes the lines of a history. Readings of a minute come before the commands that follow from them.
func (h *fanHistory) read(history *bytes.Buffer) error {
	h.lost, h.speeds = map[string]float64{}, map[string]float64{}
	target := math.NaN()
	for line := range strings.Lines(history.String()) {
		cells := strings.Split(strings.TrimSpace(line), ",")
		if len(cells) < 4 {
			continue
		}
		at, errAt := time.Parse(time.RFC3339Nano, cells[0])
		value, errValue := strconv.ParseFloat(cells[2], 64)
		if err := errors.Join(errAt, errValue); err != nil {
			return err
		}
		if h.begin.IsZero() {
			h.begin = at
		}
		parts := strings.Split(cells[1], "/")
		switch device, name := parts[len(parts)-2], parts[len(parts)-1]; {
		case device == "decision" && name == "setpoint":
			target = value
		case !strings.HasPrefix(device, "fan"):
		case name == "on":
			h.speeds[device] = value
		case name == "temp":
			if at.Sub(h.begin) >= settled {
				h.lost[device] += max(0, value-fanHigh, fanLow-value) / 60
			}
			if device == "fan1" {
				h.minute(at, target)
			}
		}
	}
	for _, lost := range h.lost {
		h.worst, h.sum = max(h.worst, lost), h.sum+lost
	}
	return nil
}

// minute counts the minute that ends.
func (h *fanHistory) minute(at time.Time, target float64) {
	if at.Sub(h.begin) < settled || math.IsNaN(target) {
		return
	}
	power := 0.0
	for _, u := range h.speeds {
		power += fanRated * u * u * u
	}
	h.errors += math.Abs(power-target) / askedPower
	h.minutes++
	x := at.Sub(h.begin).Hours()
	h.power, h.target = append(h.power, experiment.Dot{X: x, Y: power}), append(h.target, experiment.Dot{X: x, Y: target})
}

func (h *fanHistory) tell(t *experiment.Trial) {
	t.Value(100 * h.errors / float64(max(1, h.minutes)))
	t.Also("comfort violation, worst room", "K·h", h.worst)
	t.Also("comfort violation, all rooms", "K·h", h.sum)
}
