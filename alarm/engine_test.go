package alarm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/alarm"
	"voltbus/fault"
	"voltbus/point"
)

const second = int64(time.Second / time.Microsecond)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro()

// bench drives an engine: at is the number of seconds since it began.
type stand struct {
	t *testing.T
	*alarm.Engine
}

func newStand(t *testing.T, rules ...alarm.Rule) *stand {
	t.Helper()
	s := &stand{t, alarm.New(began, describe, nil)}
	for i := range rules {
		if err := rules[i].Validate(); err != nil {
			t.Fatal(err)
		}
	}
	s.SetRules(began, rules)
	return s
}

func describe(path point.Path) point.Info {
	info := point.Info{Interval: 10 * time.Second}
	if strings.HasPrefix(string(path), "ahu") {
		info.Tags = map[string]string{"equip": "ahu"}
	}
	return info
}

func at(seconds float64) int64 { return began + int64(seconds*float64(second)) }

func (s *stand) read(seconds float64, path point.Path, v point.Value) {
	s.Sample(at(seconds), &point.Sample{Point: path, Time: time.UnixMicro(at(seconds)).UTC(), Value: v})
	s.Tick(at(seconds))
}

// told returns the transitions as text, such as "high@a opened normal>unacknowledged 5".
func (s *stand) told() (list []string) {
	for _, t := range s.Take().Transitions {
		list = append(list, fmt.Sprintf("%s %s %s>%s %v", t.Alarm, t.Event, t.From, t.To, float64(t.At.UnixMicro()-began)/float64(second)))
	}
	return list
}

func (s *stand) expect(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.told()); diff != "" {
		s.t.Error("transitions (-want +got):\n" + diff)
	}
}

func high() alarm.Rule {
	return alarm.Rule{Name: "high", Points: []string{"**"}, Check: alarm.High, Limit: new(80.0)}
}

func TestAnAlarmGoesThroughTheStatesOfTheStandard(t *testing.T) {
	s := newStand(t, high())
	s.read(1, "b/temp", point.FloatOf(80))
	s.expect()
	s.read(2, "b/temp", point.FloatOf(81))
	s.expect("high@b/temp opened normal>unacknowledged 2")
	if err := s.Acknowledge(at(3), "high@b/temp", "anna", "on my way"); err != nil {
		t.Fatal(err)
	}
	s.expect("high@b/temp acknowledged unacknowledged>acknowledged 3")
	if err := s.Acknowledge(at(4), "high@b/temp", "ben", ""); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "anna") {
		t.Errorf("the second who acknowledges is told %v", err)
	}
	s.read(5, "b/temp", point.FloatOf(79))
	s.expect("high@b/temp returned acknowledged>normal 5")
	s.read(6, "b/temp", point.FloatOf(90))
	s.read(7, "b/temp", point.FloatOf(70))
	s.expect("high@b/temp opened normal>unacknowledged 6", "high@b/temp returned unacknowledged>returned 7")
	s.read(8, "b/temp", point.FloatOf(90))
	s.read(9, "b/temp", point.FloatOf(70))
	s.told()
	if list := s.List(); len(list) != 1 || list[0].Count != 2 || list[0].Now != "70" || list[0].Value != "90" {
		t.Errorf("listed: %+v", list)
	}
	if err := s.Acknowledge(at(10), "high@b/temp", "ben", ""); err != nil {
		t.Fatal(err)
	}
	s.expect("high@b/temp acknowledged returned>normal 10")
	if list := s.List(); len(list) > 0 {
		t.Errorf("what is normal is listed: %+v", list)
	}
	if err := s.Acknowledge(at(11), "high@b/temp", "ben", ""); !fault.Is(err, fault.Conflict) {
		t.Errorf("what is normal is acknowledged: %v", err)
	}
	if err := s.Acknowledge(at(11), "low@b/temp", "ben", ""); !fault.Is(err, fault.NotFound) {
		t.Errorf("what there is not is acknowledged: %v", err)
	}
}

