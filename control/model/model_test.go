package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"voltbus/control"
	"voltbus/control/step"
	"voltbus/fault"
	"voltbus/point"
)

func TestReservationsAgreeWithAListOfWindows(t *testing.T) {
	type entry struct {
		who      string
		priority control.Priority
		windows  [][3]int // leaf set by path index, from, until
	}
	paths := []point.Path{"a", "a/x", "a/y", "b", "b/x"}
	rapid.Check(t, func(t *rapid.T) {
		m, minute := New(control.Limits{Grace: time.Second}), 0
		tasks := map[string]*entry{}
		started := func(e *entry) bool {
			return slices.ContainsFunc(e.windows, func(w [3]int) bool { return w[1] <= minute })
		}
		clash := func(a, b [3]int) bool {
			return a[1] < b[2] && b[1] < a[2] && (control.Covers(paths[a[0]], paths[b[0]]) || control.Covers(paths[b[0]], paths[a[0]]))
		}
		for i := range rapid.IntRange(1, 25).Draw(t, "requests") {
			minute += rapid.SampledFrom([]int{0, 0, 1, 5}).Draw(t, "pass")
			now := after(time.Duration(minute)*time.Minute + 2*time.Second) // beyond the grace of the last minute
			m.Advance(now)
			for name, e := range tasks {
				if !slices.ContainsFunc(e.windows, func(w [3]int) bool { return w[2] > minute }) {
					delete(tasks, name)
				}
			}
			e := &entry{who: rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "who"), priority: rapid.SampledFrom([]control.Priority{control.High, control.Low, control.LowPreempt}).Draw(t, "priority")}
			r := control.Reservation{Requester: e.who, Task: fmt.Sprint("t", i), Priority: e.priority}
			for range rapid.IntRange(1, 3).Draw(t, "windows") {
				from := minute + rapid.IntRange(0, 20).Draw(t, "from")
				w := [3]int{rapid.IntRange(0, 4).Draw(t, "path"), from, from + rapid.IntRange(1, 8).Draw(t, "length")}
				e.windows = append(e.windows, w)
				r.Windows = append(r.Windows, control.Window{Path: paths[w[0]], From: epoch.Add(time.Duration(w[1]) * time.Minute), Until: epoch.Add(time.Duration(w[2]) * time.Minute)})
			}
			want, lost := control.Why(""), []string(nil)
			for k := range e.windows {
				if slices.ContainsFunc(e.windows[:k], func(w [3]int) bool { return clash(w, e.windows[k]) }) {
					want = control.WhySelf
				}
			}
			for name, other := range tasks {
				meets := slices.ContainsFunc(e.windows, func(w [3]int) bool {
					return slices.ContainsFunc(other.windows, func(o [3]int) bool { return o[2] > minute && clash(w, o) })
				})
				switch yields := e.priority == control.High && (other.priority == control.LowPreempt || other.priority == control.Low && !started(other)); {
				case meets && yields:
					lost = append(lost, name)
				case meets && want == "":
					want = control.WhyConflict
				}
			}
			d := m.Reserve(now, r)
			if d.Why != want {
				t.Fatalf("at minute %d request %+v is %q (%v), want %q; there are %+v", minute, r, d.Why, d.Err, want, tasks)
			}
			if want != "" {
				continue
			}
			var got []string
			for _, h := range d.Lost {
				got = append(got, h.Task)
			}
			slices.Sort(got)
			slices.Sort(lost)
			if !slices.Equal(got, lost) {
				t.Fatalf("pre-empted %v, want %v", got, lost)
			}
			m.Advance(after(time.Duration(minute)*time.Minute + 4*time.Second))
			for _, name := range lost {
				delete(tasks, name)
			}
			tasks[r.Task] = e
		}
	})
}

