package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"voltbus/control"
	"voltbus/fault"
	"voltbus/point"
)

var epoch = time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)

// after is the instant some time after the epoch, on both clocks.
func after(d time.Duration) control.Instant {
	return control.Instant{Wall: epoch.Add(d), Steady: time.Hour + d}
}

// plant is the other side: points that take writes, and sometimes do not.
type plant struct {
	values map[point.Path]float64
	open   []control.Write
	events []control.Event
}

func (p *plant) take(e control.Effects) {
	p.open = append(p.open, e.Writes...)
	p.events = append(p.events, e.Events...)
}

// half is what a point has that took a part of a value: nobody wishes it.
const half = 77

var testPoints = []point.Path{"b/ahu1/fan", "b/ahu1/temp", "b/ahu2/temp"}

func newTestModel(t interface{ Fatalf(string, ...any) }, now control.Instant) *Model {
	m := New(control.Limits{})
	var specs []control.Spec
	for _, p := range testPoints {
		specs = append(specs, control.Spec{Point: p, Kind: point.Float, Writable: true, Default: point.FloatOf(-1), Policy: &control.Policy{Assert: control.AssertAlways}})
	}
	if _, err := m.Declare(now, specs); err != nil {
		t.Fatalf("declare: %v", err)
	}
	return m
}

// history drives the model and the reference together.
type history struct {
	*rapid.T
	model *Model
	ref   reference
	plant plant
	now   control.Instant
	count int
}

func TestRandomHistoriesAgreeWithAListThatIsSearched(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &history{T: t, now: after(0), ref: reference{frozen: map[point.Pattern]time.Duration{}}}
		h.model, h.plant.values = newTestModel(t, h.now), map[point.Path]float64{}
		t.Repeat(map[string]func(*rapid.T){
			"command":  h.command,
			"release":  h.release,
			"renew":    h.renew,
			"leave":    h.leave,
			"pass":     h.pass,
			"jump":     h.jump,
			"answer":   h.answer,
			"override": h.override,
			"clear":    h.clear,
			"panel":    h.panel,
			"restart":  h.restart,
			"":         h.check,
		})
		h.drain()
	})
}

func (h *history) who() string       { return rapid.SampledFrom([]string{"ann", "bob"}).Draw(h.T, "who") }
func (h *history) point() point.Path { return rapid.SampledFrom(testPoints).Draw(h.T, "point") }

func (h *history) span() time.Duration {
	return time.Duration(rapid.IntRange(0, 40).Draw(h.T, "seconds")) * time.Second
}

func (h *history) command(*rapid.T) {
	h.count++
	w := wish{
		point: h.point(), who: h.who(), id: fmt.Sprint(h.count), level: control.Level(rapid.IntRange(1, 16).Draw(h.T, "level")),
		value: float64(rapid.IntRange(0, 3).Draw(h.T, "value")), fresh: true,
	}
	c := control.Command{ID: w.id, Point: w.point, Requester: w.who, Level: w.level, Value: point.FloatOf(w.value), Lease: h.span()}
	if c.Lease > 0 {
		w.endsSteady = h.now.Steady + c.Lease
	}
	d := h.model.Command(h.now, c)
	h.plant.take(d.Effects)
	if granted := h.ref.command(w); granted != (d.Status == control.Accepted) {
		h.Fatalf("command %+v is %v (%v), and the reference says %v", c, d.Status, d.Err, granted)
	}
	again := h.model.Command(h.now, c)
	if !again.Repeat || again.Status != d.Status || len(again.Writes)+len(again.Events) > 0 {
		h.Fatalf("a repeat gave %+v", again)
	}
}

func (h *history) release(*rapid.T) {
	who, p := h.who(), h.point()
	h.plant.take(h.model.Release(h.now, who, control.Selection{Point: p}, "").Effects)
	h.ref.wishes = slices.DeleteFunc(h.ref.wishes, func(w wish) bool { return w.who == who && w.point == p })
}