func TestALatchedAlarmWaitsToBeReset(t *testing.T) {
	rule := high()
	rule.Latching = true
	s := newStand(t, rule)
	s.read(1, "p", point.IntOf(90))
	if err := s.Reset(at(1), "high@p", "anna", ""); !fault.Is(err, fault.Conflict) {
		t.Errorf("an active alarm is reset: %v", err)
	}
	s.read(2, "p", point.IntOf(10))
	s.expect("high@p opened normal>unacknowledged 1", "high@p returned unacknowledged>latched_unacknowledged 2")
	if err := s.Reset(at(3), "high@p", "anna", ""); !fault.Is(err, fault.Conflict) {
		t.Errorf("reset before it was acknowledged: %v", err)
	}
	if err := s.Acknowledge(at(4), "high@p", "anna", ""); err != nil {
		t.Fatal(err)
	}
	if err := s.Reset(at(5), "high@p", "anna", ""); err != nil {
		t.Fatal(err)
	}
	s.expect("high@p acknowledged latched_unacknowledged>latched_acknowledged 4", "high@p reset latched_acknowledged>normal 5")
}

func TestHysteresisAndDelaysKeepAnAlarmFromChattering(t *testing.T) {
	rule := high()
	rule.Deadband, rule.OnDelay, rule.OffDelay = 5, 10, 20
	s := newStand(t, rule)
	s.read(0, "p", point.FloatOf(81))
	s.read(5, "p", point.FloatOf(79))
	s.read(6, "p", point.FloatOf(81))
	s.Tick(at(15))
	s.expect()
	s.Tick(at(17))
	s.expect("high@p opened normal>unacknowledged 16")
	s.read(20, "p", point.FloatOf(76))
	s.Tick(at(60))
	s.expect()
	s.read(61, "p", point.FloatOf(75))
	s.read(70, "p", point.FloatOf(76))
	s.read(71, "p", point.FloatOf(74))
	s.read(95, "p", point.FloatOf(74))
	s.expect("high@p returned unacknowledged>returned 91")
}

