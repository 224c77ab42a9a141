package alarm_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/alarm"
	"voltbus/point"
)

func TestWhyARuleCannotBeJudgedIsSaid(t *testing.T) {
	rule := func(check alarm.Check, more func(*alarm.Rule)) alarm.Rule {
		r := alarm.Rule{Name: "r", Points: []string{"b/*"}, Check: check}
		if more != nil {
			more(&r)
		}
		return r
	}
	feedback := func(r *alarm.Rule) { r.Feedback = "c/{2}" }
	text, number := point.TextOf("open"), point.FloatOf(1)
	for _, tt := range []struct {
		name  string
		rule  alarm.Rule
		value *point.Value
		want  string
	}{
		{"a limit, never read", rule(alarm.High, nil), nil, "b/x has no usable reading"},
		{"a limit, read", rule(alarm.High, nil), &number, ""},
		{"a limit for a text", rule(alarm.Low, nil), &text, `b/x is "open", not a number`},
		{"a state", rule(alarm.Is, func(r *alarm.Rule) { r.Values = []string{"shut"} }), &text, ""},
		{"a rate, read once", rule(alarm.Rate, func(r *alarm.Rule) { r.Change = 1 }), &number, ""},
		{"a command whose feedback was never read", rule(alarm.Discrepancy, feedback), &number, "c/x has no usable reading"},
		{"silence, of a point without an interval", rule(alarm.Stale, nil), &number, "the interval of b/x is not known; write longest into the rule"},
		{"silence, for a time of its own", rule(alarm.Stale, func(r *alarm.Rule) { r.Longest = 5 }), nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := alarm.New(at(0), func(p point.Path) point.Info { return point.Info{Path: p} }, nil)
			e.SetRules(at(0), []alarm.Rule{tt.rule})
			e.Look([]point.Path{"b/x"})
			if tt.value != nil {
				e.Sample(at(1), &point.Sample{Point: "b/x", Value: *tt.value})
			}
			var want []alarm.Unjudged
			if tt.want != "" {
				want = []alarm.Unjudged{{Alarm: "r@b/x", Rule: "r", Why: tt.want}}
			}
			if diff := cmp.Diff(want, e.Unjudged()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestARuleOnAPointThatIsMissingIsNamedOnce(t *testing.T) {
	e := alarm.New(at(0), func(p point.Path) point.Info { return point.Info{Path: p} }, nil)
	e.SetRules(at(0), []alarm.Rule{
		{Name: "all", Points: []string{"b"}, Check: alarm.High},
		{Name: "none", Points: []string{"d/*", "e"}, Check: alarm.High},
		{Name: "one", Points: []string{"b/x", "b/gone", "f/*"}, Check: alarm.High},
	})
	e.Look([]point.Path{"b/x", "b/y"})
	want := []alarm.Doubt{
		{Rule: "all", Why: "b/x has no usable reading", More: 1},
		{Rule: "none", Why: "there is no point that it selects: d/*, e"},
		{Rule: "one", Why: "there is no point b/gone", More: 1},
	}
	if diff := cmp.Diff(want, e.Doubts()); diff != "" {
		t.Error(diff)
	}
}

func TestADoubtEndsWithAReadingAndWithItsRule(t *testing.T) {
	e := alarm.New(at(0), func(p point.Path) point.Info { return point.Info{Path: p} }, nil)
	rules := []alarm.Rule{{Name: "off", Points: []string{"b/x"}, Check: alarm.Discrepancy, Feedback: "b/y"}, {Name: "gone", Points: []string{"b/z"}, Check: alarm.High}}
	e.SetRules(at(0), rules)
	doubts := func(want ...alarm.Doubt) {
		t.Helper()
		if diff := cmp.Diff(want, e.Doubts()); diff != "" {
			t.Error(diff)
		}
	}
	e.Look([]point.Path{"b/x"})
	gone := alarm.Doubt{Rule: "gone", Why: "there is no point that it selects: b/z"}
	doubts(gone, alarm.Doubt{Rule: "off", Why: "b/x has no usable reading"})
	e.Sample(at(1), &point.Sample{Point: "b/x", Value: point.IntOf(1)})
	doubts(gone, alarm.Doubt{Rule: "off", Why: "b/y has no usable reading"})
	e.Sample(at(2), &point.Sample{Point: "b/y", Value: point.IntOf(1)})
	doubts(gone)
	e.SetRules(at(3), rules[:1])
	doubts()
	e.SetRules(at(4), rules)
	e.Sample(at(5), &point.Sample{Point: "b/z", Value: point.IntOf(1)})
	doubts()
}
