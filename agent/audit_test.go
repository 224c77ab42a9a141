package agent

import (
	"fmt"
	"slices"
	"testing"
)

func TestTheAuditHearsThatAnAgentEndedAsNobodyWanted(t *testing.T) {
	data := dataDir(t)
	plant(t, data, "a", `exit 3`)
	cfg := config(data)
	heard := make(chan string, 100)
	cfg.Audit = func(actor, action, name, text string, failed bool) {
		heard <- fmt.Sprint(actor, " ", action, " ", name, " ", text, " ", failed)
	}
	_, stop := run(t, cfg)
	defer stop()
	if got := <-heard; got != "node agent.ended a ended by itself with exit code 3 true" {
		t.Errorf("it hears %q", got)
	}
}

func TestTheAuditHears(t *testing.T) {
	data := dataDir(t)
	plant(t, data, "a", forever)
	cfg := config(data)
	var heard []string
	cfg.Audit = func(actor, action, name, text string, _ bool) {
		heard = append(heard, actor+" "+action+" "+name+" "+text)
	}
	s, stop := run(t, cfg)
	await(t, s, "a", "started", func(st *Status) bool { return st.Process.PID != 0 })
	_, err := s.Stop(t.Context(), "a", "person:ada")
	must(t, err)
	must(t, s.Remove(t.Context(), Removal{Name: "a", By: "person:ada"}))
	stop()
	want := []string{"person:ada agent.stop a ", "person:ada agent.stop a ", "person:ada agent.remove a "}
	if !slices.Equal(heard, want) {
		t.Errorf("%q", heard)
	}
}
