package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/point"
)

func publicKey(t testing.TB) string {
	t.Helper()
	k, err := identity.OpenKey(filepath.Join(t.TempDir(), "key.nk"))
	if err != nil {
		t.Fatal(err)
	}
	return k.Public()
}

func openRegistry(t testing.TB, dir string) *registry.Agents {
	t.Helper()
	c, err := catalog.Open(t.Context(), dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	r, err := registry.OpenAgents(t.Context(), c, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func calls(agents ...string) identity.Grants {
	var g identity.Grants
	for _, a := range agents {
		g.Call = append(g.Call, identity.CallGrant{Agent: a})
	}
	return g
}

func TestTheRegistryTellsEveryChangeAfterItHolds(t *testing.T) {
	r := openRegistry(t, t.TempDir())
	var told []string
	r.Notify(func(c registry.AgentChange) {
		now, err := r.Agent("a")
		told = append(told, fmt.Sprintf("%s %d→%d %v %v", c.What, len(c.Before.Grants.Call), len(c.After.Grants.Call), now.Active(), err == nil))
	})
	_, addErr := r.Add(t.Context(), "a", publicKey(t), identity.Grants{})
	_, setErr := r.SetGrants(t.Context(), "a", calls("x", "y"))
	_, revokeErr := r.Revoke(t.Context(), "a")
	if err := errors.Join(addErr, setErr, revokeErr, r.Remove(t.Context(), "a")); err != nil {
		t.Fatal(err)
	}
	want := []string{"added 0→0 true true", "granted 0→2 true true", "revoked 2→2 false true", "removed 2→0 true false"}
	if d := cmp.Diff(want, told); d != "" {
		t.Error(d)
	}
	if r.Version() != 5 {
		t.Errorf("the version is %d after 4 changes", r.Version())
	}
}

func TestTheRegistryRefusesWhatIsTakenOrWrong(t *testing.T) {
	r := openRegistry(t, t.TempDir())
	key := publicKey(t)
	if _, err := r.Add(t.Context(), "a", key, identity.Grants{}); err != nil {
		t.Fatal(err)
	}
	bad := identity.Grants{Publish: []point.Pattern{"a*"}}
	for _, tt := range []struct {
		name, agent, key string
		grants           identity.Grants
		kind             fault.Kind
	}{
		{"a name that is taken", "a", publicKey(t), identity.Grants{}, fault.Conflict},
		{"a key that is taken", "b", key, identity.Grants{}, fault.Conflict},
		{"the node's name", "node", publicKey(t), identity.Grants{}, fault.Invalid},
		{"a name with a slash", "a/b", publicKey(t), identity.Grants{}, fault.Invalid},
		{"a name of 65 letters", strings.Repeat("a", 65), publicKey(t), identity.Grants{}, fault.Invalid},
		{"no key", "b", "UABC", identity.Grants{}, fault.Invalid},
		{"wrong grants", "b", publicKey(t), bad, fault.Invalid},
	} {
		if _, err := r.Add(t.Context(), tt.agent, tt.key, tt.grants); !fault.Is(err, tt.kind) {
			t.Errorf("%s gives %v, want %v", tt.name, err, tt.kind)
		}
	}
	if _, err := r.SetGrants(t.Context(), "a", bad); !fault.Is(err, fault.Invalid) {
		t.Errorf("wrong grants are set: %v", err)
	}
	if _, err := r.SetGrants(t.Context(), "b", identity.Grants{}); !fault.Is(err, fault.NotFound) {
		t.Errorf("grants of nobody are set: %v", err)
	}
	if err := r.Remove(t.Context(), "b"); !fault.Is(err, fault.NotFound) {
		t.Errorf("nobody is removed: %v", err)
	}
}

func TestCallersAreThoseWithAGrantAndAdministrators(t *testing.T) {
	dir := t.TempDir()
	r := openRegistry(t, dir)
	for name, g := range map[string]identity.Grants{
		"boiler": {}, "tuner": calls("boiler", "pump"), "root": {Administer: true}, "other": calls("pump"), "gone": calls("boiler"),
	} {
		if _, err := r.Add(t.Context(), name, publicKey(t), g); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Revoke(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	want := []registry.Caller{{Name: "root", Administer: true}, {Name: "tuner", Call: []identity.CallGrant{{Agent: "boiler"}}}}
	if d := cmp.Diff(want, r.Callers("boiler")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, openRegistry(t, dir).Callers("boiler")); d != "" {
		t.Errorf("after a restart: %s", d)
	}
	if _, err := r.SetGrants(t.Context(), "tuner", calls("pump")); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want[:1], r.Callers("boiler")); d != "" {
		t.Errorf("after the grant was withdrawn: %s", d)
	}
}

func TestGrantsReadBackAsTheyWereWritten(t *testing.T) {
	const text = `{"publish":["a/**"],"command":[{"path":"b","level":8,"min":10,"max":30}],` +
		`"call":[{"agent":"x","method":"m","where":{"d":"c/**","l":{"min":1},"v":["on",2,true]}}],"hold":[{"name":"tune"}],"administer":true}`
	var g identity.Grants
	if err := json.Unmarshal([]byte(text), &g); err != nil {
		t.Fatal(err)
	}
	if problems := g.Validate(); len(problems) > 0 {
		t.Error(problems)
	}
	if b, err := json.Marshal(g); err != nil || string(b) != text {
		t.Errorf("it reads back as %s, %v", b, err)
	}
	for _, bad := range []string{`{"d":{"low":1}}`, `{"d":3}`, `{"d":null}`, `{"d":{"min":"x"}}`} {
		var w identity.Constraints
		if err := json.Unmarshal([]byte(bad), &w); err == nil {
			t.Errorf("%s is taken for a condition", bad)
		}
	}
}

// BenchmarkAuthenticate finds who has a key among 10,000 identities, as each new connection does.
func BenchmarkAuthenticate(b *testing.B) {
	list := make(crowd, 10_000)
	for i := range list {
		list[i] = registry.Agent{Name: fmt.Sprintf("agent%05d", i), Public: fmt.Sprintf("U%055d", i), Grants: calls("x", "y")}
	}
	r, err := registry.OpenAgents(b.Context(), list, time.Now)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, known := r.ByKey(list[i].Public); !known {
			b.Fatal("a stranger")
		}
		i = (i + 4999) % len(list)
	}
}

// crowd is agents that are never changed.
type crowd []registry.Agent

func (c crowd) Agents(context.Context) ([]registry.Agent, error) { return c, nil }
func (crowd) PutAgent(context.Context, registry.Agent) error     { return errors.ErrUnsupported }
func (crowd) DropAgent(context.Context, string) error            { return errors.ErrUnsupported }
