package destination_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/judge"
	"voltbus/judge/setting"
	"voltbus/point"
	"voltbus/sink/destination"
	insert "voltbus/sink/setting"
	"voltbus/sink/sinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shelf is a destination in memory that keeps the last row of each point and time, and can be away.
type shelf struct {
	mu   sync.Mutex
	rows map[string]string
	away error
}

func (s *shelf) Write(_ context.Context, rows []destination.Row) ([]destination.Refusal, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away != nil {
		return nil, s.away
	}
	for i := range rows {
		s.rows[sinktest.Key(rows[i].Name, rows[i].Time)] = rows[i].Value.String() + " " + rows[i].Quality.String()
	}
	return nil, nil
}

func (*shelf) Close() error { return nil }

func (s *shelf) set(away error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

func (s *shelf) has() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.rows)
}

func newShelf(rules ...setting.Rule) (*shelf, *sinktest.Peer) {
	s := &shelf{rows: map[string]string{}}
	return s, &sinktest.Peer{Judge: rules, Kind: destination.Kind{Batch: 10, Parallel: 1, Make: func(*insert.Sink, destination.Environment) (destination.Writer, error) { return s, nil }}}
}

var (
	bounds = setting.Rule{Name: "bounds", Check: setting.Range, Low: new(float64(0)), High: new(float64(50))}
	steady = setting.Rule{Name: "steady", Check: setting.Rate, Change: 1, Per: time.Millisecond}
	doubt  = setting.Rule{Name: "doubt", Check: setting.Range, Points: []string{"plant/b"}, High: new(float64(10)), Verdict: setting.Mark}
)

func accounted(t *testing.T, r *sinktest.Running, all uint64) {
	t.Helper()
	if s := r.State(t); s.Sent+s.Left+s.Counts.Refused+s.Withheld+s.Missing != all {
		t.Errorf("of %d readings the account is %+v", all, s.Counts)
	}
}

func TestWhatARuleDoesNotBelieveWaitsForAPerson(t *testing.T) {
	s, p := newShelf(bounds, doubt)
	log := sinktest.NewLog()
	r := sinktest.Open(t, t.TempDir(), log, nil, p)
	log.Add(t, sinktest.At("plant/a", 0, point.FloatOf(20)), sinktest.At("plant/a", 1, point.FloatOf(99)), sinktest.At("plant/b", 1, point.FloatOf(11)), sinktest.At("plant/b", 2, point.FloatOf(-1)))
	r.Until(t, "all are judged", func(s *destination.State) bool { return s.Sent == 2 && s.Withheld == 2 && s.Held == 2 })
	accounted(t, r, 4)
	noon := sinktest.Noon().UnixMicro()
	want := map[string]string{sinktest.Key("plant/a", noon): "20 good", sinktest.Key("plant/b", noon+1000): "11 uncertain(range)"}
	if got := s.has(); !maps.Equal(got, want) {
		t.Errorf("the destination has %v", got)
	}
	state := r.State(t)
	if problem := state.Problem(); problem == "" {
		t.Error("nobody is told of what waits")
	}
	list, err := r.Withheld("there", "bounds", 0, 10)
	if err != nil || len(list) != 2 || list[0].Reason != "99 is not from 0 to 50" || list[0].Rule != "bounds" {
		t.Errorf("withheld are %+v, %v", list, err)
	}
	if n, err := r.Release(t.Context(), "there", "bounds"); n != 2 || err != nil {
		t.Errorf("released are %d, %v", n, err)
	}
	want[sinktest.Key("plant/a", noon+1000)], want[sinktest.Key("plant/b", noon+2000)] = "99 good", "-1 good"
	if got := s.has(); !maps.Equal(got, want) {
		t.Errorf("the destination has %v after the release", got)
	}
	log.Add(t, sinktest.At("plant/a", 3, point.FloatOf(100)))
	r.Until(t, "one more is withheld", func(s *destination.State) bool { return s.Held == 1 })
	if n, err := r.Dismiss("there", ""); n != 1 || err != nil {
		t.Errorf("discarded are %d, %v", n, err)
	}
	if s := r.State(t); s.Held != 0 || s.Released != 2 || s.Dismissed != 1 || s.Withheld != 3 || s.Rules[0].Withheld != 3 || s.Rules[1].Marked != 1 {
		t.Errorf("the account is %+v", s)
	}
	accounted(t, r, 5)
	if _, err := r.Withheld("there", "none", 0, 10); err == nil {
		t.Error("a rule that does not exist has readings")
	}
}

