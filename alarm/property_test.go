package alarm_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"voltbus/alarm"
	"voltbus/point"
)

// random does something to an engine by the bytes of a fuzz test, and returns a line for each step.
type random struct {
	*alarm.Engine
	*rand.Rand
	now   int64
	rules []alarm.Rule
}

func newRandom(seed uint64) *random {
	r := &random{Rand: rand.New(rand.NewPCG(seed, 1)), now: began}
	for i, check := range alarm.Checks() {
		rule := alarm.Rule{
			Name: fmt.Sprintf("r%d", i), Points: []string{"*/x", "q"}, Check: check, Limit: new(5.0), Deadband: float64(r.IntN(3)), Change: 3, Longest: float64(1 + r.IntN(60)),
			OnDelay: float64(r.IntN(2) * 20), OffDelay: float64(r.IntN(2) * 20), Values: []string{"7"}, Feedback: "{1}/y", Expression: "value > other + 1 or other == 7", Inputs: map[string]string{"other": "{1}/y"}, Latching: r.IntN(3) == 0, Group: "g",
		}
		if r.IntN(2) == 0 {
			rule.SuppressPoint, rule.SuppressValues = "q", []string{"1", "2"}
		}
		r.rules = append(r.rules, rule)
	}
	r.Engine = alarm.New(began, describe, nil)
	r.SetRules(began, r.rules)
	return r
}

var randomPoints = []point.Path{"a/x", "b/x", "a/y", "b/y", "q"}

func (r *random) step() {
	r.now += int64(r.IntN(15)) * second
	id := alarm.IDOf(fmt.Sprintf("r%d", r.IntN(8)), randomPoints[r.IntN(5)])
	switch r.IntN(12) {
	case 0:
		_ = r.Acknowledge(r.now, id, "ada", "")
	case 1:
		_ = r.Reset(r.now, id, "ada", "")
	case 2:
		_ = r.Shelve(r.now, id, time.UnixMicro(r.now+int64(1+r.IntN(60))*second), "ada", "")
	case 3:
		_ = r.Unshelve(r.now, id, "ada", "")
	case 4:
		_ = r.Remove(r.now, id, "eve", "")
	case 5:
		_ = r.Restore(r.now, id, "eve", "")
	case 6:
		r.SetRules(r.now, r.rules[:r.IntN(len(r.rules)+1)])
	case 7:
		r.Tick(r.now)
	default:
		r.Sample(r.now, &point.Sample{Point: randomPoints[r.IntN(5)], Time: time.UnixMicro(r.now).UTC(), Value: point.FloatOf(float64(r.IntN(10)))})
	}
}

// FuzzTransitionsAreAChain checks that each transition begins where the one before ended, that what is kept is what is listed, and that nothing
// that an operator does ends a condition.
func FuzzTransitionsAreAChain(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := newRandom(seed)
		state, kept, active := map[alarm.ID]alarm.State{}, map[alarm.ID]alarm.Alarm{}, map[alarm.ID]bool{}
		for range 300 {
			r.step()
			c := r.Take()
			for _, tr := range c.Transitions {
				if before := state[tr.Alarm]; before != tr.From && (before != "" || tr.From != alarm.Normal) {
					t.Fatalf("%s goes from %s, and was %s", tr.Alarm, tr.From, before)
				}
				state[tr.Alarm] = tr.To
				switch tr.Event {
				case alarm.EventOpened:
					active[tr.Alarm] = true
				case alarm.EventReturned, alarm.EventEnded:
					active[tr.Alarm] = false
				}
			}
			for i := range c.Kept {
				kept[c.Kept[i].ID] = c.Kept[i]
			}
			for _, id := range c.Gone {
				delete(kept, id)
			}
		}
		listed := map[alarm.ID]alarm.Alarm{}
		for _, s := range r.List() {
			listed[s.ID] = s.Alarm
			if s.State != state[s.ID] || s.Active != active[s.ID] {
				t.Errorf("%s is %s, active %v; its transitions say %s, active %v", s.ID, s.State, s.Active, state[s.ID], active[s.ID])
			}
		}
		if !reflect.DeepEqual(listed, kept) {
			t.Errorf("listed %v, kept %v", listed, kept)
		}
		for id, is := range active {
			if _, there := listed[id]; is && !there {
				t.Errorf("%s is active and not listed", id)
			}
		}
	})
}

// FuzzMerge checks that changes that wait for a disk mean the same as those that were written one after another.
func FuzzMerge(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := newRandom(seed)
		var all alarm.Changes
		for range 100 {
			r.step()
			c := r.Take()
			all.Merge(&c)
		}
		kept := map[alarm.ID]alarm.Alarm{}
		for i := range all.Kept {
			kept[all.Kept[i].ID] = all.Kept[i]
		}
		listed := map[alarm.ID]alarm.Alarm{}
		for _, s := range r.List() {
			listed[s.ID] = s.Alarm
		}
		if !reflect.DeepEqual(listed, kept) {
			t.Errorf("listed %v, kept %v", listed, kept)
		}
	})
}

// BenchmarkReadings looks at 1,000 changed points of 100,000 with 5,000 rules, half of which select by a wildcard: what a busy node has each second.
func BenchmarkReadings(b *testing.B) {
	const points, rules, changed = 100_000, 5_000, 1_000
	var list []alarm.Rule
	for i := range rules {
		pattern := fmt.Sprintf("b%d/d%d/*", i%100, i/100)
		if i%2 == 0 {
			pattern = fmt.Sprintf("b%d/d%d/p1", i%100, i/100)
		}
		list = append(list, alarm.Rule{Name: fmt.Sprintf("r%d", i), Points: []string{pattern}, Check: alarm.High, Limit: new(90.0), OnDelay: 10})
	}
	e := alarm.New(began, describe, nil)
	e.SetRules(began, list)
	blocks := make([]*point.Block, points/changed)
	for k := range blocks {
		blocks[k] = &point.Block{}
		for i := range changed {
			n := k*changed + i
			blocks[k].Points = append(blocks[k].Points, point.Path(fmt.Sprintf("b%d/d%d/p%d", n%100, n/100%50, n/5000)))
			blocks[k].Append(uint32(i), &point.Sample{Value: point.FloatOf(50)})
		}
		e.Observe(began, blocks[k])
	}
	now := began
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; b.Loop(); n++ {
		now += second
		block := blocks[n%len(blocks)]
		for i := range block.Time {
			block.Time[i] = now
			block.Bits[i] = point.FloatOf(float64((n + i) % 100)).Bits()
		}
		e.Observe(now, block)
		e.Tick(now)
		e.Take()
	}
}
