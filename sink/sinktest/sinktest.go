package sinktest

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"voltbus/internal/await"
	"voltbus/judge"
	rules "voltbus/judge/setting"
	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/setting"
)

// Peer is a destination that a suite is run against.
type Peer struct {
	Entry setting.Sink // what the configuration says; the suite adds name, tags and so on
	Kind  destination.Kind
	Kill  func() // the server, at once; nil if there is none
	Start func() // again
	// Read returns what the server has, by point and time: the value as Text gives it.
	Read func(t testing.TB) map[string]string
	// Numbers is true for a destination that refuses texts.
	Numbers bool
	// Late is false for a destination that refuses readings that are older than others of their point.
	Late bool
	// Blocks is how many blocks of the backlog of a benchmark are sent to a server that is slow; 0 for all.
	Blocks int
	// Judge are the rules that readings for it are judged by.
	Judge rules.Rules
	// Function makes the functions of rules; nil for none.
	Function func(rule *rules.Rule, to string) judge.Function
}

// Text is the form of a value in a test: a number with three decimals, or the text.
func Text(number float64, text string) string {
	if text != "" {
		return text
	}
	return fmt.Sprintf("%.3f", number)
}

// Key is the form of point and time in a test.
func Key(name string, micro int64) string { return fmt.Sprintf("%s@%d", name, micro) }

// Noon is when the samples of tests begin.
func Noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// At returns a sample so many milliseconds after noon.
func At(path string, ms int, v point.Value) point.Sample {
	return point.Sample{Point: point.Path(path), Time: Noon().Add(time.Duration(ms) * time.Millisecond), Value: v}
}

// Running is a node's part that runs.
type Running struct {
	*destination.Destinations

	stop func()
}

// Stop ends it, as a node that stops does.
func (r *Running) Stop() { r.stop() }

// Open runs one destination until the test ends, or Stop.
func Open(t testing.TB, dir string, log *Log, history destination.History, p *Peer) *Running {
	t.Helper()
	entry := p.Entry
	entry.Name, entry.Kind = "there", "tested"
	d, err := destination.Open(t.Context(), destination.Config{
		Sinks: []setting.Sink{entry}, Kinds: map[string]destination.Kind{"tested": p.Kind}, Dir: dir, Node: "home", Blocks: log, History: history, Judge: p.Judge, Function: p.Function,
		Unit: func(path point.Path) string {
			if path == "plant/boiler/temp" {
				return "degF"
			}
			return ""
		},
		Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	r := &Running{d, sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})}
	t.Cleanup(r.stop)
	return r
}

// State is how the destination is.
func (r *Running) State(t testing.TB) destination.State {
	t.Helper()
	return r.States(t.Context())[0]
}

// Until waits until the destination is so.
func (r *Running) Until(t testing.TB, what string, is func(*destination.State) bool) {
	t.Helper()
	await.Until(t, what, func() bool {
		s := r.State(t)
		return is(&s)
	}, func() string { return fmt.Sprintf("%+v", r.State(t)) })
}

// has waits until the server has these readings.
func (p *Peer) has(t testing.TB, want map[string]string) {
	t.Helper()
	var got map[string]string
	missing := func() (list []string) {
		for key, value := range want {
			if got[key] != value {
				list = append(list, fmt.Sprintf("%s: %q instead of %q", key, got[key], value))
			}
		}
		slices.Sort(list)
		return list
	}
	await.Until(t, "the destination has all readings", func() bool {
		got = p.Read(t)
		return len(missing()) == 0
	}, func() string {
		list := missing()
		return fmt.Sprintf("%d readings there, of %d asked for %d are missing: from %s to %s", len(got), len(want), len(list), list[:min(len(list), 3)], list[max(0, len(list)-3):])
	})
	for key, value := range got {
		if _, known := want[key]; !known {
			t.Errorf("there is %s = %q, which nobody sent", key, value)
		}
	}
}

// Run runs the suite. Each case opens a destination of its own.
func Run(t *testing.T, open func(t *testing.T) *Peer) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, *Peer)
	}{
		{"values arrive in the shape of the configuration", arrive},
		{"a server that is killed loses nothing and gets everything", killServer},
		{"a node that ends between sending and remembering sends again", killNode},
		{"the history is sent from a day on", fromHistory},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t)
			if c.name == "the history is sent from a day on" && !p.Late {
				t.Skip("this destination takes no readings that are older than others")
			}
			c.run(t, p)
		})
	}
}