func TestTenThousandReservationsEndAndLeaveNothing(t *testing.T) {
	m := New(control.Limits{})
	for i := range 10_000 {
		d := m.Reserve(after(0), control.Reservation{
			Requester: fmt.Sprint("agent", i%7), Task: fmt.Sprint("task", i), Priority: control.Low,
			Windows: []control.Window{{Path: point.Path(fmt.Sprintf("b/ahu%d", i%100)), From: epoch.Add(time.Duration(i/100) * time.Minute), Until: epoch.Add(time.Duration(i/100+1) * time.Minute)}},
		})
		if d.Status != control.Accepted {
			t.Fatalf("reservation %d: %v", i, d.Err)
		}
	}
	state := m.Export(after(0))
	m = New(control.Limits{})
	if _, err := m.Import(after(time.Second), state); err != nil {
		t.Fatal(err)
	}
	if n := len(m.Tasks()); n != 10_000 {
		t.Fatalf("after a restart there are %d tasks", n)
	}
	counts := map[control.EventKind]int{}
	for minute := range 101 {
		for _, e := range m.Advance(after(time.Duration(minute) * time.Minute)).Events {
			counts[e.Kind]++
		}
	}
	if counts[control.WindowEnded] != 10_000 || counts[control.TaskEnded] != 10_000 || counts[control.WindowStarted] != 9_900 { // 100 started with Import
		t.Errorf("got %v", counts)
	}
	if len(m.Tasks())+m.step.Wall.Len()+m.step.Steady.Len() > 0 {
		t.Errorf("something is left: %d tasks, %d and %d timers", len(m.Tasks()), m.step.Wall.Len(), m.step.Steady.Len())
	}
}

func TestChangesAddUpToTheWholeState(t *testing.T) {
	m, now := newTestModel(t, after(0)), after(0)
	stored := map[step.Key]control.Record{}
	store := func() {
		for _, r := range m.Changes() {
			if stored[step.Key{Kind: r.Kind, Key: r.Key}] = r; r.Data == nil {
				delete(stored, step.Key{Kind: r.Kind, Key: r.Key})
			}
		}
	}
	for i := range 40 {
		now = after(time.Duration(i) * time.Second)
		who := fmt.Sprint("a", i%3)
		d := m.Command(now, control.Command{ID: fmt.Sprint(i), Point: testPoints[i%3], Requester: who, Level: control.Level(9 + i%4), Value: point.FloatOf(float64(i)), Lease: 20 * time.Second})
		m.Reserve(now, control.Reservation{Requester: who, Task: fmt.Sprint(i), Priority: control.Low, Windows: []control.Window{{Path: "c", From: now.Wall.Add(time.Second), Until: now.Wall.Add(4 * time.Second)}}})
		m.Override(now, control.Override{Pattern: "c", Requester: who, Length: time.Duration(i%5) * time.Second})
		for _, w := range d.Writes {
			m.Answer(now, w.Point, control.Outcome{Write: w.ID, Value: w.Value})
		}
		store()
	}
	var got []control.Record
	for _, r := range stored {
		got = append(got, r)
	}
	step.Sort(got)
	want := m.Export(now).Records
	if a, b := text(t, got), text(t, want); a != b {
		t.Errorf("the changes add up to\n%s\nwant\n%s", a, b)
	}
}

// text writes records without times, which a record only carries as of its last change.
func text(t *testing.T, records []control.Record) string {
	t.Helper()
	var b strings.Builder
	for _, r := range records {
		var fields any
		if err := json.Unmarshal(r.Data, &fields); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, r.Kind, r.Key, fields)
	}
	return b.String()
}

