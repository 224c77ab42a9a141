package agent

import (
	"fmt"
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