// arrive sends values of each kind.
func arrive(t *testing.T, p *Peer) {
	p.Entry.Except, p.Entry.Names = []string{"**/secret"}, "{node}.{1}.{last}"
	p.Entry.Units, p.Entry.Tags = map[string]string{"degF": "degC"}, map[string]string{"building": "{1}"}
	log := NewLog()
	r := Open(t, t.TempDir(), log, nil, p)
	bad := At("plant/boiler/flow", 3, point.Value{})
	bad.Quality = point.BadTimeout
	list := []point.Sample{
		At("plant/boiler/temp", 1, point.FloatOf(212)), At("plant/boiler/temp", 2, point.IntOf(32)), At("plant/boiler/on", 2, point.BoolOf(true)),
		At("plant/boiler/count", 2, point.IntOf(7)), bad, At("plant/secret", 4, point.FloatOf(1)), At(`plant/o'neill "x" \ ü,=`, 5, point.FloatOf(-0.25)),
	}
	at := func(name string, ms int64) string { return Key("home.plant."+name, Noon().UnixMicro()+ms*1000) }
	want := map[string]string{
		at("temp", 1): "100.000", at("temp", 2): "0.000", at("on", 2): "1.000", at("count", 2): "7.000", at(`o'neill "x" \ ü,=`, 5): "-0.250",
	}
	if !p.Numbers {
		list = append(list, At("plant/mode", 6, point.TextOf(`heat "1"`)))
		want[at("mode", 6)] = `heat "1"`
	}
	log.Add(t, list...)
	r.Until(t, "all are sent", func(s *destination.State) bool { return s.Sent == uint64(len(list)-1) })
	if s := r.State(t); s.Left != 1 || s.Counts.Refused != 0 || s.Waiting != 0 || s.Err != nil {
		t.Errorf("the account is %+v", s)
	}
	p.has(t, want)
}

// killServer kills the server while readings come.
func killServer(t *testing.T, p *Peer) {
	if p.Kill == nil {
		t.Skip("there is no server to kill")
	}
	log := NewLog()
	r := Open(t, t.TempDir(), log, nil, p)
	want := map[string]string{}
	const blocks, each = 20, 50
	total := uint64(0)
	add := func(from int) {
		for b := from; b < from+blocks; b++ {
			var list []point.Sample
			for i := range each {
				s := At(fmt.Sprintf("plant/p%d", i%5), b*1000+i, point.FloatOf(float64(b*each+i)))
				want[Key(string(s.Point), s.Time.UnixMicro())] = Text(float64(b*each+i), "")
				list = append(list, s)
			}
			log.Add(t, list...)
			total += each
		}
	}
	add(0)
	r.Until(t, "the first are sent", func(s *destination.State) bool { return s.Sent > 0 })
	p.Kill()
	add(blocks)
	r.Until(t, "it is noticed", func(s *destination.State) bool { return s.Err != nil && s.Waiting > 0 })
	p.Start()
	add(2 * blocks)
	r.Until(t, "all are sent", func(s *destination.State) bool { return s.Sent == total && s.Err == nil })
	p.has(t, want)
}

// killNode repeats what a node does that ends before it has stored its position.
func killNode(t *testing.T, p *Peer) {
	log, dir := NewLog(), t.TempDir()
	file := filepath.Join(dir, "sinks", "there.json")
	want := map[string]string{}
	add := func(from, to int) {
		for i := from; i < to; i++ {
			s := At("plant/a", i, point.FloatOf(float64(i)))
			want[Key("plant/a", s.Time.UnixMicro())] = Text(float64(i), "")
			log.Add(t, s)
		}
	}
	r := Open(t, dir, log, nil, p)
	add(0, 10)
	r.Until(t, "the first are sent", func(s *destination.State) bool { return s.Sent == 10 })
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	add(10, 20)
	r.Until(t, "more are sent", func(s *destination.State) bool { return s.Sent == 20 })
	r.Stop()
	if err := os.WriteFile(file, before, 0o600); err != nil {
		t.Fatal(err)
	}
	r = Open(t, dir, log, nil, p)
	add(20, 30)
	r.Until(t, "all are sent", func(s *destination.State) bool { return s.Sent == 30 })
	p.has(t, want)
}

// fromHistory sends what was recorded before the destination was added.
func fromHistory(t *testing.T, p *Peer) {
	log := NewLog()
	h := &History{Log: log, Samples: map[point.Path][]point.Sample{}}
	want := map[string]string{}
	for day := range 4 {
		s := At("plant/a", day*86_400_000, point.FloatOf(float64(day)))
		h.Samples["plant/a"] = append(h.Samples["plant/a"], s)
		if day > 0 {
			want[Key("plant/a", s.Time.UnixMicro())] = Text(float64(day), "")
		}
	}
	p.Entry.From = "2026-03-02"
	r := Open(t, t.TempDir(), log, h, p)
	r.Until(t, "the history is sent", func(s *destination.State) bool { return s.Filled == 3 && s.To.IsZero() })
	late := At("plant/a", 5*86_400_000, point.FloatOf(9))
	want[Key("plant/a", late.Time.UnixMicro())] = "9.000"
	log.Add(t, late)
	r.Until(t, "what comes is sent", func(s *destination.State) bool { return s.Sent == 1 })
	p.has(t, want)
}