func TestADamagedStateIsNotTakenOver(t *testing.T) {
	good := control.Record{Kind: step.Point, Key: "p", Data: json.RawMessage(`{"output":"held"}`)}
	for name, tt := range map[string]struct {
		state control.State
		want  string
	}{
		"another version": {control.State{Version: 2}, "the state has version 2, and this program knows 1"},
		"an unknown kind": {control.State{Version: 1, Records: []control.Record{{Kind: "x", Key: "k", Data: json.RawMessage(`{}`)}}}, `x k: the record cannot be read: "x" is no kind of record`},
		"no JSON":         {control.State{Version: 1, Records: []control.Record{good, {Kind: step.Task, Key: "k", Data: json.RawMessage(`{`)}}}, "task k: the record cannot be read"},
		"no windows":      {control.State{Version: 1, Records: []control.Record{{Kind: step.Task, Key: "k", Data: json.RawMessage(`{}`)}}}, "the task has no windows"},
		"a strange value": {control.State{Version: 1, Records: []control.Record{{Kind: step.Point, Key: "p", Data: json.RawMessage(`{"held":{"colour":"red"}}`)}}}, `"colour" is no kind of value`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(control.Limits{}).Import(after(0), tt.state)
			if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func FuzzImport(f *testing.F) {
	m := newTestModel(f, after(0))
	m.Reserve(after(0), control.Reservation{Requester: "ann", Task: "t", Priority: control.Low, Windows: []control.Window{{Path: "b/ahu1", From: epoch, Until: epoch.Add(time.Hour)}}})
	m.Command(after(0), control.Command{ID: "1", Point: testPoints[0], Requester: "ann", Level: 8, Value: point.FloatOf(1), Lease: time.Minute})
	m.Override(after(0), control.Override{Pattern: "b/ahu2", Requester: "eve", Length: time.Hour, Failsafe: true})
	for _, r := range m.Export(after(0)).Records {
		f.Add(r.Kind, r.Key, []byte(r.Data))
	}
	f.Fuzz(func(t *testing.T, kind, key string, data []byte) {
		m := newTestModel(t, after(0))
		r := control.Record{Kind: kind, Key: key, Data: data}
		e, err := m.Import(after(0), control.State{Version: control.Version, Records: []control.Record{r, r}})
		if err != nil {
			return
		}
		for range 100 { // whatever was read ends, or stands still
			for _, w := range e.Writes {
				m.Answer(m.step.Now, w.Point, control.Outcome{Write: w.ID, Value: w.Value})
			}
			wait, ok := m.Next(m.step.Now)
			if !ok {
				return
			}
			e = m.Advance(control.Instant{Wall: m.step.Now.Wall.Add(wait), Steady: m.step.Now.Steady + wait})
		}
	})
}

func TestSpecsThatMakeNoSenseChangeNothing(t *testing.T) {
	low, high := 1.0, 2.0
	m := New(control.Limits{})
	_, err := m.Declare(after(0), []control.Spec{
		{Point: "good", Writable: true},
		{Point: "a", Revert: control.RevertDefault},
		{Point: "b", Revert: "later"},
		{Point: "c", Default: point.FloatOf(3), Policy: &control.Policy{Range: control.Range{Min: &low, Max: &high}}},
		{Point: "d", Policy: &control.Policy{Range: control.Range{Min: &high, Max: &low}, Rate: control.Rate{Most: 1}, MinOn: -1}},
	})
	for _, want := range []string{
		"a: it reverts to a default and has none", `b: "later" is no way to revert`, "c: its default: 3 is out of range; write a number from 1 to 2",
		"d: the range is empty: 2 is above 1", "d: -1ns is below zero", "d: the rate needs both",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, known := m.View("good"); known {
		t.Error("a part of it was declared")
	}
}

func TestAPointThatGoesTakesItsCommandsAlong(t *testing.T) {
	m := newTestModel(t, after(0))
	m.Command(after(0), control.Command{ID: "1", Point: testPoints[0], Requester: "ann", Level: 8, Value: point.FloatOf(1), Lease: time.Minute})
	state := m.Export(after(0))
	if e := m.Remove(after(0), testPoints[:1]); len(e.Writes) > 0 || len(e.Events) != 1 || e.Events[0].Cause != control.CauseRemoved {
		t.Errorf("got %+v", e)
	}
	m = New(control.Limits{})
	e, err := m.Import(after(0), state)
	if err != nil || len(e.Writes) > 0 || len(e.Events) != 2 || e.Events[0].Kind != control.WriteUnknown || e.Events[1].Cause != control.CauseRemoved {
		t.Errorf("a restart without the point gave %+v, %v", e, err)
	}
	if len(m.Held("")) > 0 {
		t.Error("the command is still there")
	}
}

func TestMemoryOfAnswersIsBounded(t *testing.T) {
	m := New(control.Limits{Answers: 10})
	if _, err := m.Declare(after(0), []control.Spec{{Point: "p", Writable: true}}); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		m.Command(after(0), control.Command{ID: fmt.Sprint(i), Point: "p", Requester: "ann", Level: 8, Value: point.IntOf(1)})
	}
	if m.answers.Len() != 10 {
		t.Errorf("%d answers are remembered, want 10", m.answers.Len())
	}
	if d := m.Command(after(0), control.Command{ID: "45", Point: "p", Requester: "ann", Level: 8, Value: point.IntOf(1)}); !d.Repeat {
		t.Errorf("one of the last is forgotten: %+v", d)
	}
	if d := m.Command(after(0), control.Command{ID: "49", Point: "p", Requester: "bob", Level: 8, Value: point.IntOf(1)}); d.Repeat {
		t.Error("another requester's identifier was taken for its own")
	}
}

func TestALateOutcomeChangesNothing(t *testing.T) {
	m := newTestModel(t, after(0))
	d := m.Command(after(0), control.Command{ID: "1", Point: testPoints[0], Requester: "ann", Level: 8, Value: point.FloatOf(1)})
	id := d.Writes[0].ID
	m.Answer(after(0), testPoints[0], control.Outcome{Write: id, Value: point.FloatOf(1)})
	for _, o := range []control.Outcome{{Write: id, Err: errors.New("late")}, {Write: id + 1, Value: point.FloatOf(9)}, {}} {
		if e := m.Answer(after(0), testPoints[0], o); len(e.Writes)+len(e.Events) > 0 {
			t.Errorf("%+v gave %+v", o, e)
		}
	}
	if v, _ := m.View(testPoints[0]); v.Output != control.Confirmed {
		t.Errorf("the point is %v, want held", v.Output)
	}
}

// campus declares many points.
func campus(tb testing.TB, points int) (*Model, []point.Path) {
	tb.Helper()
	m := New(control.Limits{})
	paths, specs := make([]point.Path, points), make([]control.Spec, points)
	for i := range specs {
		paths[i] = point.Path(fmt.Sprintf("campus/b%d/ahu%d/p%d", i/1000, i/10%100, i%10))
		specs[i] = control.Spec{Point: paths[i], Kind: point.Float, Writable: true, Default: point.FloatOf(20)}
	}
	if _, err := m.Declare(after(0), specs); err != nil {
		tb.Fatal(err)
	}
	return m, paths
}

// BenchmarkCommandAt100000Points is a command that is decided and written, with 10,000 reservations
// around it: alone, and with the records that are to be stored.
func BenchmarkCommandAt100000Points(b *testing.B) {
	m, paths := campus(b, 100_000)
	for i := range 10_000 {
		m.Reserve(after(0), control.Reservation{
			Requester: "other", Task: fmt.Sprint(i), Priority: control.Low,
			Windows: []control.Window{{Path: paths[i*10].Parent(), From: epoch.Add(time.Hour), Until: epoch.Add(2 * time.Hour)}},
		})
	}
	m.Changes()
	i := 0
	for name, store := range map[string]func(){
		"decided":    func() { m.step.Changes() },
		"and stored": func() { m.Changes() },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			begin := processorTime(b)
			for b.Loop() {
				i++
				now := after(time.Duration(i) * time.Microsecond)
				d := m.Command(now, control.Command{
					ID: fmt.Sprint(i), Point: paths[i*7919%len(paths)], Requester: "ann", Level: 8,
					Value: point.FloatOf(float64(i % 30)), Lease: time.Minute, Reason: "load",
				})
				for _, w := range d.Writes {
					m.Answer(now, w.Point, control.Outcome{Write: w.ID, Value: w.Value})
				}
				store()
			}
			b.ReportMetric(float64(processorTime(b)-begin)/float64(b.N), "cpu-ns/op")
		})
	}
}

// processorTime is what the process used so far, which a busy machine does not change.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func BenchmarkReserveAmong10000(b *testing.B) {
	m := New(control.Limits{Answers: 10})
	for i := range 10_000 {
		m.Reserve(after(0), control.Reservation{
			Requester: "other", Task: fmt.Sprint("t", i), Priority: control.Low,
			Windows: []control.Window{{Path: point.Path(fmt.Sprintf("b/ahu%d", i%100)), From: epoch.Add(time.Duration(i/100) * time.Minute), Until: epoch.Add(time.Duration(i/100+1) * time.Minute)}},
		})
	}
	b.ReportAllocs()
	for b.Loop() {
		m.Reserve(after(0), control.Reservation{Requester: "ann", Task: "mine", Priority: control.Low, Windows: []control.Window{{Path: "b/ahu7", From: epoch.Add(200 * time.Minute), Until: epoch.Add(201 * time.Minute)}}})
		m.Cancel(after(0), "ann", "mine", "")
		m.Changes()
	}
}

// BenchmarkMemoryOfAPoint prints what a point takes, declared only and commanded.
func BenchmarkMemoryOfAPoint(b *testing.B) {
	heap := func() float64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return float64(s.HeapAlloc)
	}
	for b.Loop() {
		const points = 100_000
		before := heap()
		m, paths := campus(b, points)
		declared := heap()
		for i, p := range paths {
			d := m.Command(after(0), control.Command{ID: fmt.Sprint(i), Point: p, Requester: "ann", Level: 8, Value: point.FloatOf(1), Lease: time.Minute})
			m.Answer(after(0), p, control.Outcome{Write: d.Writes[0].ID, Value: point.FloatOf(1)})
			m.Changes()
		}
		commanded := heap()
		b.ReportMetric((declared-before)/points, "B/point")
		b.ReportMetric((commanded-declared)/points, "B/command")
		runtime.KeepAlive(m)
		runtime.KeepAlive(paths)
	}
}
