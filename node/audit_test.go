package node_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/audit"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/auditlog"
)

// told returns the actions in the audit log, the oldest first.
func (r *running) told(filter client.AuditFilter) []string {
	r.t.Helper()
	page, err := client.Do(context.Background(), r.Client, auditlog.List, filter.Page())
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
	report, err := client.Do(context.Background(), r.Client, auditlog.Verify, auditlog.Kept{Expect: ""})
	if err != nil || report.Whole || report.Entries != 2 || report.First != 3 {
		t.Errorf("report is %+v, %v", report, err)
	}
}

func TestDamageOfTheAuditLogThatAnAdministratorAcceptsLeavesTheHealth(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	run(t, cfg).halt()
	if err := os.WriteFile(filepath.Join(cfg.Node.Data, audit.Anchor), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, cfg)
	part := func() string {
		h, err := r.Client.Health(wait(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range h.Parts {
			if p.Name == "audit" {
				return p.Reason
			}
		}
		return "not told of"
	}
	engineer, _ := r.person("eve", identity.Engineer)
	if _, err := client.Do(wait(t), engineer, auditlog.Accept, auditlog.Reason{Reason: "nothing to see"}); !fault.Is(err, fault.Refused) {
		t.Errorf("an engineer: %v", err)
	}
	if reason := part(); !strings.Contains(reason, "damaged") {
		t.Errorf("before, health says %q", reason)
	}
	report, err := client.Do(wait(t), r.Client, auditlog.Accept, auditlog.Reason{Reason: "restored"})
	if err != nil || !report.Whole || len(report.Problems) == 0 || !strings.Contains(report.Problems[0].Accepted, ": restored") {
		t.Errorf("the report is %+v, %v", report, err)
	}
	if told := r.told(client.AuditFilter{Action: audit.Accepted}); len(told) != 1 || !strings.Contains(told[0], `"reason":"restored"`) {
		t.Errorf("the audit log says %q", told)
	}
	if reason := part(); reason != "" {
		t.Errorf("afterwards, health says %q", reason)
	}
	r.halt()
	if r = run(t, cfg); part() != "" {
		t.Errorf("after a new start, health says %q", part())
	}
}

func TestALargeAuditLogIsHandedOverAndSearchFindsItOrSaysWhereItIs(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere+"audit: {max_bytes: 1MiB}\n")
	if err := os.MkdirAll(cfg.Node.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := audit.Open(context.Background(), cfg.Node.Data, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	list := make([]audit.Entry, 20_000)
	for i := range list {
		list[i] = audit.Entry{Actor: "person:ada", Action: "person.set", Subject: fmt.Sprint("p", i+1), Outcome: "ok"}
	}
	if err := errors.Join(l.Append(context.Background(), list...), l.Close()); err != nil {
		t.Fatal(err)
	}
	r := run(t, cfg)
	var archives []answer.AuditArchive
	eventually(t, "the older half is in an archive", func() bool {
		report, err := client.Do(wait(t), r.Client, auditlog.Verify, auditlog.Kept{Expect: ""})
		if err != nil || !report.Whole {
			t.Fatalf("the report is %+v, %v", report, err)
		}
		archives = report.Archives
		return len(archives) > 0
	})
	find := func() answer.Audit {
		t.Helper()
		page, err := client.Do(wait(t), r.Client, auditlog.List, client.AuditFilter{Subject: "p17"}.Page())
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	if page := find(); len(page.Entries) != 1 || page.Entries[0].Seq != 17 || len(page.Absent) > 0 {
		t.Errorf("found are %+v", page)
	}
	file := filepath.Join(cfg.Node.Data, audit.Archives, archives[0].File)
	if err := os.Rename(file, file+".elsewhere"); err != nil {
		t.Fatal(err)
	}
	if page := find(); len(page.Entries) != 0 || len(page.Absent) != 1 || page.Absent[0].File != archives[0].File {
		t.Errorf("without the archive found are %+v", page)
	}
	if report, err := client.Do(wait(t), r.Client, auditlog.Verify, auditlog.Kept{Expect: ""}); err != nil || report.Whole || !strings.Contains(report.Problems[0].Detail, "put it back") {
		t.Errorf("the report is %+v, %v", report, err)
	}
	h, err := r.Client.Health(wait(t))
	if err != nil || h.Status != "degraded" {
		t.Errorf("health is %+v, %v", h, err)
	}
}
