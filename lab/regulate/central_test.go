package regulate_test

import (
	"testing"
	"time"

	"voltbus/lab/regulate"
)

func run(t *testing.T, c regulate.Config) *regulate.Outcome {
	t.Helper()
	o, err := regulate.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("composite %.3f (correlation %.3f delay %.3f precision %.3f), RMS %.3f mean %+.3f, comfort %.4f mean %.4f worst K·h/day, %.0f switches/day, %.0f natural, %d early, %d refused of %d orders, %d messages, capacity %.0f of %.0f kW, in %s",
		o.Score.Composite, o.Score.Correlation, o.Score.Delay, o.Score.Precision, o.Score.RMS, o.Score.Mean, o.Comfort.Mean, o.Comfort.Worst, o.Switches, o.Natural, o.Early, o.Refused, o.Orders, o.Messages, o.Capacity, o.Baseline, o.Took)
	return o
}

func TestAFleetFollowsTheSignalWithinComfort(t *testing.T) {
	for name, c := range map[string]struct {
		loss, least float64
	}{"without loss": {0, 0.9}, "with 5 % loss": {0.05, 0.85}} {
		t.Run(name, func(t *testing.T) {
			o := run(t, regulate.Config{Units: 1000, Seed: 1, Length: 3 * time.Hour, Loss: c.loss})
			if o.Score.Composite < c.least || o.Comfort.Worst > 0.5 || o.Early > 0 {
				t.Errorf("%+v", o)
			}
		})
	}
}

func TestACampusFollowsTheSignalAlthoughItsLeadersAreKilled(t *testing.T) {
	c := regulate.Campus{Config: regulate.Config{Units: 200, Seed: 1, Length: 3 * time.Hour, Loss: 0.05}, Nodes: 20}
	steady, err := regulate.RunCampus(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	c.Kill = 10 * time.Minute
	killed, err := regulate.RunCampus(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	c.Raft, c.Length = true, time.Hour
	raft, err := regulate.RunCampus(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]*regulate.Led{"steady": steady, "killed": killed, "killed, by a majority": raft} {
		t.Logf("%s: %.3f, RMS %.3f, %d kills, %d terms, %d old, worst comfort %.4f, %d messages, %s", name, o.Score.Composite, o.Score.RMS, o.Kills, o.Terms, o.Old, o.Comfort.Worst, o.Messages, o.Took)
		if o.Comfort.Worst > 0.5 || o.Early > 0 || !(o.Score.Composite >= 0.75) { // NaN fails, too
			t.Errorf("%s: %+v", name, o)
		}
	}
	if steady.Terms == 0 || killed.Kills != 17 || killed.Terms < 18 {
		t.Errorf("%d terms; %d kills, %d terms", steady.Terms, killed.Kills, killed.Terms)
	}
}

func TestACampusWithoutALeaderFollowsTheSignalAlthoughItsNodesAreKilled(t *testing.T) {
	c := regulate.Campus{Config: regulate.Config{Units: 200, Seed: 1, Length: time.Hour, Loss: 0.05}, Nodes: 20}
	steady, err := regulate.RunGossip(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	c.Kill = 10 * time.Minute
	killed, err := regulate.RunGossip(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]*regulate.Led{"steady": steady, "killed": killed} {
		t.Logf("%s: %.3f, RMS %.3f, %d kills, worst comfort %.4f, %d messages, %s", name, o.Score.Composite, o.Score.RMS, o.Kills, o.Comfort.Worst, o.Messages, o.Took)
		if o.Comfort.Worst > 0.5 || o.Early > 0 || !(o.Score.Composite >= 0.75) { // NaN fails, too
			t.Errorf("%s: %+v", name, o)
		}
	}
	if killed.Kills != 5 {
		t.Errorf("%d kills", killed.Kills)
	}
}
