package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"voltbus/alarm"
	"voltbus/alarm/monitor"
	"voltbus/alarm/storage"
	"voltbus/catalog"
	"voltbus/document"
	"voltbus/fault"
	"voltbus/internal/fulldisk"
	"voltbus/point"
	"voltbus/presence"
	"voltbus/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memoryLog is a log in memory.
type memoryLog struct {
	mu      sync.Mutex
	entries [][]byte
	grown   chan struct{}
}

func (l *memoryLog) ID() string { return "log" }

func (l *memoryLog) Bounds(context.Context) (first, last uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return 1, uint64(len(l.entries)), nil
}

func (l *memoryLog) Read(ctx context.Context, from uint64, deliver func(uint64, []byte) error) error {
	for {
		l.mu.Lock()
		entries, grown := l.entries, l.grown
		l.mu.Unlock()
		for ; from <= uint64(len(entries)); from++ {
			if err := deliver(from, entries[from-1]); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-grown:
		}
	}
}

// stand is a data directory and a log, with a monitor that runs.
type stand struct {
	t       *testing.T
	dir     string
	log     *memoryLog
	catalog *catalog.Catalog
	docs    *document.Store
	alerts  *presence.AgentHealth
	shift   atomic.Int64 // of the clock, in nanoseconds
	blocks  uint64

	*monitor.Monitor
	stop func()
}

// newStand has a monitor with rules, in the time of a bubble.
func newStand(t *testing.T, dir string, rules ...alarm.Rule) *stand {
	t.Helper()
	s := &stand{t: t, dir: dir, log: &memoryLog{grown: make(chan struct{})}}
	var err error
	if s.catalog, err = catalog.Open(t.Context(), t.TempDir(), time.Now); err != nil {
		t.Fatal(err)
	}
	s.docs = document.New(s.catalog, time.Now, func(c document.Change) { s.Changed(c) })
	if s.alerts, err = presence.Open(t.Context(), s.catalog, time.Now); err != nil {
		t.Fatal(err)
	}
	s.start()
	for _, r := range rules {
		if _, err := s.Put(t.Context(), r, "person:eve", "", document.AnyVersion); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *stand) start() {
	s.t.Helper()
	var err error
	s.Monitor, err = monitor.Open(s.t.Context(), monitor.Options{
		Dir: s.dir, Blocks: s.log, Documents: s.docs, Points: s.catalog, Alerts: s.alerts, Told: func(alarm.Transition) {},
		Now: func() time.Time { return time.Now().Add(time.Duration(s.shift.Load())) }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	s.stop = func() {
		cancel()
		if err := errors.Join(<-ended, s.Monitor.Close()); err != nil {
			s.t.Error(err)
		}
	}
	synctest.Wait()
}

// end stops the monitor for good.
func (s *stand) end() {
	s.stop()
	if err := s.catalog.Close(); err != nil {
		s.t.Error(err)
	}
}

// record adds a block with a value of each point, of now, to the log.
func (s *stand) record(value float64, paths ...point.Path) {
	s.t.Helper()
	s.blocks++
	b := &point.Block{Origin: "n", Sequence: s.blocks, Created: time.Now(), Points: paths}
	for i := range paths {
		b.Append(uint32(i), &point.Sample{Time: time.Now().UTC(), Value: point.FloatOf(value)}) //nolint:gosec // few
	}
	var e wire.Encoder
	data, err := e.AppendBlock(nil, b)
	if err != nil {
		s.t.Fatal(err)
	}
	s.log.mu.Lock()
	s.log.entries = append(s.log.entries, data)
	close(s.log.grown)
	s.log.grown = make(chan struct{})
	s.log.mu.Unlock()
}

// pass lets time pass.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // virtual time
	synctest.Wait()
}

// states returns the alarms as text.
func (s *stand) states() string {
	s.t.Helper()
	list, err := s.List(s.t.Context(), 1000)
	if err != nil {
		s.t.Fatal(err)
	}
	texts := make([]string, len(list.Alarms))
	for i := range list.Alarms {
		texts[i] = fmt.Sprint(list.Alarms[i].ID, " ", list.Alarms[i].State)
	}
	return strings.Join(texts, ", ")
}

// events returns what happened to an alarm, in order.
func (s *stand) events(id alarm.ID) string {
	s.t.Helper()
	list, err := s.History(s.t.Context(), storage.Query{Alarm: id})
	if err != nil {
		s.t.Fatal(err)
	}
	var texts []string
	for i := range list {
		texts = append([]string{string(list[i].Event)}, texts...)
	}
	return strings.Join(texts, " ")
}

func (s *stand) is(when, want string) {
	s.t.Helper()
	if got := s.states(); got != want {
		s.t.Errorf("%s: %q, want %q", when, got, want)
	}
}

// doubts compares which rules cannot be judged, and why.
func (s *stand) doubts(when, want string) {
	s.t.Helper()
	var texts []string
	for _, d := range s.Facts()().Doubts {
		texts = append(texts, fmt.Sprintf("%s: %s", d.Rule, d.Why))
	}
	if got := strings.Join(texts, ", "); got != want {
		s.t.Errorf("%s the doubts are %q, want %q", when, got, want)
	}
	for _, r := range s.Rules() {
		if (r.Wrong != nil || len(r.Unjudged) > 0) != strings.Contains(want, r.Name+": ") {
			s.t.Errorf("%s the list of rules says %v, %v", when, r.Wrong, r.Unjudged)
		}
	}
}

var hot = alarm.Rule{Name: "hot", Points: []string{"b/**"}, Check: alarm.High, Limit: new(80.0)}

func TestAfterARestartReadingsOfMeanwhileAreLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, t.TempDir(), hot)
		s.record(85, "b/x", "b/y", "c/z")
		pass(time.Second)
		s.is("above the limit", "hot@b/x unacknowledged, hot@b/y unacknowledged")
		if err := s.Acknowledge(t.Context(), "hot@b/x", "ada", "on my way"); err != nil {
			t.Fatal(err)
		}
		s.stop()
		s.record(70, "b/y")
		s.record(90, "b/new")
		s.start()
		pass(2 * time.Second)
		s.is("after a restart", "hot@b/new unacknowledged, hot@b/x acknowledged, hot@b/y returned")
		if got := s.events("hot@b/y"); got != "opened returned" {
			t.Errorf("the history is %q", got)
		}
		s.end()
	})
}

