package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"voltbus/api"
	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/audit"
	"voltbus/identity"
	"voltbus/operation/auditlog"
)

// audited starts a node with an audit log that runs.
func audited(t *testing.T, change ...func(*api.Config)) (*node, *audit.Log) {
	t.Helper()
	log, err := audit.Open(context.Background(), t.TempDir(), noon)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- log.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-done)
		must(t, log.Close())
	})
	first := func(c *api.Config) { c.Audit = log }
	n := start(t, append([]func(*api.Config){first}, change...)...)
	return n, log
}

// told returns what the audit log says, the oldest first, as lines of words.
func (n *node) told() []string {
	n.t.Helper()
	page, err := client.Do(context.Background(), n.client, auditlog.List, client.AuditFilter{Limit: 1000}.Page())
	must(n.t, err)
	var lines []string
	for _, e := range page.Entries {
		lines = append([]string{fmt.Sprintf("%s %s %s %s %s", e.Actor, e.Action, e.Subject, e.Outcome, e.Detail)}, lines...)
	}
	return lines
}

func TestTheAuditLogIsToldWhatPeopleChange(t *testing.T) {
	n, _ := audited(t)
	for _, step := range []struct {
		method, path, body string
		status             int
	}{
		{"PUT", "/api/v1/people/Ada", `{"role":"engineer","password":"a long password"}`, 200},
		{"PUT", "/api/v1/people/ada", `{"role":"king"}`, 400},
		{"POST", "/api/v1/tokens", `{"name":"telegraf","under":"site"}`, 200},
		{"DELETE", "/api/v1/tokens/telegraf", ``, 204},
		{"DELETE", "/api/v1/people/ada", ``, 204},
		{"DELETE", "/api/v1/people/ada", ``, 404},
	} {
		if got := n.do(step.method, step.path, step.body, n.bearer()); got.StatusCode != step.status {
			t.Fatalf("%s %s gives %d: %s", step.method, step.path, got.StatusCode, got.body)
		}
	}
	want := []string{
		`person:admin person.set Ada ok {"password":true,"role":"engineer"}`,
		`person:admin person.set ada invalid: must be viewer, operator, engineer or administrator {"password":false,"role":"king"}`,
		`person:admin token.issue telegraf ok {"under":"site"}`,
		`person:admin token.revoke telegraf ok `,
		`person:admin person.remove ada ok `,
	}
	got := n.told()
	if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" || len(got) != 6 || !strings.HasPrefix(got[5], "person:admin person.remove ada not-found: ") {
		t.Error(got, diff)
	}
	if strings.Contains(strings.Join(got, ""), "long password") {
		t.Error("a password stands in the log")
	}
}

func TestTheAuditLogIsToldOfLoginsAndRefusals(t *testing.T) {
	n, log := audited(t)
	n.login()
	if got := n.do("POST", "/api/v1/session", `{"name":"eve","password":"guess"}`); got.StatusCode != http.StatusUnauthorized {
		t.Fatal(got.body)
	}
	n.do("GET", "/api/v1/points", "", header("Authorization", "Bearer "+strings.Repeat("a", 43)))
	viewer, err := n.logins.Issue(context.Background(), identity.User{Name: "vic", Role: identity.Viewer})
	must(t, err)
	if got := n.do("DELETE", "/api/v1/people/ada", "", header("Authorization", "Bearer "+viewer)); got.StatusCode != http.StatusForbidden {
		t.Fatal(got.body)
	}
	must(t, log.Append(context.Background(), audit.Entry{Actor: "test", Action: "flush"})) // what was offered before it is written
	want := []string{
		`person:admin login 127.0.0.1 ok `,
		`unknown login.failed eve refused: name or password are wrong {"address":"127.0.0.1","by":"password"}`,
		`unknown login.failed  refused: this token is not known here; the administrator's stands in admin.token of the data directory {"address":"127.0.0.1","by":"token"}`,
		`person:vic refused /api/v1/people/ada refused: has the role viewer, and this needs administrator; ask an administrator {"method":"DELETE","role":"viewer","needs":"administrator"}`,
		`test flush   `,
	}
	if diff := cmp.Diff(want, n.told()); diff != "" {
		t.Error(diff)
	}
}

