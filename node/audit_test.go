package node_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/api/client"
	"voltbus/audit"
)

// told returns the actions in the audit log, the oldest first.
func (r *running) told(filter client.AuditFilter) []string {
	r.t.Helper()
	page, err := r.Audit(context.Background(), filter)
	if err != nil {
		r.t.Fatal(err)
	}
	var lines []string
	for _, e := range page.Entries {
		lines = append([]string{fmt.Sprintf("%s %s %s %s", e.Actor, e.Action, e.Outcome, e.Detail)}, lines...)
	}
	return lines
}

func TestTheAuditLogTellsHowTheNodeStartedAndStopped(t *testing.T) {
	dir := t.TempDir()
	cfg := load(t, dir, listenAnywhere)
	run(t, cfg).halt()
	r := run(t, cfg)
	if _, err := r.Reload(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`node node.start ok {"before":"never ran","version":"test"}`,
		`node node.stop ok `,
		`node node.start ok {"before":"stopped","version":"test"}`,
		`node config.reload ok {"changes":null}`,
	}
	if got := r.told(client.AuditFilter{}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the log says %q", got)
	}
}

func TestADamagedAuditLogIsShownInTheHealthAndTheNodeGoesOn(t *testing.T) {
	dir := t.TempDir()
	cfg := load(t, dir, listenAnywhere)
	run(t, cfg).halt()
	if err := os.WriteFile(filepath.Join(cfg.Node.Data, audit.File), []byte(strings.Repeat("nonsense", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, cfg)
	h, err := r.Client.Health(context.Background())
	if err != nil || h.Status != "degraded" {
		t.Errorf("health is %+v, %v", h, err)
	}
	for _, p := range h.Parts {
		if p.Name == "audit" && !strings.Contains(p.Reason, "the audit log is damaged: the file could not be read") {
			t.Errorf("health says %q", p.Reason)
		}
	}
	report, err := r.VerifyAudit(context.Background(), "")
	if err != nil || report.Whole || report.Entries != 2 || report.First != 3 {
		t.Errorf("report is %+v, %v", report, err)
	}
}
