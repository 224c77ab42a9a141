package alarm_test

import (
	"fmt"
	"testing"
	"time"

	"voltbus/alarm"
	"voltbus/point"
)

const (
	benchPoints = 100_000
	benchRules  = 5_000
)

// manyRules is an engine with 5,000 rules of 20 points each.
func manyRules(b *testing.B) (*alarm.Engine, []point.Path) {
	b.Helper()
	e := alarm.New(began, func(path point.Path) point.Info { return point.Info{Path: path, Interval: 10 * time.Second} }, nil)
	rules := make([]alarm.Rule, benchRules)
	for i := range rules {
		rules[i] = alarm.Rule{Name: fmt.Sprintf("r%04d", i), Points: []string{fmt.Sprintf("site/b%04d/*", i)}, Check: alarm.High, Limit: new(80.0), Deadband: 1, OnDelay: 5}
	}
	e.SetRules(began, rules)
	paths := make([]point.Path, benchPoints)
	for i := range paths {
		paths[i] = point.Path(fmt.Sprintf("site/b%04d/p%02d", i%benchRules, i/benchRules))
	}
	e.Look(paths)
	return e, paths
}

// BenchmarkAThousandChanges looks at 1,000 changed points of 100,000 with 5,000 rules, and at the time: ns/op over a second is the share of a
// core at 1,000 changes a second.
func BenchmarkAThousandChanges(b *testing.B) {
	e, paths := manyRules(b)
	now, next := began, 0
	for b.Loop() {
		now += second
		block := &point.Block{Points: make([]point.Path, 0, 1000)}
		for range 1000 {
			v := 75.0
			if next%50 == 0 {
				v = 85
			}
			block.Points = append(block.Points, paths[next%len(paths)])
			block.Append(uint32(len(block.Points)-1), &point.Sample{Time: time.UnixMicro(now), Value: point.FloatOf(v)}) //nolint:gosec // few
			next += 7
		}
		e.Observe(now, block)
		e.Tick(now)
		e.Take()
	}
}

// BenchmarkAFloodOfTenThousand opens 10,000 alarms within ten seconds, in forty blocks, and lists them once a second.
func BenchmarkAFloodOfTenThousand(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		e := alarm.New(began, func(path point.Path) point.Info { return point.Info{Path: path} }, nil)
		e.SetRules(began, []alarm.Rule{{Name: "hot", Points: []string{"b/*"}, Check: alarm.High, Limit: new(80.0)}})
		b.StartTimer()
		for step := range 40 {
			now := began + int64(step)*second/4
			block := &point.Block{}
			for i := range 250 {
				block.Points = append(block.Points, point.Path(fmt.Sprintf("b/%d-%d", step, i)))
				block.Append(uint32(i), &point.Sample{Time: time.UnixMicro(now), Value: point.FloatOf(85)}) //nolint:gosec // few
			}
			e.Observe(now, block)
			e.Take()
			if step%4 == 3 {
				e.List()
			}
		}
		if n := len(e.List()); n != 10_000 {
			b.Fatalf("%d alarms are open", n)
		}
	}
}