func TestEachCheckFindsWhatItIsFor(t *testing.T) {
	tests := map[string]struct {
		rule alarm.Rule
		do   func(*stand)
		want []string
	}{
		"low": {alarm.Rule{Check: alarm.Low, Limit: new(5.0), Deadband: 1}, func(s *stand) {
			s.read(1, "p", point.FloatOf(4))
			s.read(2, "p", point.FloatOf(5.5))
			s.read(3, "p", point.FloatOf(6))
		}, []string{"r@p opened normal>unacknowledged 1", "r@p returned unacknowledged>returned 3"}},
		"rate": {alarm.Rule{Check: alarm.Rate, Change: 5, Per: 60}, func(s *stand) {
			s.read(0, "p", point.FloatOf(20))
			s.read(30, "p", point.FloatOf(24))
			s.read(61, "p", point.FloatOf(28))
			s.read(70, "p", point.FloatOf(33))
			s.read(200, "p", point.FloatOf(33))
		}, []string{"r@p opened normal>unacknowledged 70", "r@p returned unacknowledged>returned 200"}},
		"stuck": {alarm.Rule{Check: alarm.Stuck, Longest: 60, Tolerance: 0.5}, func(s *stand) {
			s.read(0, "p", point.FloatOf(20))
			s.read(59, "p", point.FloatOf(20.4))
			s.read(60, "p", point.FloatOf(20.5))
			s.read(70, "p", point.FloatOf(21))
		}, []string{"r@p opened normal>unacknowledged 60", "r@p returned unacknowledged>returned 70"}},
		"stale, by the interval of the point": {alarm.Rule{Check: alarm.Stale}, func(s *stand) {
			s.read(0, "p", point.FloatOf(20))
			s.read(10, "p", point.FloatOf(20))
			s.Tick(at(39))
			s.Tick(at(41))
			s.read(50, "p", point.FloatOf(20))
			s.Tick(at(70))
		}, []string{"r@p opened normal>unacknowledged 40", "r@p returned unacknowledged>returned 50"}},
		"state": {alarm.Rule{Check: alarm.Is, Values: []string{"true", "fault"}}, func(s *stand) {
			s.read(1, "p", point.BoolOf(true))
			s.read(2, "p", point.TextOf("fault"))
			s.read(3, "p", point.TextOf("ok"))
		}, []string{"r@p opened normal>unacknowledged 1", "r@p returned unacknowledged>returned 3"}},
		"discrepancy": {alarm.Rule{Points: []string{"*/command"}, Check: alarm.Discrepancy, Feedback: "{1}/status", OnDelay: 5}, func(s *stand) {
			s.read(0, "fan/command", point.BoolOf(true))
			s.Tick(at(9))
			s.read(10, "fan/status", point.BoolOf(false))
			s.Tick(at(20))
			s.read(21, "fan/status", point.BoolOf(true))
		}, []string{"r@fan/command opened normal>unacknowledged 15", "r@fan/command returned unacknowledged>returned 21"}},
		"what has a tag": {alarm.Rule{Tags: map[string]string{"equip": "ahu"}, Check: alarm.High, Limit: new(0.0)}, func(s *stand) {
			s.read(0, "ahu1/t", point.FloatOf(1))
			s.read(0, "vav1/t", point.FloatOf(1))
		}, []string{"r@ahu1/t opened normal>unacknowledged 0"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.rule.Name = "r"
			if len(tt.rule.Points) == 0 {
				tt.rule.Points = []string{"**"}
			}
			s := newStand(t, tt.rule)
			tt.do(s)
			s.expect(tt.want...)
		})
	}
}

func TestBadReadingsAndOldOnesChangeNothing(t *testing.T) {
	s := newStand(t, high())
	s.read(10, "p", point.FloatOf(90))
	s.told()
	s.Sample(at(11), &point.Sample{Point: "p", Time: time.UnixMicro(at(11)), Quality: point.Bad})
	s.Sample(at(12), &point.Sample{Point: "p", Time: time.UnixMicro(at(5)), Value: point.FloatOf(1)})
	s.expect()
}

func TestAShelvedAlarmComesBackWhenItsTimeIsOver(t *testing.T) {
	s := newStand(t, high())
	s.read(1, "p", point.FloatOf(90))
	if err := s.Shelve(at(2), "high@p", time.UnixMicro(at(100)), "anna", "being repaired"); err != nil {
		t.Fatal(err)
	}
	s.read(3, "p", point.FloatOf(10))
	s.read(4, "p", point.FloatOf(90))
	s.Tick(at(99))
	s.told()
	if list := s.List(); len(list) != 1 || list[0].State != alarm.Shelved || !list[0].Active || list[0].Open() {
		t.Errorf("listed: %+v", list)
	}
	s.Tick(at(101))
	s.expect("high@p shelf_expired shelved>unacknowledged 100")
	for _, until := range []float64{50, 101, 1e9} {
		if err := s.Shelve(at(101), "high@p", time.UnixMicro(at(until)), "anna", ""); !fault.Is(err, fault.Invalid) {
			t.Errorf("shelved until %v: %v", until, err)
		}
	}
}

