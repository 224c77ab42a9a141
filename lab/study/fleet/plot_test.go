package fleet

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/lab/experiment"
	"voltbus/lab/load"
)

// found is what a run found of an experiment of the document.
func found(s setup, latency time.Duration, clients ...float64) experiment.Measured {
	h := load.NewHistogram()
	for range 100 {
		h.Add(latency)
	}
	h.Add(latency * 10)
	summary := h.Summary()
	return experiment.Measured{
		Case: s.kase(), Subject: experiment.Own, Values: clients, Latency: &summary, // the values are not looked at
		Also: []experiment.Extra{{Name: "other", Values: []float64{1}}, {Name: served, Unit: "clients", Values: clients}},
	}
}

func TestClientsOfAllExperimentsAreDrawnBesideThePublishedOnes(t *testing.T) {
	list := all()
	cases := []experiment.Measured{found(list[0], time.Millisecond, 100, 80, 120), found(list[4], time.Millisecond, 500, 700, 600)}
	list[1], list[4] = list[4], list[1] // as the setting names them
	got := plots(experiment.Own, list, cases)
	if len(got) != 2 {
		t.Fatalf("%d plots", len(got))
	}
	want := []experiment.Line{
		{Label: "voltbus; 1 are 100 clients", Dots: []experiment.Dot{{X: 1, Y: 1, Least: 0.8, Most: 1.2}, {X: 5, Y: 6, Least: 5, Most: 7}}},
		{Label: "EXPAND-2022", Published: true, Dots: []experiment.Dot{
			{X: 1, Y: 1}, {X: 2, Y: 2.14}, {X: 3, Y: 3.23}, {X: 4, Y: 2.9}, {X: 5, Y: 6.8}, {X: 6, Y: 2.16}, {X: 7, Y: 3.04},
		}},
	}
	if diff := cmp.Diff(want, got[1].Lines); diff != "" {
		t.Error(diff)
	}
}

func TestTheCumulativePlotHasEachExperimentAndThePublishedMean(t *testing.T) {
	list := all()
	var cases []experiment.Measured
	for i, s := range list {
		cases = append(cases, found(s, time.Duration(i+1)*time.Millisecond, float64(100*(i+1))))
	}
	lines := plots(experiment.Own, list, cases)[0].Lines
	if len(lines) != 2*len(list) {
		t.Fatalf("%d lines", len(lines))
	}
	for i, s := range list {
		own, theirs := lines[2*i], lines[2*i+1]
		if want := []experiment.Dot{{X: s.response, Y: 0}, {X: s.response, Y: 100}}; cmp.Diff(want, theirs.Dots) != "" || !theirs.Published {
			t.Errorf("experiment %d: the document's mean is at %v", s.number, theirs.Dots)
		}
		if own.Published || own.Group != theirs.Group {
			t.Errorf("experiment %d: %q of %q, %q of %q", s.number, own.Label, own.Group, theirs.Label, theirs.Group)
		}
		before := experiment.Dot{}
		for _, d := range own.Dots {
			if d.X < before.X || d.Y < before.Y {
				t.Errorf("experiment %d: the curve falls from %v to %v", s.number, before, d)
			}
			before = d
		}
		if most := 10 * float64(i+1); before.Y != 100 || before.X < most*0.99 || before.X > most*1.01 {
			t.Errorf("experiment %d: all messages are answered at %v, not 100 %% at %g ms", s.number, before, most)
		}
	}
}

func TestWithoutTheFirstExperimentThereAreNoMultiples(t *testing.T) {
	list := all()[1:3]
	got := plots(experiment.Own, list, []experiment.Measured{found(list[0], time.Millisecond, 10)})
	if len(got) != 1 || len(got[0].Lines) != 2 {
		t.Errorf("%+v", got)
	}
	if got := plots(experiment.Own, list, nil); len(got) != 0 {
		t.Errorf("nothing was measured, and drawn is %+v", got)
	}
}

func TestTheCourseOverTheClientsIsDrawn(t *testing.T) {
	got := courses("voltbus", all(), map[int][]step{2: {{clients: 200, mean: 1.5}, {clients: 240, mean: 3}}})
	want := []experiment.Line{{Label: "experiment 2: 2 × 0.2 CPU on 1", Dots: []experiment.Dot{{X: 200, Y: 1.5}, {X: 240, Y: 3}}}}
	if diff := cmp.Diff(want, got.Lines); diff != "" {
		t.Error(diff)
	}
}
