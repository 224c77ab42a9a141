package setting_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/meter/setting"
	"voltbus/meter/vee"
)

// problems validates a section.
func problems(s setting.Section) (list []string) {
	s.Validate(func(key, format string, args ...any) { list = append(list, key+": "+fmt.Sprintf(format, args...)) })
	return list
}

func TestTheDefaultIsRightAndOff(t *testing.T) {
	s := setting.Default()
	if list := problems(s); len(list) > 0 || s.Enabled() {
		t.Errorf("%q, enabled %v", list, s.Enabled())
	}
	if diff := cmp.Diff(vee.Rules{Negative: true}, s.Rules()); diff != "" {
		t.Error(diff)
	}
	s.Role = "mds"
	if !s.Enabled() {
		t.Error("a metering data system is not enabled")
	}
}

func TestEachKeyIsARule(t *testing.T) {
	s := setting.Section{Negative: true, Spike: 1.8, SpikeFloor: 0.5, Stuck: 12, Change: 5, High: 3, Low: 0.3, Sum: 0.5, Maximum: 1.5}
	want := vee.Rules{Negative: true, SpikeRatio: 1.8, SpikeFloor: 0.5, StuckCount: 12, DemandTolerance: 5, HighRatio: 3, LowRatio: 0.3, SumTolerance: 0.5, MaxRatio: 1.5}
	if diff := cmp.Diff(want, s.Rules()); diff != "" {
		t.Error(diff)
	}
	if err := want.Validate(); err != nil {
		t.Error(err)
	}
}

func TestEachBoundIsKept(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*setting.Section)
		want   string
	}{
		"no zone":                 {func(s *setting.Section) { s.Zone = "" }, `zone: "" is no time zone; write an IANA name, such as Europe/Berlin`},
		"the zone of the machine": {func(s *setting.Section) { s.Zone = "Local" }, `zone: "Local" is no time zone; write an IANA name, such as Europe/Berlin`},
		"little memory":           {func(s *setting.Section) { s.Memory = 63 }, "memory: 63 is out of range; write 64 to 1048576, such as 512"},
		"many that wait":          {func(s *setting.Section) { s.Unregistered = 100_000_001 }, "unregistered: 100000001 is out of range; write 0 to 100000000, such as 1000000"},
		"a long grace":            {func(s *setting.Section) { s.Grace = 7*24*time.Hour + 1 }, "grace: 168h0m0.000000001s is out of range; write 0s to 7d, such as 1h"},
		"a negative ratio":        {func(s *setting.Section) { s.Spike = -1 }, "spike: -1 is out of range; write a number above 0, or 0 to leave the rule out"},
		"no number":               {func(s *setting.Section) { s.Sum = math.NaN() }, "sum: NaN is out of range; write a number above 0, or 0 to leave the rule out"},
		"one in a row":            {func(s *setting.Section) { s.Stuck = 1 }, "stuck: 1 is out of range; write 2 or more, or 0 to leave the rule out"},
		"less than usual is high": {func(s *setting.Section) { s.High = 0.9 }, "high: 0.9 is out of range; write 1 or more, such as 3, or 0 to leave the rule out"},
		"more than usual is low":  {func(s *setting.Section) { s.Low = 1.1 }, "low: 1.1 is out of range; write a number up to 1, such as 0.3, or 0 to leave the rule out"},
		"below the maximum":       {func(s *setting.Section) { s.Maximum = 0.5 }, "maximum: 0.5 is out of range; write 1 or more, such as 1.5, or 0 to leave the rule out"},
	} {
		t.Run(name, func(t *testing.T) {
			s := setting.Default()
			tt.change(&s)
			if diff := cmp.Diff([]string{tt.want}, problems(s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
