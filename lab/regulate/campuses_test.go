package regulate_test

import (
	"math"
	"testing"
	"time"

	"voltbus/lab/regulate"
)

func meet(t *testing.T, g regulate.Group) *regulate.Met {
	t.Helper()
	m, err := regulate.RunGroup(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("composite %.3f, RMS %.3f, parts %.1f of offers %.1f kW, missing %.4f, %d kills, %d terms, %d old, worst comfort %.4f, %s",
		m.Score.Composite, m.Score.RMS, m.Parts, m.Offers, m.Missing, m.Kills, m.Terms, m.Old, m.Comfort.Worst, m.Took)
	return m
}

func TestThreeCampusesMeetANeedInProportionToTheirOffers(t *testing.T) {
	g := regulate.Group{Campus: regulate.Campus{Config: regulate.Config{Seed: 1, Length: 2 * time.Hour, Loss: 0.05}, Nodes: 10}, Units: []int{50, 100, 200}}
	m := meet(t, g)
	if !(m.Score.Composite >= 0.75) || m.Comfort.Worst > 0.5 || m.Early > 0 || m.Missing > 0.05 {
		t.Errorf("%+v", m)
	}
	ratio := m.Parts[0] / m.Offers[0]
	for k := range m.Parts {
		if m.Parts[k] == 0 || math.Abs(m.Parts[k]/m.Offers[k]/ratio-1) > 0.1 {
			t.Errorf("campus %d has %.1f kW of %.1f kW, and the first one a share of %.2f", k+1, m.Parts[k], m.Offers[k], ratio)
		}
	}
	g.Kill = 10 * time.Minute
	if killed := meet(t, g); killed.Kills != 33 || !(killed.Score.Composite >= 0.7) || killed.Comfort.Worst > 0.5 {
		t.Errorf("%+v", killed)
	}
}
