package testbed

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/fault"
	"voltbus/lab/experiment"
	"voltbus/testing/peers"
)

func TestPlannedFansFollowASignalBetterThanTheRuleAlsoInRoomsThatTheyDoNotKnow(t *testing.T) {
	python := interpreter(t)
	if err := exec.Command(python, "-c", "import highspy").Run(); err != nil {
		t.Skip("the environment for Python has no highspy; run make sdk")
	}
	r, err := experiment.Execute(t.Context(), fans(), experiment.Options{Repeats: 1, Seed: 1, Dir: t.TempDir(), Set: map[string]string{
		"length": "2h", "mismatches": "30", "python": python, "agent": filepath.Join(peers.Root(), "agents", "regulation", "src"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	value := map[string]float64{}
	lost := map[string]float64{}
	for _, c := range r.Cases {
		way, _, _ := strings.Cut(c.Case.Name, ",")
		value[way] = c.Values[0]
		for _, also := range c.Also {
			if strings.HasSuffix(also.Name, "all rooms") {
				lost[way] = also.Values[0]
			}
		}
	}
	t.Logf("errors %v, K·h %v", value, lost)
	if len(value) != 2 || value["plan"] >= value["rule"] || lost["plan"] > lost["rule"] {
		t.Errorf("errors %v, K·h %v", value, lost)
	}
	if len(r.Plots) != 1 || len(r.Plots[0].Lines) != 3 || len(r.Plots[0].Lines[0].Dots) < 60 {
		t.Errorf("%+v", r.Plots)
	}
}

func TestFansWithoutTheAgentAreToldWhereItIs(t *testing.T) {
	_, err := experiment.Execute(t.Context(), fans(), experiment.Options{Repeats: 1, Dir: t.TempDir(), Set: map[string]string{"length": "1h", "agent": t.TempDir()}})
	if !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "agents/regulation/src") {
		t.Error(err)
	}
}
