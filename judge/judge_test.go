package judge_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"voltbus/judge"
	"voltbus/judge/setting"
	"voltbus/point"
)

// step is a reading, so many seconds after the first one, and whether it passes.
type step struct {
	path   point.Path
	second float64
	value  float64
	passes bool
}

func at(second float64) int64 { return int64(second * 1e6) }

// run judges, and after each step goes on with what is remembered as a file keeps it.
func run(t *testing.T, rule setting.Rule, steps []step) {
	t.Helper()
	rule.Name = "rule"
	rules := setting.Rules{rule}
	var told []string
	rules.Validate(nil, func(key, format string, args ...any) { told = append(told, key+" "+fmt.Sprintf(format, args...)) })
	if told != nil {
		t.Fatalf("the rule is wrong: %v", told)
	}
	steadily := judge.New(rules.For("x"), judge.Memory{})
	var memory judge.Memory
	for i, s := range steps {
		again := judge.New(rules.For("x"), memory)
		for name, j := range map[string]*judge.Judge{"": steadily, " after a restart": again} {
			v := j.Point(s.path).Judge(at(s.second), point.FloatOf(s.value), point.Good)
			if v.Withheld == s.passes || v.Withheld != (v.Reason != "") {
				t.Errorf("step %d%s, %+v: %+v", i, name, s, v)
			}
		}
		text, err := json.Marshal(again.Memory())
		if err != nil {
			t.Fatal(err)
		}
		memory = judge.Memory{}
		if err := json.Unmarshal(text, &memory); err != nil {
			t.Fatal(err)
		}
	}
}

// learnt are so many readings of a point that alternate between two values, one a second from the beginning on.
func learnt(path point.Path, count int, low, high float64) (list []step) {
	for i := range count {
		value := low
		if i%2 == 1 {
			value = high
		}
		list = append(list, step{path, float64(i), value, true})
	}
	return list
}

func TestResidualsOfItsOwnForecast(t *testing.T) {
	steps := append(learnt("a", 20, 19, 21),
		step{"a", 20, 23, true}, step{"a", 21, 40, false}, step{"a", 22, 20, true}, step{"a", 23, math.NaN(), false}, step{"b", 23, 900, true})
	for i := range 9 { // a step in the end
		steps = append(steps, step{"a", float64(24 + i), 60, false})
	}
	steps = append(steps, step{"a", 40, 60, true}, step{"a", 41, 20, true})
	run(t, setting.Rule{Check: setting.Residual, Readings: 10}, steps)
}

func TestResidualsOfAModelOfOtherPoints(t *testing.T) {
	var steps []step
	for i := range 40 { // power = 2·flow + lift + 5, and a little noise
		second, flow, lift := float64(i), float64(i%7), float64(i%5)*10
		steps = append(steps, step{"p/flow", second, flow, true}, step{"p/lift", second, lift, true}, step{"p/power", second, 2*flow + lift + 5 + float64(i%3-1)*0.1, true})
	}
	steps = append(steps, step{"p/power", 39.5, 40, false}, step{"p/flow", 40, 3, true}, step{"p/lift", 40, 20, true}, step{"p/power", 40, 31, true},
		step{"p/power", 41, 33, false}, step{"p/power", 99, 900, true}) // no reading of the others is near
	run(t, setting.Rule{
		Check: setting.Residual, Points: []string{"p/power"}, Model: map[string]float64{"{1}/flow": 2, "{1}/lift": 1}, Readings: 20, Window: 5 * time.Second,
	}, steps)
}

func TestResidualsThatNeverDifferNeedATolerance(t *testing.T) {
	steps := append(learnt("a", 10, 5, 5), step{"a", 11, 5.1, true}, step{"a", 12, 7, false})
	run(t, setting.Rule{Check: setting.Residual, Readings: 10, Tolerance: 1}, steps)
}

func TestChecks(t *testing.T) {
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		rule  setting.Rule
		steps []step
	}{
		"range": {
			setting.Rule{Check: setting.Range, Low: new(float64(-5)), High: new(float64(5))},
			[]step{{"a", 0, -5, true}, {"a", 1, 5, true}, {"a", 2, 5.1, false}, {"a", 3, -6, false}, {"a", 4, math.NaN(), false}, {"a", 5, inf, false}},
		},
		"one bound": {
			setting.Rule{Check: setting.Range, High: new(float64(5))},
			[]step{{"a", 0, -1e300, true}, {"a", 2, 5.1, false}},
		},
		"rate: a spike does not pass, what follows it does, and a step in the end": {
			setting.Rule{Check: setting.Rate, Change: 2, Per: time.Second},
			[]step{
				{"a", 0, 100, true},
				{"a", 1, 102, true},
				{"a", 2, 150, false},
				{"a", 3, 103, true},
				{"b", 3, 900, true},
				{"a", 4, math.NaN(), false},
				{"a", 4, inf, false},
				{"a", 3.5, 103, true},
				{"a", 3.5, 900, false},
				{"a", 4, 113, false},
				{"a", 9, 113, true},
			},
		},
		"stuck": {
			setting.Rule{Check: setting.Stuck, Longest: 2 * time.Second, Tolerance: 0.1},
			[]step{{"a", 0, 1, true}, {"a", 2, 1.05, true}, {"a", 2.1, 1.08, false}, {"a", 3, 1.2, true}, {"a", 1, 1.2, true}, {"a", 5, 1.2, true}, {"a", 6, 1.2, false}, {"b", 6, 1.2, true}},
		},
		"difference": {
			setting.Rule{Check: setting.Difference, Points: []string{"*/supply"}, Against: "{1}/return", Low: new(float64(0)), High: new(float64(10)), Window: 2 * time.Second},
			[]step{
				{"x/supply", 0, 99, true},
				{"x/return", 1, 20, true},
				{"x/supply", 2, 30, true},
				{"x/supply", 2, 31, false},
				{"x/supply", 3, 19, false},
				{"x/supply", 3.1, 19, true},
				{"y/supply", 2, 90, true},
				{"x/return", 4, inf, true},
				{"x/supply", 4, 900, true},
			},
		},
		"ratio": {
			setting.Rule{Check: setting.Ratio, Points: []string{"p"}, Against: "q", Low: new(0.5), High: new(float64(2))},
			[]step{{"q", 0, 0, true}, {"p", 0, 7, true}, {"q", 1, 4, true}, {"p", 1, 8, true}, {"p", 1, 9, false}, {"p", 1, 1.9, false}},
		},
	} {
		t.Run(name, func(t *testing.T) { run(t, c.rule, c.steps) })
	}
}