func TestTheAuditLogIsReadByEngineersInPages(t *testing.T) {
	n, log := audited(t)
	for i := range 5 {
		must(t, log.Append(context.Background(), audit.Entry{Actor: "agent:boiler", Action: "command", Subject: fmt.Sprint("site/", i), Detail: json.RawMessage(`{"a":"<&>"}`)}))
	}
	first, err := client.Do(context.Background(), n.client, auditlog.List, client.AuditFilter{Actor: "agent:*", Limit: 3}.Page())
	must(t, err)
	rest, err := client.Do(context.Background(), n.client, auditlog.List, client.AuditFilter{Actor: "agent:*", Limit: 3, Before: first.Next}.Page())
	must(t, err)
	if len(first.Entries) != 3 || len(rest.Entries) != 2 || rest.Next != 0 || rest.Entries[1].Seq != 1 {
		t.Errorf("pages are %+v and %+v", first, rest)
	}
	var lines strings.Builder
	must(t, n.client.ExportAudit(context.Background(), client.AuditFilter{Subject: "site/4"}, &lines))
	var e answer.AuditEntry
	must(t, json.Unmarshal([]byte(lines.String()), &e))
	if e.Seq != 5 || strings.Count(lines.String(), "\n") != 1 || !strings.Contains(lines.String(), `"detail":{"a":"<&>"}`) {
		t.Errorf("exported %s", lines.String())
	}
	operator, err := n.logins.Issue(context.Background(), identity.User{Name: "otto", Role: identity.Operator})
	must(t, err)
	for _, path := range []string{"/api/v1/audit", "/api/v1/audit/export", "/api/v1/audit/verify"} {
		if got := n.do("GET", path, "", header("Authorization", "Bearer "+operator)); got.StatusCode != http.StatusForbidden {
			t.Errorf("an operator reads %s: %d", path, got.StatusCode)
		}
	}
	for _, path := range []string{"/api/v1/audit?limit=0", "/api/v1/audit?from=yesterday", "/api/v1/audit/verify?expect=17", "/api/v1/audit/export?limit=1"} {
		if got := n.get(path); got.StatusCode != http.StatusBadRequest {
			t.Errorf("%s gives %d", path, got.StatusCode)
		}
	}
}

func TestTheAuditLogIsVerifiedAgainstAHeadThatWasKept(t *testing.T) {
	n, log := audited(t)
	must(t, log.Append(context.Background(), audit.Entry{Actor: "node", Action: "node.start"}))
	r, err := client.Do(context.Background(), n.client, auditlog.Verify, auditlog.Kept{Expect: ""})
	must(t, err)
	if !r.Whole || r.Entries != 1 || r.Head != log.Status().Head.String() {
		t.Errorf("report is %+v", r)
	}
	if r, err = client.Do(context.Background(), n.client, auditlog.Verify, auditlog.Kept{Expect: r.Head}); err != nil || !r.Whole {
		t.Errorf("with the head that it said itself: %+v, %v", r, err)
	}
	other := "1:" + strings.Repeat("ab", 32)
	if r, err = client.Do(context.Background(), n.client, auditlog.Verify, auditlog.Kept{Expect: other}); err != nil || r.Whole || r.Problems[0].Seq != 1 {
		t.Errorf("with another head: %+v, %v", r, err)
	}
}

func TestAnswersAboutTheAuditLogFitTheDocument(t *testing.T) {
	n, log := audited(t)
	must(t, log.Append(context.Background(), audit.Entry{Actor: "node", Action: "x", Detail: json.RawMessage(`{"n":1}`)}))
	schema := schemas(t)
	for path, name := range map[string]string{
		"/api/v1/audit": "Audit", "/api/v1/audit/verify": "AuditReport",
		"/api/v1/audit/verify?expect=7:" + strings.Repeat("0", 64): "AuditReport",
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(n.get(path).body))
		must(t, err)
		if err := schema(name).Validate(value); err != nil {
			t.Error(path, err)
		}
	}
}
