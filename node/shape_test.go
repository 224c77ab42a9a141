package node_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"voltbus/api/client"
	"voltbus/identity"
	"voltbus/operation/documents"
)

// An engineer who decides what an agent does acts with its grants.
func TestAttackAnEngineerDoesNotTakeOverAnAgentThatMayMore(t *testing.T) {
	cfg := nodeOf(t, t.TempDir(), "plant", listenAnywhere)
	plant := member{run(t, cfg), cfg}
	grants := map[string]identity.Grants{
		"chief":  {Administer: true},
		"urgent": {Command: []identity.CommandGrant{{Path: "site/**", Level: 10}, {Path: "site/pump", Level: 4}}},
		"plain":  {Command: []identity.CommandGrant{{Path: "site/**", Level: 5}}},
	}
	for name, g := range grants {
		join(t, plant.running, cfg, name, g)
		if _, err := client.Do(wait(t), plant.Client, documents.Set, client.NewDocument{Text: "most: 12\n", Type: "yaml"}.Arguments("shared", name+"-limits")); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Do(wait(t), plant.Client, documents.Set, client.NewDocument{Text: "limits: config://" + name + "-limits\n", Type: "yaml"}.Arguments("agent/"+name, "config")); err != nil {
			t.Fatal(err)
		}
	}
	_, engineer := plant.as(t, "eve", identity.Engineer)
	_, administrator := plant.as(t, "ada", identity.Administrator)
	ask := func(token, method, path, body, media string) (status int) {
		t.Helper()
		req, err := http.NewRequestWithContext(wait(t), method, plant.HTTPAddr()+"/api/v1/"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", media)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	const asJSON = "application/json"
	for name := range grants {
		for _, op := range []struct{ what, method, path, body, media string }{
			{"installs code over", "PUT", "agents/" + name + "/process?grant=none", "x", "application/gzip"},
			{"goes back to other code of", "POST", "agents/" + name + "/rollback", "", asJSON},
			{"configures", "PUT", "documents/text?owner=agent/" + name + "&name=config", `{"text":"limits: 1\n","type":"yaml"}`, asJSON},
			{"goes back to other configuration of", "POST", "documents/rollback?owner=agent/" + name + "&name=config", `{"version":1}`, asJSON},
			{"changes the schema of", "PUT", "documents/schema?owner=agent/" + name + "&name=config", `{"schema":"{}"}`, asJSON},
			{"deletes the configuration of", "DELETE", "documents/text?owner=agent/" + name + "&name=none", "", asJSON},
			{"changes what is shared with", "PUT", "documents/text?owner=shared&name=" + name + "-limits", `{"text":"most: 99\n","type":"yaml"}`, asJSON},
		} {
			may := name == "plain"
			if got := ask(engineer, op.method, op.path, op.body, op.media); (got != http.StatusForbidden) != may {
				t.Errorf("an engineer %s %s: %d", op.what, name, got)
			}
		}
		if got := ask(administrator, "PUT", "documents/text?owner=shared&name="+name+"-limits", `{"text":"most: 13\n","type":"yaml"}`, asJSON); got != http.StatusOK {
			t.Errorf("an administrator changes what is shared with %s: %d", name, got)
		}
	}
	if got := ask(engineer, "PUT", "documents/text?owner=shared&name=free", `{"text":"a: 1\n","type":"yaml"}`, asJSON); got != http.StatusOK {
		t.Errorf("an engineer writes what nobody refers to: %d", got)
	}
	awaitTrue(t, "the audit log has the refusals", func() bool {
		told := plant.told(client.AuditFilter{Actor: "person:eve"})
		return slices.ContainsFunc(told, func(line string) bool {
			return strings.Contains(line, " refused ") && strings.Contains(line, "command site/pump@4")
		}) && slices.ContainsFunc(told, func(line string) bool {
			return strings.Contains(line, "document.set") && strings.Contains(line, "administer")
		})
	})
}
