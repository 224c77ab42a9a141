package ruleset_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"voltbus/meter"
	"voltbus/meter/ruleset"
	"voltbus/meter/vee"
)

func channel(flow int16) *meter.Channel {
	c := &meter.Channel{Number: 1, Interval: 15 * time.Minute, Multiplier: 1}
	c.ReadingType[meter.FlowDirection] = flow
	return c
}

const three = `{"rules": [
	{"name": "solar", "flow": "reverse", "spike": 9},
	{"name": "big", "meters": ["X*", "Y?"], "high": 4, "negative": false, "stuck": 8},
	{"name": "gas", "commodity": "gas", "sum": 0.5}
]}`

func TestTheFirstSetThatMatchesCounts(t *testing.T) {
	sets := ruleset.Parse(json.RawMessage(three), 7, vee.Rules{Negative: true, SpikeRatio: 1.8})
	if p := sets.Problems(); len(p) > 0 {
		t.Fatal(p)
	}
	for name, tt := range map[string]struct {
		id   string
		of   meter.Commodity
		flow int16
		want string
	}{
		"by its flow, before its id": {"X1", meter.Electricity, meter.FlowReverse, "solar 7"},
		"by its id":                  {"X1", meter.Electricity, meter.FlowForward, "big 7"},
		"by one letter more":         {"Y1", meter.Gas, meter.FlowForward, "big 7"},
		"by two letters more":        {"Y12", meter.Gas, meter.FlowForward, "gas 7"},
		"by nothing":                 {"Z", meter.Water, meter.FlowForward, "standard 1"},
	} {
		if got := sets.Of(tt.id, tt.of, channel(tt.flow)).Label(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	if r := sets.Of("X1", meter.Electricity, channel(1)).Rules; r != (vee.Rules{SpikeRatio: 1.8, HighRatio: 4, StuckCount: 8}) {
		t.Errorf("what a set leaves out is that of the configuration, not %+v", r)
	}
}

func TestASetGivesItsMetersAPriority(t *testing.T) {
	sets := ruleset.Parse(json.RawMessage(`{"rules": [{"name": "hospitals", "meters": ["H*"], "priority": 1}, {"name": "wrong", "meters": ["W*"], "priority": 10}, {"name": "plain", "meters": ["P*"]}]}`), 1, vee.Rules{})
	for id, want := range map[string]int{"H1": 1, "W1": 5, "P1": 5, "Z": 5} {
		if got := sets.Of(id, meter.Electricity, channel(1)).Priority; got != want {
			t.Errorf("%s: %d, want %d", id, got, want)
		}
	}
	if p := sets.Problems(); len(p) != 1 || p[0] != "metering/rules, wrong: priority 10: write 1, which comes first, to 9" {
		t.Errorf("%q", p)
	}
	if !sets.Ranks() || ruleset.Standard(vee.Rules{}).Ranks() {
		t.Error("only sets with priorities rank")
	}
}

func TestASetThatIsWrongStopsNoOther(t *testing.T) {
	for name, tt := range map[string]struct{ set, want string }{
		"a bad bound":         {`{"name": "bad", "meters": ["X*"], "stuck": 1}`, "metering/rules, bad: StuckCount: 1: write 2 or more, such as 8, or 0 to leave the rule out"},
		"an unknown key":      {`{"name": "bad", "meters": ["X*"], "spkie": 1}`, `metering/rules, bad: json: unknown field "spkie"`},
		"a text for a number": {`{"name": "bad", "meters": ["X*"], "spike": "high"}`, "metering/rules, bad: json: cannot unmarshal string"},
		"a bad pattern":       {`{"name": "bad", "meters": ["X*", "["]}`, `metering/rules, bad: meters: "[" is no pattern: write such as 1EMH*`},
		"a commodity":         {`{"name": "bad", "commodity": "steam"}`, `metering/rules, bad: commodity "steam"`},
		"a flow":              {`{"name": "bad", "flow": "up"}`, `metering/rules, bad: flow "up": write forward, reverse or net`},
		"no name":             {`{"stuck": 4}`, "metering/rules, rules[0]: name: missing"},
		"a short profile":     {`{"name": "bad", "profile": {"working": [1, 2]}}`, "metering/rules, bad: profile.working: 2 values: write 24, one for each hour"},
		"twice":               {`{"name": "good"}`, "metering/rules, good: name: good is given twice"},
	} {
		t.Run(name, func(t *testing.T) {
			standard := vee.Rules{Negative: true}
			sets := ruleset.Parse(json.RawMessage(`{"rules": [`+tt.set+`, {"name": "good", "meters": ["Y*"], "spike": 2}]}`), 1, standard)
			p := sets.Problems()
			if len(p) != 1 || !strings.HasPrefix(p[0], tt.want) {
				t.Fatalf("problems %q, want %q", p, tt.want)
			}
			if r := sets.Of("X1", meter.Electricity, channel(1)).Rules; r != standard {
				t.Errorf("the set that is wrong has the rules %+v, want those of the configuration", r)
			}
		})
	}
	for _, text := range []string{`[]`, `{"rule": []}`, `{`, `"x"`} {
		sets := ruleset.Parse(json.RawMessage(text), 1, vee.Rules{SpikeRatio: 2})
		if p := sets.Problems(); len(p) != 1 || sets.Of("X", meter.Gas, channel(1)).Rules.SpikeRatio != 2 {
			t.Errorf("%s: %q", text, p)
		}
	}
	if p := ruleset.Unreadable(errors.New("refers to nothing"), vee.Rules{}).Problems(); len(p) != 1 || p[0] != "metering/rules: refers to nothing" {
		t.Error(p)
	}
}

func TestAProfileFollowsTheHoursOfItsDay(t *testing.T) {
	hours := func(v float64) (list []float64) {
		for h := range 24 {
			list = append(list, v+float64(h))
		}
		return list
	}
	p := &ruleset.Profile{Working: hours(0), Saturday: hours(100)}
	for name, tt := range map[string]struct {
		day    int // of March 2026: 2 is a Monday
		length time.Duration
		want   float64
	}{
		"a quarter of an hour":     {2, 15 * time.Minute, 2.5},
		"an hour":                  {2, time.Hour, 10},
		"two hours":                {2, 2 * time.Hour, 21},
		"a day from ten o'clock":   {2, 24 * time.Hour, 276},
		"a Saturday":               {7, time.Hour, 110},
		"a Sunday without its own": {8, time.Hour, 110},
	} {
		if got := p.At(time.Date(2026, 3, tt.day, 10, 0, 0, 0, time.UTC), tt.length); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