func TestAClockThatJumpsDoesNotOpenCloseOrLoseAlarms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, t.TempDir(), hot, alarm.Rule{Name: "late", Points: []string{"b/x"}, Check: alarm.Stale, Longest: 3600})
		s.record(85, "b/x")
		pass(time.Second)
		if err := s.Shelve(t.Context(), "hot@b/x", time.Now().Add(time.Hour), "ada", ""); err != nil {
			t.Fatal(err)
		}
		s.shift.Store(-int64(24 * time.Hour))
		pass(10 * time.Second)
		s.is("a day back", "hot@b/x shelved")
		s.record(70, "b/x")
		pass(time.Second)
		if got := s.events("hot@b/x"); got != "opened shelved returned" {
			t.Errorf("with a clock that is behind: %q", got)
		}
		s.shift.Store(0)
		s.record(85, "b/x")
		pass(time.Hour + 10*time.Second)
		s.is("when the shelf is over", "late@b/x unacknowledged, hot@b/x unacknowledged")
		s.end()
	})
}

func TestARuleOnAPointThatIsMissingWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, t.TempDir(), alarm.Rule{Name: "off", Points: []string{"b/pump"}, Check: alarm.Discrepancy, Feedback: "b/missing"})
		s.doubts("while nothing was ever read", "off: there is no point that it selects: b/pump")
		s.record(1, "b/pump")
		pass(time.Minute)
		s.is("without the feedback", "")
		s.doubts("without the feedback", "off: b/missing has no usable reading")
		s.stop()
		s.start()
		pass(2 * time.Second)
		s.doubts("after a restart, without a store", "off: there is no point that it selects: b/pump")
		s.record(1, "b/pump")
		s.record(0, "b/missing")
		pass(time.Second)
		s.is("with another feedback", "off@b/pump unacknowledged")
		s.doubts("with another feedback", "")
		s.end()
	})
}

func TestAStormOfRulesAndOfReadingsLosesNoTransition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rules, points = 50, 20
		s := newStand(t, t.TempDir())
		for i := range rules {
			r := hot
			r.Name = fmt.Sprintf("r%02d", i)
			if _, err := s.Put(t.Context(), r, "person:eve", "", document.AnyVersion); err != nil {
				t.Fatal(err)
			}
		}
		var paths []point.Path
		for i := range points {
			paths = append(paths, point.Path(fmt.Sprintf("b/p%02d", i)))
		}
		for _, v := range []float64{85, 70, 85} {
			s.record(v, paths...)
		}
		pass(time.Second)
		list, err := s.List(t.Context(), 10)
		if err != nil || list.All != rules*points || list.Open != rules*points || len(list.Alarms) != 10 || list.Flood.IsZero() {
			t.Errorf("of %d alarms %d open, flood %v, %v", list.All, list.Open, list.Flood, err)
		}
		if all, err := s.History(t.Context(), storage.Query{}); err != nil || len(all) != 3*rules*points {
			t.Errorf("%d transitions, %v", len(all), err)
		}
		for i := range rules {
			if err := s.Delete(t.Context(), fmt.Sprintf("r%02d", i), "person:eve", ""); err != nil {
				t.Fatal(err)
			}
		}
		s.is("without rules", "")
		s.end()
	})
}