func (h *history) renew(*rapid.T) {
	who, length := h.who(), h.span()+time.Second
	d := h.model.Renew(h.now, who, control.Selection{}, length)
	h.plant.take(d.Effects)
	found := false
	for i, w := range h.ref.wishes {
		if w.who == who && w.endsSteady > 0 {
			h.ref.wishes[i].endsSteady, found = h.now.Steady+length, true
		}
	}
	if found != (d.Status == control.Accepted) {
		h.Fatalf("renew of %s is %v (%v), want %v", who, d.Status, d.Err, found)
	}
}

func (h *history) leave(*rapid.T) {
	who := h.who()
	h.plant.take(h.model.Leave(h.now, who, control.CauseLeft, ""))
	h.ref.wishes = slices.DeleteFunc(h.ref.wishes, func(w wish) bool { return w.who == who })
}

func (h *history) pass(*rapid.T) {
	d := h.span()
	h.now = control.Instant{Wall: h.now.Wall.Add(d), Steady: h.now.Steady + d}
	h.plant.take(h.model.Advance(h.now))
	h.ref.advance(h.now.Steady)
}

// jump moves the wall clock alone: nothing may come of it.
func (h *history) jump(*rapid.T) {
	h.now.Wall = h.now.Wall.Add(time.Duration(rapid.IntRange(-90, 90).Draw(h.T, "minutes")) * time.Minute)
	if e := h.model.Advance(h.now); len(e.Writes)+len(e.Events) > 0 {
		h.Fatalf("a jump of the clock caused %+v", e)
	}
}

func (h *history) override(*rapid.T) {
	o := control.Override{
		Pattern:   rapid.SampledFrom([]point.Pattern{"b/ahu1", "**/temp"}).Draw(h.T, "pattern"),
		Requester: h.who(), Length: h.span(), Failsafe: rapid.Bool().Draw(h.T, "failsafe"),
	}
	h.plant.take(h.model.Override(h.now, o).Effects)
	end := h.now.Steady + o.Length
	if o.Length == 0 {
		end = 0
	}
	if old, there := h.ref.frozen[o.Pattern]; there && (old == 0 || end != 0 && end < old) {
		end = old
	}
	h.ref.frozen[o.Pattern] = end
	if o.Failsafe {
		h.ref.wishes = slices.DeleteFunc(h.ref.wishes, func(w wish) bool { return o.Pattern.Match(w.point) })
	}
}

func (h *history) clear(*rapid.T) {
	pattern := rapid.SampledFrom([]point.Pattern{"b/ahu1", "**/temp"}).Draw(h.T, "pattern")
	d := h.model.ClearOverride(h.now, pattern, "ann")
	h.plant.take(d.Effects)
	if _, there := h.ref.frozen[pattern]; there != (d.Status == control.Accepted) {
		h.Fatalf("clearing %s is %v", pattern, d.Status)
	}
	delete(h.ref.frozen, pattern)
}

// restart writes the state as JSON and goes on with a new model. What was being written is lost on
// its way, or was carried out.
func (h *history) restart(*rapid.T) {
	for _, w := range h.plant.open {
		if rapid.Bool().Draw(h.T, "arrived") && !w.Read && !w.Release {
			h.plant.values[w.Point], _ = w.Value.Number()
		}
	}
	h.plant.open = nil
	data, err := json.Marshal(h.model.Export(h.now))
	if err != nil {
		h.Fatalf("export: %v", err)
	}
	var state control.State
	if err := json.Unmarshal(data, &state); err != nil {
		h.Fatalf("read the state: %v", err)
	}
	h.now.Steady = time.Duration(rapid.IntRange(1, 1000).Draw(h.T, "new clock")) * time.Second
	old := h.model.step.Now.Steady
	h.model = newTestModel(h, h.now)
	e, err := h.model.Import(h.now, state)
	if err != nil {
		h.Fatalf("import: %v", err)
	}
	h.plant.take(e)
	for i := range h.ref.wishes {
		h.ref.wishes[i].first = false
		if w := &h.ref.wishes[i]; w.endsSteady > 0 {
			w.endsSteady += h.now.Steady - old
		}
	}
	for i := range h.ref.wishes {
		if p := h.ref.wishes[i].prior; p != nil && p.endsSteady > 0 {
			p.endsSteady += h.now.Steady - old
		}
	}
	for pattern, end := range h.ref.frozen {
		if end > 0 {
			h.ref.frozen[pattern] = end + h.now.Steady - old
		}
	}
}