// The reading after each end is within the rate of the last one that passed, but not of none, nor of one that was withheld.
func TestRulesRememberAcrossACrashAndAnOutage(t *testing.T) {
	s, p := newShelf(steady)
	log, dir := sinktest.NewLog(), t.TempDir()
	file := filepath.Join(dir, "sinks", "there.json")
	r := sinktest.Open(t, dir, log, nil, p)
	log.Add(t, sinktest.At("plant/a", 0, point.FloatOf(20)))
	r.Until(t, "the first is sent", func(s *destination.State) bool { return s.Sent == 1 })
	log.Add(t, sinktest.At("plant/a", 1, point.FloatOf(21)))
	r.Until(t, "the next is sent", func(s *destination.State) bool { return s.Sent == 2 })
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	log.Add(t, sinktest.At("plant/a", 2, point.FloatOf(40)), sinktest.At("plant/a", 3, point.FloatOf(23)))
	r.Until(t, "the spike is withheld", func(s *destination.State) bool { return s.Sent == 3 && s.Held == 1 })
	r.Stop()
	if err := os.WriteFile(file, before, 0o600); err != nil { // as a node does that ends before it has stored its position
		t.Fatal(err)
	}
	r = sinktest.Open(t, dir, log, nil, p)
	r.Until(t, "the spike is withheld again, once", func(s *destination.State) bool { return s.Sent == 3 && s.Withheld == 1 && s.Held == 1 })
	s.set(errors.New("away"))
	log.Add(t, sinktest.At("plant/a", 4, point.FloatOf(24)), sinktest.At("plant/a", 5, point.FloatOf(60)))
	r.Until(t, "it is noticed", func(s *destination.State) bool { return s.Err != nil })
	s.set(nil)
	r.Until(t, "the same is found", func(s *destination.State) bool { return s.Sent == 4 && s.Withheld == 2 && s.Held == 2 })
	r.Stop()
	r = sinktest.Open(t, dir, log, nil, p)
	log.Add(t, sinktest.At("plant/a", 6, point.FloatOf(50)))
	r.Until(t, "it is compared with the last that passed", func(s *destination.State) bool { return s.Withheld == 3 })
	accounted(t, r, 7)
}

// oracle is a function in this process: it withholds 13, and counts how often it was asked about each value.
type oracle struct {
	mu    sync.Mutex
	asked map[string]int
}

func (o *oracle) Judge(_ context.Context, readings []judge.Reading) (list []judge.Opinion, _ error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range readings {
		o.asked[readings[i].Value.String()]++
		switch readings[i].Value.String() {
		case "13":
			list = append(list, judge.Opinion{Reading: i, Withheld: true, Reason: "unlucky"})
		case "14":
			list = append(list, judge.Opinion{Reading: i, Unjudged: true})
		}
	}
	return list, nil
}

func (*oracle) State() judge.FunctionState {
	return judge.FunctionState{Err: "it is tired", Since: sinktest.Noon(), Failures: 1}
}

func (*oracle) Close() {}

func TestFunctionsAreAskedOnceAboutWhatIsSent(t *testing.T) {
	s, p := newShelf(bounds, setting.Rule{Name: "luck", Check: setting.Function, File: "luck.py", Except: []string{"plant/c"}})
	o := &oracle{asked: map[string]int{}}
	p.Function = func(*setting.Rule, string) judge.Function { return o }
	log := sinktest.NewLog()
	r := sinktest.Open(t, t.TempDir(), log, nil, p)
	s.set(errors.New("away"))
	log.Add(t, sinktest.At("plant/a", 0, point.FloatOf(12)), sinktest.At("plant/a", 1, point.FloatOf(13)), sinktest.At("plant/a", 2, point.FloatOf(14)), sinktest.At("plant/a", 3, point.FloatOf(99)), sinktest.At("plant/c", 3, point.FloatOf(13)))
	r.Until(t, "it is noticed", func(s *destination.State) bool { return s.Err != nil })
	s.set(nil)
	r.Until(t, "all are judged", func(s *destination.State) bool { return s.Sent == 3 && s.Withheld == 2 && s.Held == 2 && s.Err == nil })
	accounted(t, r, 5)
	noon := sinktest.Noon().UnixMicro()
	want := map[string]string{sinktest.Key("plant/a", noon): "12 good", sinktest.Key("plant/a", noon+2000): "14 uncertain", sinktest.Key("plant/c", noon+3000): "13 good"}
	if got := s.has(); !maps.Equal(got, want) {
		t.Errorf("the destination has %v", got)
	}
	if want := map[string]int{"12": 1, "13": 1, "14": 1, "99": 1}; !maps.Equal(o.asked, want) {
		t.Errorf("asked %v", o.asked)
	}
	state := r.State(t)
	if c := state.Rules[1].RuleCounts; c != (destination.RuleCounts{Withheld: 1, Marked: 1, Unjudged: 1}) {
		t.Errorf("%+v", c)
	}
	if text := state.Problem(); !strings.Contains(text, `The rule "luck" cannot judge`) || !strings.Contains(text, "marks them: it is tired") {
		t.Errorf("it is told: %s", text)
	}
}