func TestOfTwoWhoAcknowledgeAtOnceOneIsToldWhoWasFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, t.TempDir(), hot)
		s.record(85, "b/x")
		pass(time.Second)
		people := []string{"ada", "ben"}
		errs := make([]error, len(people))
		var group sync.WaitGroup
		for i, name := range people {
			group.Go(func() { errs[i] = s.Acknowledge(t.Context(), "hot@b/x", name, "") })
		}
		group.Wait()
		first, second := 0, 1
		if errs[0] != nil {
			first, second = 1, 0
		}
		if errs[first] != nil || !fault.Is(errs[second], fault.Conflict) || !strings.Contains(errs[second].Error(), people[first]+" acknowledged it") {
			t.Errorf("told: %v", errs)
		}
		if got := s.events("hot@b/x"); got != "opened acknowledged" {
			t.Errorf("the history is %q", got)
		}
		s.end()
	})
}

func TestAlertsOfAgentsAreAlarmsOfTheListAlsoAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, t.TempDir(), hot)
		say := func(text string) {
			if err := s.alerts.Alert("boiler", "flow", []byte(text)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		say(`{"severity":"critical","text":"no flow"}`)
		s.is("raised", "agent:boiler@flow unacknowledged")
		s.stop()
		say(`{"cleared":true}`)
		s.start()
		s.is("over while the node was off", "agent:boiler@flow returned")
		if err := s.Acknowledge(t.Context(), "agent:boiler@flow", "ada", ""); err != nil {
			t.Fatal(err)
		}
		s.is("seen", "")
		if got := s.events("agent:boiler@flow"); got != "opened returned acknowledged" {
			t.Errorf("the history is %q", got)
		}
		s.end()
	})
}

func TestWithAFullDiskAlarmsStayVisibleAndAreWrittenLater(t *testing.T) {
	dir := fulldisk.Mount(t, "8m")
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, dir, hot)
		ballast := fulldisk.Fill(t, dir)
		var paths []point.Path
		for i := range 500 {
			paths = append(paths, point.Path(fmt.Sprintf("b/%d/%s", i, strings.Repeat("x", 500))))
		}
		s.record(85, paths...)
		pass(time.Second)
		if list, err := s.List(t.Context(), 1); err != nil || list.Open != len(paths) || s.Trouble() == nil {
			t.Errorf("on a full disk %d are open, trouble %v, %v", list.Open, s.Trouble(), err)
		}
		id := alarm.IDOf("hot", paths[0])
		if err := s.Acknowledge(t.Context(), id, "ada", ""); err == nil {
			t.Error("an act that is not on disk is answered as done")
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		pass(10 * time.Second)
		if err := s.Trouble(); err != nil {
			t.Errorf("with room again: %v", err)
		}
		if got := s.events(id); got != "opened acknowledged" {
			t.Errorf("written later: %q", got)
		}
		s.end()
	})
}

func TestAPlanThatIsWrongIsSaidAndARightOneIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, t.TempDir(), hot)
		said := func() (texts []string) {
			f := s.Facts()()
			if f.Unkept != "" {
				t.Error(f.Unkept)
			}
			return f.Unheard
		}
		write := func(text string) {
			d := document.Document{Key: document.Key{Owner: document.Shared, Name: monitor.Escalation}, Type: document.JSON, Text: text, By: "person:eve"}
			if _, err := s.docs.Set(t.Context(), d, document.AnyVersion); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		write(`{"steps": [{"tell": ["ben"]}]}`)
		if got := fmt.Sprint(said()); !strings.Contains(got, "escalation, who is told of alarms, is wrong") || !strings.Contains(got, "ben") {
			t.Errorf("of a wrong plan health says %s", got)
		}
		write(`{}`)
		if got := said(); len(got) != 0 {
			t.Errorf("of a right plan health says %s", got)
		}
		s.end()
	})
}