// answer gives one write its outcome.
func (h *history) answer(*rapid.T) {
	if len(h.plant.open) == 0 {
		return
	}
	i := rapid.IntRange(0, len(h.plant.open)-1).Draw(h.T, "write")
	w := h.plant.open[i]
	h.plant.open = slices.Delete(h.plant.open, i, i+1)
	o := control.Outcome{Write: w.ID}
	kind := rapid.SampledFrom([]fault.Kind{255, 255, fault.Timeout, fault.Unreachable, fault.Unavailable, fault.Rejected}).Draw(h.T, "outcome")
	arrived := kind == 255 || kind == fault.Timeout && rapid.Bool().Draw(h.T, "arrived")
	if arrived && !w.Read {
		h.plant.values[w.Point], _ = w.Value.Number()
	}
	if kind == 255 {
		o.Value = point.FloatOf(h.plant.values[w.Point])
	} else {
		o.Err, o.Declined = fault.E("plant", kind, "", errors.New("no answer")), kind == fault.Unavailable || kind == fault.Rejected
	}
	if o.Partial = o.Declined && !w.Read && rapid.Bool().Draw(h.T, "partial"); o.Partial {
		h.plant.values[w.Point] = half
	}
	value, who := h.ref.value(w.Point)
	again := h.model.targets[w.Point].output.insist // the point will be asked once more
	h.plant.take(h.model.Answer(h.now, w.Point, o))
	if struck := o.Declined && h.ref.declined(&w, kind == fault.Rejected, h.now.Steady); !struck {
		h.ref.tried(w.Point, kind != 255)
	}
	switch {
	case kind == 255 && !w.Read:
		h.ref.taken(w.Requester, w.Command)
	case kind == 255 && who != "" && value == h.plant.values[w.Point] && w.Cause != control.CauseCheck && !again:
		for _, held := range h.model.Held(who) {
			if held.Path == w.Point && held.Level == h.ref.level(w.Point) {
				h.ref.taken(who, held.Command)
			}
		}
	}
}

// panel changes a point at the device, or lets it be away for a moment; then it is read.
func (h *history) panel(*rapid.T) {
	p := h.point()
	if rapid.Bool().Draw(h.T, "changed") {
		h.plant.values[p] = float64(rapid.IntRange(-1, 3).Draw(h.T, "value"))
	} else {
		h.plant.take(h.model.Observe(h.now, p, point.Value{}))
	}
	h.plant.take(h.model.Observe(h.now, p, point.FloatOf(h.plant.values[p])))
}

// check compares what is wished, and that one write is under way for a point at most.
func (h *history) check(*rapid.T) {
	for _, p := range testPoints {
		want, who := h.ref.value(p)
		v, _ := h.model.View(p)
		got, who2 := -1.0, ""
		if len(v.Array) > 0 {
			got, _ = v.Array[0].Value.Number()
			who2 = v.Array[0].Requester
		}
		if got != want || who != who2 {
			h.Fatalf("%s is to be %v of %q, want %v of %q", p, got, who2, want, who)
		}
		if h.ref.overridden(p) != (len(v.Overrides) > 0) {
			h.Fatalf("%s has the overrides %v", p, v.Overrides)
		}
		if held, _ := v.Held.Number(); v.Output == control.Confirmed && held != h.plant.values[p] {
			h.Fatalf("%s is said to be held at %v, and has %v", p, held, h.plant.values[p])
		}
		under := 0
		for _, w := range h.plant.open {
			if w.Point == p {
				under++
			}
		}
		if under > 1 {
			h.Fatalf("%d writes of %s are under way: %v", under, p, h.plant.open)
		}
	}
}

