package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/api/client"
	"voltbus/audit"
	"voltbus/operation/auditlog"
	"voltbus/operation/children"
)

// removeFiles removes what a pattern names in the data directory of a node that does not run.
func removeFiles(t *testing.T, r *running, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		files, err := filepath.Glob(filepath.Join(r.Config().Node.Data, p))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// notWhole checks that health and verification tell of the damage.
func notWhole(t *testing.T, r *running, want string) {
	t.Helper()
	h, err := r.Client.Health(wait(t))
	if err != nil {
		t.Fatal(err)
	}
	reason := ""
	for _, p := range h.Parts {
		if p.Name == "audit" {
			reason = p.Reason
		}
	}
	report, err := client.Do(wait(t), r.Client, auditlog.Verify, auditlog.Kept{Expect: ""})
	if err != nil {
		t.Fatal(err)
	}
	if h.Status != "degraded" || !strings.Contains(reason, want) || report.Whole || !strings.Contains(report.Problems[0].Detail, want) {
		t.Errorf("health %s: %q; report %+v; want %q", h.Status, reason, report, want)
	}
}

func TestAttackAnAuditLogIsDeletedOrExchangedWhileTheNodeStands(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	r.halt()
	removeFiles(t, r, "audit.*")
	r = run(t, cfg)
	notWhole(t, r, "the catalogue knows entries up to 2")
	if got := r.told(client.AuditFilter{Action: audit.Segment}); len(got) != 1 || !strings.Contains(got[0], "the catalogue knows entries up to 2") {
		t.Errorf("the log says %q", got)
	}
	if got := r.told(client.AuditFilter{Action: "node.start"}); len(got) != 1 || strings.Contains(got[0], "never ran") {
		t.Errorf("the log says %q", got)
	}
	r.halt()

	// A log of another node in its place, with a longer chain that is whole.
	other := load(t, t.TempDir(), listenAnywhere)
	for range 3 {
		run(t, other).halt()
	}
	removeFiles(t, r, "audit.*")
	for _, name := range []string{audit.File, audit.Anchor} {
		b, err := os.ReadFile(filepath.Join(other.Node.Data, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(cfg.Node.Data, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r = run(t, cfg)
	notWhole(t, r, "another entry than the one that the catalogue knows")
	r.halt()

	// With the catalogue gone, too, the origin says that the node ran before.
	removeFiles(t, r, "audit.*", "catalog.*")
	notWhole(t, run(t, cfg), "the log is gone: this node ran before")
}

func TestAttackAChildDeletesItsAuditLogAndAllThatKnowsOfItThere(t *testing.T) {
	t.Parallel()
	p := newPair(t, "")
	p.connected()
	for range 5 {
		p.child.halt() // entries of its starts and stops
		p.child = run(t, p.child.Config())
	}
	eventually(t, "the parent heard on this connection where the child's log ends", func() bool {
		c, err := client.Do(wait(t), p.parent.Client, children.Get, children.Node{Name: "plant"})
		heard := p.parent.nodeAt("plant").Heard
		return err == nil && c.Online != nil && heard != nil && heard.After(c.Online.Since)
	})
	p.child.halt()
	removeFiles(t, p.child, "audit.*", "catalog.*")
	p.child = run(t, p.child.Config())
	eventually(t, "the child hears of it from its parent", func() bool {
		return len(p.child.told(client.AuditFilter{Action: "audit.compared"})) == 1
	})
	got := p.child.told(client.AuditFilter{Action: audit.Segment, Limit: 10})
	if len(got) != 2 || !strings.Contains(got[1], "the parent knows entries up to") {
		t.Errorf("the child says %q", got)
	}
	eventually(t, "the parent tells of it", func() bool {
		got := p.parent.told(client.AuditFilter{Action: "child.audit"})
		return len(got) == 1 && strings.Contains(got[0], "the audit log of plant ends at entry")
	})
	report, err := client.Do(wait(t), p.child.Client, auditlog.Verify, auditlog.Kept{Expect: ""})
	if err != nil || report.Whole {
		t.Errorf("the report is %+v, %v", report, err)
	}
}