func TestAnAlarmIsSuppressedByDesignWhileItsPlantIsOff(t *testing.T) {
	rule := alarm.Rule{Name: "low", Points: []string{"*/flow"}, Check: alarm.Low, Limit: new(5.0), SuppressPoint: "{1}/pump", SuppressValues: []string{"false"}}
	s := newStand(t, rule)
	s.read(1, "a/pump", point.BoolOf(false))
	s.read(2, "a/flow", point.FloatOf(0))
	s.read(3, "a/pump", point.BoolOf(true))
	s.read(4, "a/flow", point.FloatOf(9))
	if err := s.Acknowledge(at(5), "low@a/flow", "anna", ""); err != nil {
		t.Fatal(err)
	}
	if got := len(s.List()); got > 0 {
		t.Errorf("%d alarms are left", got)
	}
	s.told()
	s.read(6, "a/flow", point.FloatOf(0))
	s.told()
	rule.SuppressPoint, rule.SuppressValues = "", nil
	s.read(7, "a/pump", point.BoolOf(false))
	s.expect("low@a/flow suppressed unacknowledged>suppressed 7")
	s.SetRules(at(8), []alarm.Rule{rule})
	s.expect("low@a/flow unsuppressed suppressed>unacknowledged 8")
}

func TestTheFirstAlarmOfAGroupIsMarked(t *testing.T) {
	rule := high()
	rule.Group = "{1}"
	s := newStand(t, rule)
	for i, path := range []point.Path{"a/x", "a/y", "b/x"} {
		s.read(float64(i), path, point.FloatOf(90))
	}
	first := map[point.Path]bool{}
	for _, a := range s.List() {
		first[a.Point] = a.First
	}
	if diff := cmp.Diff(map[point.Path]bool{"a/x": true, "a/y": false, "b/x": true}, first); diff != "" {
		t.Error("first out (-want +got):\n" + diff)
	}
}

func TestAnAlarmGoesOnInAnotherEngine(t *testing.T) {
	rule := high()
	rule.Deadband = 10
	s := newStand(t, rule)
	s.read(1, "p", point.FloatOf(90))
	s.read(1, "q", point.FloatOf(90))
	if err := s.Acknowledge(at(2), "high@p", "anna", "seen"); err != nil {
		t.Fatal(err)
	}
	kept := s.Take().Kept
	next := &stand{t, alarm.New(at(10), describe, kept)}
	next.SetRules(at(10), []alarm.Rule{rule})
	next.read(11, "p", point.FloatOf(75))
	next.expect()
	next.read(12, "p", point.FloatOf(70))
	next.expect("high@p returned acknowledged>normal 12")
	next.SetRules(at(13), nil)
	next.expect("high@q ended unacknowledged>normal 13")
	if list := next.List(); len(list) > 0 {
		t.Errorf("left: %+v", list)
	}
}

func TestAnAlertOfAnAgentIsAnAlarm(t *testing.T) {
	s := newStand(t)
	alert := alarm.External{Agent: "boiler", Key: "hot@night", Priority: alarm.PriorityHigh, Text: "too hot", Since: time.UnixMicro(at(0))}
	s.Raise(at(1), alert)
	alert.Text = "much too hot"
	s.Raise(at(2), alert)
	s.Return(at(3), alert.ID())
	s.expect("agent:boiler@hot@night opened normal>unacknowledged 0", "agent:boiler@hot@night returned unacknowledged>returned 3")
	if agent, key, is := alert.ID().Source(); agent != "boiler" || key != "hot@night" || !is {
		t.Errorf("the source is %q, %q, %v", agent, key, is)
	}
	s.SetRules(at(4), nil)
	if list := s.List(); len(list) != 1 || list[0].Text != "much too hot" || list[0].Since.UnixMicro() != at(3) {
		t.Errorf("listed: %+v", list)
	}
}

func TestAFloodIsNoticed(t *testing.T) {
	s := newStand(t, high())
	for i := range 11 {
		s.read(float64(i), point.Path(fmt.Sprintf("p%d", i)), point.FloatOf(90))
	}
	if since, count := s.Flood(); since.UnixMicro() != at(10) || count != 11 {
		t.Errorf("a flood of %d since %v", count, since)
	}
	s.Tick(at(700))
	if since, count := s.Flood(); !since.IsZero() || count != 0 {
		t.Errorf("a flood of %d since %v", count, since)
	}
}
