package command_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"voltbus/broker/command"
	"voltbus/broker/setting"
	"voltbus/broker/template"
	"voltbus/control/dispatch"
	"voltbus/device"
	"voltbus/fault"
	"voltbus/point"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shelf keeps points in memory, and fails as often as it is told.
type shelf struct {
	mu    sync.Mutex
	known []command.Known
	fails int
}

func (s *shelf) Commands(_ context.Context, each func(command.Known)) error {
	for _, k := range s.known {
		each(k)
	}
	return nil
}

func (s *shelf) PutCommands(_ context.Context, list []command.Known) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails > 0 {
		s.fails--
		return errors.New("the disk is full")
	}
	s.known = append(s.known, list...)
	return nil
}

// bench is a commander with a thermostat that is a function.
type bench struct {
	*command.Commander
	shelf     *shelf
	templates *template.Set
	answer    func(topic, payload string) // nil: nobody subscribes
	sent      []string
}

const hall = "thermostats/hall/state"

func newBench(t testing.TB, s *shelf) *bench {
	t.Helper()
	low, high := 5.0, 30.0
	set := setting.Set{Topic: "thermostats/{device}/set", Min: &low, Max: &high, Timeout: 4 * time.Second}
	asked := set
	asked.Ask, asked.AskPayload = "thermostats/{device}/get", "fan"
	templates, err := template.Compile([]setting.Template{{
		Name: "t", Topic: "thermostats/{device}/state", Device: "home/{device}", Format: "json",
		Points: []setting.Point{{Name: "setpoint", Type: "float", Unit: "degC", Set: set}, {Name: "fan", Type: "float", Set: asked}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{shelf: s, templates: templates}
	b.Commander, err = command.Open(t.Context(), command.Config{
		Storage: s, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Send: func(topic string, payload []byte, _ time.Duration) bool {
			b.sent = append(b.sent, topic+" "+string(payload))
			if b.answer == nil {
				return false
			}
			b.answer(topic, string(payload))
			return true
		},
		Make: func(k command.Known) *template.Command {
			m := templates.Find(k.Topic)
			if m == nil {
				return nil
			}
			for _, c := range m.Commands() {
				if c.Point == k.Point {
					return c
				}
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// found has the broker find the points of the thermostat.
func (b *bench) found() {
	for _, c := range b.templates.Find(hall).Commands() {
		b.Add(hall, c)
	}
}

// report has the thermostat report a point.
func (b *bench) report(name string, v float64) {
	b.Hear(&point.Scan{Device: "home/hall", Samples: []point.Sample{{Point: point.Path("home/hall/" + name), Time: time.Now(), Value: point.FloatOf(v)}}})
}

func (b *bench) write(name string, v float64) device.Outcome {
	return b.WriteMany(context.Background(), []device.Setting{{Point: point.Path("home/hall/" + name), Value: point.FloatOf(v)}})[0]
}

func TestAWriteEndsWithWhatTheDeviceReports(t *testing.T) {
	for _, c := range []struct {
		name, point string
		answer      func(b *bench) func(topic, payload string)
		want        float64
		kind        fault.Kind // Internal for no error
		took        time.Duration
		sent        int
	}{
		{"the value itself confirms at once", "setpoint", func(b *bench) func(string, string) {
			return func(string, string) { b.report("setpoint", 21) }
		}, 21, fault.Internal, 0, 1},
		{"another value first does not end the wait", "setpoint", func(b *bench) func(string, string) {
			return func(string, string) {
				b.report("setpoint", 19)
				time.AfterFunc(time.Second, func() { b.report("setpoint", 21) })
			}
		}, 21, fault.Internal, time.Second, 1},
		{"another value counts at the end of the time", "setpoint", func(b *bench) func(string, string) {
			return func(string, string) { b.report("setpoint", 19) }
		}, 19, fault.Internal, 4 * time.Second, 1},
		{"a report of another point is none", "setpoint", func(b *bench) func(string, string) {
			return func(string, string) { b.report("fan", 21) }
		}, 0, fault.Timeout, 4 * time.Second, 1},
		{"nobody subscribes", "setpoint", nil, 0, fault.Unreachable, 0, 1},
		{"a device that can be asked is asked after half the time", "fan", func(b *bench) func(string, string) {
			return func(topic, _ string) {
				if topic == "thermostats/hall/get" {
					b.report("fan", 21)
				}
			}
		}, 21, fault.Internal, 2 * time.Second, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, &shelf{})
				b.found()
				if c.answer != nil {
					b.answer = c.answer(b)
				}
				begin := time.Now()
				out := b.write(c.point, 21)
				if c.kind != fault.Internal {
					if !fault.Is(out.Err, c.kind) {
						t.Fatalf("got %v, want %s", out.Err, c.kind)
					}
				} else if n, _ := out.Value.Number(); out.Err != nil || n != c.want {
					t.Errorf("got %v, %v, want %v", out.Value, out.Err, c.want)
				}
				if took := time.Since(begin); took != c.took || len(b.sent) != c.sent {
					t.Errorf("took %s and sent %q, want %s and %d messages", took, b.sent, c.took, c.sent)
				}
			})
		})
	}
}

func TestAWriteThatIsCancelledEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &shelf{})
		b.found()
		b.answer = func(string, string) {}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		settings := []device.Setting{{Point: "home/hall/setpoint", Value: point.FloatOf(20)}, {Point: "home/hall/setpoint", Value: point.FloatOf(21)}}
		for i, out := range b.WriteMany(ctx, settings) { // the second one waits for the first
			if !errors.Is(out.Err, context.DeadlineExceeded) {
				t.Errorf("write %d: %v", i, out.Err)
			}
		}
	})
}

func TestWhatNoDeviceTakesIsRefusedWithoutAMessage(t *testing.T) {
	b := newBench(t, &shelf{})
	b.found()
	out := b.WriteMany(t.Context(), []device.Setting{
		{Point: "home/kitchen/setpoint", Value: point.FloatOf(1)}, {Point: "home/hall/setpoint", Value: point.TextOf("warm")},
	})
	if !fault.Is(out[0].Err, fault.NotFound) || !fault.Is(out[1].Err, fault.Invalid) || len(b.sent) > 0 {
		t.Errorf("got %+v, sent %q", out, b.sent)
	}
}

func TestAReadIsTheLastReportOrAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, &shelf{})
		b.found()
		b.answer = func(topic, _ string) {
			if topic == "thermostats/hall/get" {
				b.report("fan", 3)
			}
		}
		paths := []point.Path{"home/hall/setpoint", "home/hall/fan", "home/none/x"}
		got := b.ReadMany(t.Context(), paths)
		if n, _ := got[1].Sample.Value.Number(); !fault.Is(got[0].Err, fault.Timeout) || got[1].Err != nil || n != 3 || !fault.Is(got[2].Err, fault.NotFound) {
			t.Errorf("before any report: %+v", got)
		}
		b.report("setpoint", 18)
		got = b.ReadMany(t.Context(), paths[:1])
		if n, _ := got[0].Sample.Value.Number(); got[0].Err != nil || n != 18 {
			t.Errorf("after a report: %+v", got)
		}
		b.answer = nil
		if got = b.ReadMany(t.Context(), paths[1:2]); !fault.Is(got[0].Err, fault.Unreachable) {
			t.Errorf("while it is away: %+v", got)
		}
	})
}

