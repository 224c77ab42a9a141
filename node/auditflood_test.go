package node_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"voltbus/api/client"
	"voltbus/identity"
	"voltbus/operation/auditlog"
)

// An agent without grants says what others did to it, with large arguments, and without end.
func TestAttackAnAgentForgesActorsAndFloodsTheAuditLog(t *testing.T) {
	dir := t.TempDir()
	cfg := load(t, dir, listenAnywhere)
	r := run(t, cfg)
	r.register("victim", identity.Grants{})
	evil := join(t, r, cfg, "evil", identity.Grants{})
	const told = 2000
	for i := range told {
		err := evil.CallNamed(wait(t), "node", "refused", nil, map[string]any{
			"from": "victim", "method": fmt.Sprint("m", i), "missing": "administer", "args": strings.Repeat("x", 4000),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if lines := r.told(client.AuditFilter{Actor: "agent:victim", Action: "*"}); len(lines) > 0 {
		t.Errorf("the victim is said to have done: %q", lines)
	}
	r.halt()
	r = run(t, cfg)
	page, err := client.Do(t.Context(), r.Client, auditlog.List, client.AuditFilter{Actor: "agent:evil", Limit: 1000}.Page())
	if err != nil {
		t.Fatal(err)
	}
	count := uint64(0)
	for i := range page.Entries {
		e := &page.Entries[i]
		sum := struct{ Count uint64 }{1}
		if err := json.Unmarshal(e.Detail, &sum); err != nil {
			t.Fatal(err)
		}
		if e.Action == "agent.refused" {
			count += max(sum.Count, 1)
			if !strings.Contains(e.Outcome, `says that it refused "victim"`) {
				t.Errorf("the entry says %q", e.Outcome)
			}
		}
	}
	if count != told || len(page.Entries) > 400 {
		t.Errorf("%d entries tell of %d refusals, want %d in few entries", len(page.Entries), count, told)
	}
}

// An agent asks without end for what it may not, and for what it may.
func TestAttackAnAgentFloodsTheAuditLogByOperations(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	evil := join(t, r, cfg, "evil", identity.Grants{})
	const asked = 1000
	for i := range asked {
		owner := ""
		if i%2 == 0 {
			owner = "agent/" + strings.Repeat("x", 290)
		}
		_ = evil.CallNamed(wait(t), "node", "config_set", nil, map[string]any{"owner": owner, "name": "a", "text": fmt.Sprint(i), "type": "json"})
	}
	page, err := client.Do(t.Context(), r.Client, auditlog.List, client.AuditFilter{Actor: "agent:evil", Limit: 1000}.Page())
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Entries) == 0 || len(page.Entries) > 400 {
		t.Errorf("%d entries tell of %d requests", len(page.Entries), asked)
	}
}