// drain ends all trouble: then every point holds what is wished.
func (h *history) drain() {
	for pattern := range h.ref.frozen {
		h.plant.take(h.model.ClearOverride(h.now, pattern, "ann").Effects)
		delete(h.ref.frozen, pattern)
	}
	for range 500 {
		for len(h.plant.open) > 0 {
			w := h.plant.open[0]
			h.plant.open = h.plant.open[1:]
			if !w.Read {
				h.plant.values[w.Point], _ = w.Value.Number()
			}
			h.plant.take(h.model.Answer(h.now, w.Point, control.Outcome{Write: w.ID, Value: point.FloatOf(h.plant.values[w.Point])}))
		}
		wait, ok := h.model.Next(h.now)
		if !ok {
			break
		}
		h.now = control.Instant{Wall: h.now.Wall.Add(wait), Steady: h.now.Steady + wait}
		h.plant.take(h.model.Advance(h.now))
		h.ref.advance(h.now.Steady)
	}
	for _, p := range testPoints {
		if v, _ := h.model.View(p); v.Output == control.Idle {
			continue // never commanded
		}
		want, who := h.ref.value(p)
		if got := h.plant.values[p]; got != want && (who != "" || got == half) { // else it is what the point had before
			h.Fatalf("in the end %s holds %v, want %v", p, got, want)
		}
	}
	if left := h.model.Commanded(); len(h.ref.wishes) == 0 && len(left) > 0 {
		h.Fatalf("nothing is wished, and still held are %v", left)
	}
}

func TestRatesAndMinimumTimesHoldWhateverIsWished(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := &control.Policy{Rate: control.Rate{Most: 2, Per: 10 * time.Second}, MinOn: 25 * time.Second, MinOff: 15 * time.Second}
		m, now := New(control.Limits{}), after(0)
		_, err := m.Declare(now, []control.Spec{{Point: "p", Kind: point.Float, Writable: true, Default: point.FloatOf(0), Policy: policy}})
		if err != nil {
			t.Fatal(err)
		}
		held, changed, turned := 0.0, time.Duration(0), time.Duration(0)
		m.Observe(now, "p", point.FloatOf(0))
		var carryOut func(e control.Effects)
		carryOut = func(e control.Effects) {
			for _, w := range e.Writes {
				value, _ := w.Value.Number()
				if value != held {
					if changed > 0 && now.Steady-changed < policy.Rate.Per {
						t.Fatalf("from %v to %v only %v after the last change", held, value, now.Steady-changed)
					}
					if math.Abs(value-held) > policy.Rate.Most {
						t.Fatalf("from %v to %v at once", held, value)
					}
					changed = now.Steady
				}
				if (held != 0) != (value != 0) {
					least := policy.MinOff
					if held != 0 {
						least = policy.MinOn
					}
					if turned > 0 && now.Steady-turned < least {
						t.Fatalf("turned from %v to %v after %v", held, value, now.Steady-turned)
					}
					turned = now.Steady
				}
				held = value
				carryOut(m.Answer(now, "p", control.Outcome{Write: w.ID, Value: w.Value}))
			}
		}
		want := 0.0
		for i := range rapid.IntRange(1, 20).Draw(t, "commands") {
			want = float64(rapid.IntRange(0, 9).Draw(t, "value"))
			carryOut(m.Command(now, control.Command{ID: fmt.Sprint(i), Point: "p", Requester: "ann", Level: 8, Value: point.FloatOf(want)}).Effects)
			now = after(now.Steady - time.Hour + time.Duration(rapid.IntRange(0, 30).Draw(t, "seconds"))*time.Second)
			carryOut(m.Advance(now))
		}
		for {
			wait, ok := m.Next(now)
			if !ok {
				break
			}
			now = after(now.Steady - time.Hour + wait)
			carryOut(m.Advance(now))
		}
		if held != want {
			t.Fatalf("in the end the point holds %v, want %v", held, want)
		}
	})
}
