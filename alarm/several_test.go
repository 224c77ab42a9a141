package alarm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/alarm"
	"voltbus/fault"
	"voltbus/point"
)

func several() alarm.Rule {
	return alarm.Rule{
		Name: "dt", Points: []string{"b1/supply"}, Check: alarm.Condition, Expression: "value - back < 2 and {b1/pump} == 1",
		Inputs: map[string]string{"back": "{1}/return"}, OnDelay: 5,
	}
}

func (s *stand) unjudged() string {
	var list []string
	for _, u := range s.Unjudged() {
		list = append(list, string(u.Alarm)+": "+u.Why)
	}
	return strings.Join(list, "\n")
}

func TestAnExpressionOnSeveralPointsIsJudgedWithFreshReadingsOnly(t *testing.T) {
	s := newStand(t, several())
	s.Look([]point.Path{"b1/supply"})
	if got := s.unjudged(); got != "dt@b1/supply: b1/supply has no usable reading; b1/return has no usable reading; b1/pump has no usable reading" {
		t.Errorf("without readings: %s", got)
	}
	s.read(0, "b1/supply", point.FloatOf(41))
	s.read(1, "b1/return", point.FloatOf(40))
	s.read(2, "b1/pump", point.BoolOf(true))
	s.read(8, "b1/supply", point.FloatOf(41))
	if diff := cmp.Diff([]string{"dt@b1/supply opened normal>unacknowledged 7"}, s.told()); diff != "" {
		t.Error(diff)
	}
	if a, _ := s.Get("dt@b1/supply"); a.Value != "value 41, back 40, b1/pump true" || a.Unjudged != "" || a.Text != "b1/supply fulfils value - back < 2 and {b1/pump} == 1" {
		t.Errorf("the alarm is %+v", a)
	}
	// The return is silent for more than three intervals: the rule cannot be judged, and the alarm stays
	s.read(35, "b1/pump", point.BoolOf(true))
	s.read(36, "b1/supply", point.FloatOf(60))
	if a, _ := s.Get("dt@b1/supply"); a.State != alarm.Unacknowledged || a.Unjudged != "b1/return has no reading since 2026-03-01 12:00:01 UTC" {
		t.Errorf("with an old reading: %s, %q", a.State, a.Unjudged)
	}
	// A reading that is not usable is none, and one side that decides is enough
	s.Sample(at(37), &point.Sample{Point: "b1/pump", Time: time.UnixMicro(at(37)).UTC(), Value: point.BoolOf(false), Quality: point.BadStale})
	if got := s.unjudged(); !strings.Contains(got, "the newest reading of b1/pump is not usable") {
		t.Errorf("with a bad reading: %s", got)
	}
	if got := s.told(); len(got) != 0 {
		t.Errorf("meanwhile %v", got)
	}
	s.read(38, "b1/pump", point.BoolOf(false))
	if diff := cmp.Diff([]string{"dt@b1/supply returned unacknowledged>returned 38"}, s.told()); diff != "" || s.unjudged() != "" {
		t.Error(diff, s.unjudged())
	}
}

func TestADelayOfAnExpressionBeginsAnewAfterItCouldNotBeJudged(t *testing.T) {
	s := newStand(t, several())
	s.read(0, "b1/supply", point.FloatOf(41))
	s.read(0, "b1/return", point.FloatOf(40))
	s.read(0, "b1/pump", point.IntOf(1))
	s.Sample(at(2), &point.Sample{Point: "b1/pump", Time: time.UnixMicro(at(2)).UTC(), Quality: point.BadStale})
	s.Tick(at(6))
	if got := s.told(); len(got) != 0 {
		t.Errorf("opened while it could not be judged: %v", got)
	}
	s.read(7, "b1/pump", point.IntOf(1))
	s.Tick(at(11))
	if got := s.told(); len(got) != 0 {
		t.Errorf("opened before the delay: %v", got)
	}
	s.Tick(at(13))
	if diff := cmp.Diff([]string{"dt@b1/supply opened normal>unacknowledged 12"}, s.told()); diff != "" {
		t.Error(diff)
	}
}

func TestARuleForALimitNeedsIt(t *testing.T) {
	for _, check := range []alarm.Check{alarm.High, alarm.Low} {
		r := alarm.Rule{Name: "r", Points: []string{"**"}, Check: check}
		if err := r.Validate(); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "limit: missing; write the limit") {
			t.Errorf("%s without a limit: %v", check, err)
		}
		r.Limit = new(0.0)
		if err := r.Validate(); err != nil {
			t.Errorf("%s with the limit 0: %v", check, err)
		}
	}
}

func TestAnExpressionThatIsWrongSaysWhatToWrite(t *testing.T) {
	for want, change := range map[string]func(*alarm.Rule){
		"character 7: \"back\" is not expected": func(r *alarm.Rule) { r.Expression = "value back" },
		"is not an input":                       func(r *alarm.Rule) { r.Inputs = nil },
		"is not in the expression":              func(r *alarm.Rule) { r.Inputs["other"] = "b/x" },
		"it uses 0 points":                      func(r *alarm.Rule) { r.Expression, r.Inputs = "1 < 2", nil },
		"character 1: it ends where":            func(r *alarm.Rule) { r.Expression = "" },
	} {
		r := several()
		change(&r)
		if err := r.Validate(); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