func TestWhatHasNoNumberPasses(t *testing.T) {
	rules := setting.Rules{{Name: "r", Check: setting.Range, High: new(float64(1))}}
	p := judge.New(rules.For("x"), judge.Memory{}).Point("a")
	for _, v := range []judge.Verdict{
		p.Judge(0, point.TextOf("warm"), point.Good), p.Judge(0, point.Value{}, point.BadTimeout), p.Judge(0, point.FloatOf(7), point.BadSensor),
	} {
		if v.Withheld || v.Rule >= 0 {
			t.Errorf("%+v", v)
		}
	}
}

func TestTheFirstRuleThatWithholdsEndsTheJudgement(t *testing.T) {
	rules := setting.Rules{
		{Name: "mark", Check: setting.Rate, Change: 1, Per: time.Second, Verdict: setting.Mark},
		{Name: "other", Check: setting.Range, High: new(float64(1)), To: []string{"y"}},
		{Name: "withhold", Check: setting.Range, High: new(float64(100)), Except: []string{"b"}},
	}
	j := judge.New(rules.For("x"), judge.Memory{})
	j.Point("a").Judge(at(0), point.FloatOf(0), point.Good)
	if v := j.Point("a").Judge(at(1), point.FloatOf(50), point.Good); v.Withheld || v.Rule != 0 || v.Quality != point.Uncertain {
		t.Errorf("%+v", v)
	}
	if v := j.Point("a").Judge(at(1), point.FloatOf(500), point.Good); !v.Withheld || v.Rule != 1 {
		t.Errorf("%+v", v)
	}
	if v := j.Point("b").Judge(at(1), point.FloatOf(500), point.Estimated); v.Withheld || v.Quality != point.Estimated {
		t.Errorf("%+v", v)
	}
}

func TestRulesThatAreWrongAreRefusedWithAdvice(t *testing.T) {
	for want, r := range map[string]setting.Rule{
		"name":    {Name: "a b", Check: setting.Range, High: new(float64(1))},
		"check":   {Name: "r"},
		"low":     {Name: "r", Check: setting.Range},
		"change":  {Name: "r", Check: setting.Rate},
		"longest": {Name: "r", Check: setting.Stuck},
		"against": {Name: "r", Check: setting.Ratio, Low: new(float64(1)), Against: "{x}"},
		"window":  {Name: "r", Check: setting.Range, Low: new(float64(1)), Window: time.Second},
		"to":      {Name: "r", Check: setting.Range, Low: new(float64(1)), To: []string{"nowhere"}},
		"high":    {Name: "r", Check: setting.Range, High: new(math.NaN())},

		"model":    {Name: "r", Check: setting.Residual, Model: map[string]float64{"a/{0}": 1}},
		"readings": {Name: "r", Check: setting.Residual, Readings: 2},
		"sigmas":   {Name: "r", Check: setting.Residual, Sigmas: -1},
	} {
		var keys []string
		setting.Rules{r}.Validate([]string{"cloud"}, func(key, _ string, _ ...any) { keys = append(keys, key) })
		if len(keys) != 1 || keys[0] != "judge[0]."+want {
			t.Errorf("%+v: %v instead of %s", r, keys, want)
		}
	}
}

// One reading through all built-in checks.
func BenchmarkJudge(b *testing.B) {
	rules := setting.Rules{
		{Name: "range", Check: setting.Range, Low: new(-1e9), High: new(1e9)},
		{Name: "rate", Check: setting.Rate, Change: 1e9},
		{Name: "stuck", Check: setting.Stuck, Longest: time.Hour},
		{Name: "difference", Check: setting.Difference, Points: []string{"a"}, Against: "b", Low: new(-1e9)},
	}
	j := judge.New(rules.For("x"), judge.Memory{})
	for i := range b.N {
		j.Point("b").Judge(int64(i), point.FloatOf(float64(i)), point.Good)
		if v := j.Point("a").Judge(int64(i), point.FloatOf(float64(i)), point.Good); v.Withheld {
			b.Fatalf("%+v", v)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/sample")
}

// One reading through a model of one other point.
func BenchmarkResidual(b *testing.B) {
	rules := setting.Rules{{Name: "residual", Check: setting.Residual, Points: []string{"a"}, Model: map[string]float64{"b": 1}}}
	j := judge.New(rules.For("x"), judge.Memory{})
	for i := range b.N {
		j.Point("b").Judge(int64(i), point.FloatOf(float64(i)), point.Good)
		if v := j.Point("a").Judge(int64(i), point.FloatOf(float64(i)), point.Good); v.Withheld {
			b.Fatalf("%+v", v)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/sample")
}
