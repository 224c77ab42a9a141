package api_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"voltbus/api"
	"voltbus/api/client"
	store "voltbus/document"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/documents"
)

// documented starts a node with documents and an audit log.
func documented(t *testing.T) *node {
	t.Helper()
	n, _ := audited(t, func(c *api.Config) {
		storage, ok := c.Points.(store.Storage)
		if !ok {
			t.Fatal("the catalogue keeps no documents")
		}
		c.Operations = tableOf(c, (&documents.Part{Documents: store.New(storage, noon, nil)}).Operations())
	})
	return n
}

func at(path, owner, name string) string {
	return "/api/v1/documents" + path + "?" + url.Values{"owner": {owner}, "name": {name}}.Encode()
}

func TestDocumentsAreWrittenByEngineersAndReadByViewers(t *testing.T) {
	n, ctx := documented(t), context.Background()
	const owner, name = "device/campus/b 1&x=y", "odd/ü?#%2f.yaml"
	_, err := client.Do(ctx, n.client, documents.Set, client.NewDocument{Text: "a: 1\n", Type: "yaml", Note: "first"}.Arguments(owner, name))
	must(t, err)
	one := 1
	d, err := client.Do(ctx, n.client, documents.Set, client.NewDocument{Text: "a: 2\n", Type: "yaml", Expect: &one}.Arguments(owner, strings.ToUpper(name)))
	must(t, err)
	if d.Version != 2 || d.Name != name || d.By != "person:admin" {
		t.Errorf("wrote %+v", d)
	}
	if _, err := client.Do(ctx, n.client, documents.Set, client.NewDocument{Text: "a: 3\n", Type: "yaml", Expect: &one}.Arguments(owner, name)); !fault.Is(err, fault.Conflict) {
		t.Errorf("a text made from an old version is taken: %v", err)
	}
	viewer, err := n.logins.Issue(ctx, identity.User{Name: "vic", Role: identity.Viewer})
	must(t, err)
	as := header("Authorization", "Bearer "+viewer)
	schema := schemas(t)
	for path, want := range map[string]string{
		at("/text", owner, name): "Document", "/api/v1/documents": "Documents", at("/history", owner, name): "Documents",
		at("/diff", owner, name): "DocumentDiff", at("/schema", owner, name): "DocumentSchema", at("/text", owner, "none"): "Problem",
		at("/text", "nobody", "x"): "Problem",
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(n.do("GET", path, "", as).body))
		must(t, err)
		if err := schema(want).Validate(value); err != nil {
			t.Error(path, err)
		}
	}
	if got := n.do("GET", at("/resolved", owner, name), "", as); got.body != `{"a":2}` {
		t.Errorf("resolved is %s", got.body)
	}
	for _, op := range []string{"PUT /text", "DELETE /text", "POST /rollback", "PUT /schema", "POST /check"} {
		method, path, _ := strings.Cut(op, " ")
		if got := n.do(method, at(path, owner, name), "", as); got.StatusCode != http.StatusForbidden {
			t.Errorf("a viewer may %s: %d", op, got.StatusCode)
		}
	}
	must(t, client.Tell(ctx, n.client, documents.Delete, documents.Deletion{Key: documents.Key{Owner: owner, Name: name}, Note: "gone"}))
	if d, err = client.Do(ctx, n.client, documents.Rollback, documents.Return{Key: documents.Key{Owner: owner, Name: name}, Version: 1}); err != nil || d.Version != 4 {
		t.Errorf("back: %+v, %v", d, err)
	}
	told := strings.Join(n.told(), "\n")
	for _, want := range []string{"person:admin document.set device/campus/b 1&x=y:odd/ü?#%2f.yaml ok", "document.delete", "document.rollback", "conflict: has version 2, not 1"} {
		if !strings.Contains(told, want) {
			t.Errorf("the audit log does not say %s:\n%s", want, told)
		}
	}
}

func TestAllProblemsOfADocumentAreInTheAnswer(t *testing.T) {
	n := documented(t)
	got := n.do("PUT", at("/schema", "agent/boiler", "config"), `{"schema":"{\"properties\":{\"a\":{\"type\":\"number\"},\"b\":{\"type\":\"string\"}}}"}`, n.bearer())
	if got.StatusCode != http.StatusOK || got.body != `{"problems":[]}` {
		t.Fatal(got.body)
	}
	body := `{"type":"yaml","text":"a: x\nb: 1\n"}`
	p := n.do("PUT", at("/text", "agent/boiler", "config"), body, n.bearer()).problem(t)
	if p.Status != http.StatusBadRequest || len(p.Problems) != 2 || p.Problems[1].Line != 2 || p.Problems[1].Path != "b" {
		t.Errorf("problem is %+v", p)
	}
	check := n.do("POST", at("/check", "agent/boiler", "config"), body, n.bearer())
	if check.StatusCode != http.StatusOK || strings.Count(check.body, `"line"`) != 2 {
		t.Errorf("check says %s", check.body)
	}
	for body, status := range map[string]int{
		`{"type":"yaml"}`: 400, `{"type":"xml","text":""}`: 400, `{"type":"text","text":"` + strings.Repeat("x", store.MaxText+1) + `"}`: 400,
		`{"type":"text","text":"` + strings.Repeat(`\u0001`, store.MaxText) + `"}`: 200,
	} {
		if got := n.do("PUT", at("/text", "agent/boiler", "x"), body, n.bearer()); got.StatusCode != status {
			t.Errorf("%.40s gives %d: %.200s", body, got.StatusCode, got.body)
		}
	}
}