func TestPointsAreKeptThenDeclaredAndKnownAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{fails: 2}
		b := newBench(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		declared := make(chan int, 10)
		ended := make(chan error)
		go func() {
			ended <- b.Run(ctx, func(context.Context) error { declared <- len(s.known); return nil })
		}()
		b.found()
		if kept := <-declared; kept != 2 { // after two failures, a second each
			t.Errorf("%d points are kept when they are declared, want 2", kept)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	again := newBench(t, &shelf{known: []command.Known{{Point: "home/hall/setpoint", Topic: hall}, {Point: "home/hall/gone", Topic: hall}, {Point: "x", Topic: "y"}}})
	if points := again.Points(); len(points) != 1 || points[0].Spec.Point != "home/hall/setpoint" || *points[0].Spec.Policy.Range.Max != 30 || !again.Owns("home/hall/setpoint") {
		t.Errorf("after a restart there are %+v", points)
	}
}

// lines are devices of the lines of a node: each point has the number of its place.
type lines struct{}

func (lines) WriteEach(_ context.Context, settings []device.Setting, notify func(int, device.Outcome)) {
	for i, s := range settings {
		notify(i, device.Outcome{Value: s.Value})
	}
}

func (l lines) WriteMany(ctx context.Context, settings []device.Setting) []device.Outcome {
	out := make([]device.Outcome, len(settings))
	l.WriteEach(ctx, settings, func(i int, o device.Outcome) { out[i] = o })
	return out
}

func (lines) ReadMany(_ context.Context, paths []point.Path) []device.Reading {
	out := make([]device.Reading, len(paths))
	for i := range paths {
		out[i].Sample = point.Sample{Point: paths[i], Value: point.FloatOf(7)}
	}
	return out
}

func TestPointsGoToTheOwnerOfTheirDevice(t *testing.T) {
	var none *command.Commander
	if got := none.Beside(lines{}); got != dispatch.Devices(lines{}) {
		t.Errorf("without a broker there are %T", got)
	}
	b := newBench(t, &shelf{})
	b.found()
	b.answer = func(_, payload string) {
		var v float64
		_, _ = fmt.Sscan(payload, &v)
		b.report("setpoint", v)
	}
	all := b.Beside(lines{})
	out := all.WriteMany(t.Context(), []device.Setting{
		{Point: "plant/a", Value: point.FloatOf(1)}, {Point: "home/hall/setpoint", Value: point.FloatOf(22)}, {Point: "plant/b", Value: point.FloatOf(2)},
	})
	var values []float64
	for _, o := range out {
		n, _ := o.Value.Number()
		values = append(values, n)
	}
	if !slices.Equal(values, []float64{1, 22, 2}) {
		t.Errorf("the outcomes are %v", values)
	}
	read := all.ReadMany(t.Context(), []point.Path{"home/hall/setpoint", "plant/a"})
	first, _ := read[0].Sample.Value.Number()
	second, _ := read[1].Sample.Value.Number()
	if first != 22 || second != 7 {
		t.Errorf("the readings are %v and %v", first, second)
	}
}
