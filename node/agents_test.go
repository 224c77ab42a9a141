package node_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/api/client"
	"voltbus/bus"
	"voltbus/bus/peer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/agents"
	"voltbus/point"
)

// register makes a key and an agent of it over the API.
func (r *running) register(name string, g identity.Grants) *identity.Key {
	r.t.Helper()
	key, err := identity.OpenKey(filepath.Join(r.t.TempDir(), name+".nk"))
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := client.Do(context.Background(), r.Client, agents.Add, agents.New{Name: name, Public: key.Public(), Grants: g}); err != nil {
		r.t.Fatal(err)
	}
	return key
}

// dial connects to the node's bus; what goes wrong later comes on the channel.
func (r *running) dial(dir string, key bus.Signer) (*peer.Client, chan error, error) {
	r.t.Helper()
	pem, err := os.ReadFile(filepath.Join(dir, "data", identity.TLSFolder, "ca.pem"))
	if err != nil {
		r.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	trouble := make(chan error, 100)
	c, err := peer.Dial(r.BusAddr(), &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}, key, func(err error) { trouble <- err })
	if err == nil {
		r.t.Cleanup(c.Close)
	}
	return c, trouble, err
}

func TestAnAgentIsGrantedNarrowedAndShutOutOverTheAPI(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := run(t, load(t, dir, listenAnywhere+zones))
	ctx := t.Context()
	key := r.register("watch", identity.Grants{})
	c, trouble, err := r.dial(dir, key)
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 1000)
	deliver := func(subject string, _ []byte) { heard <- subject }
	if err := c.Listen("live.scan.site.>", 0, deliver); err != nil {
		t.Fatal(err)
	}
	if err := <-trouble; !strings.Contains(err.Error(), "permissions violation") {
		t.Errorf("without a grant: %v", err)
	}
	g, err := client.Do(ctx, r.Client, agents.ChangeGrants, agents.Change{Agent: agents.Agent{Name: "watch"}, Regranting: operation.Regranting{Grant: identity.Grants{Subscribe: []point.Pattern{"site"}}, Withdraw: identity.Grants{}}})
	if err != nil || len(g.Subscribe) != 1 {
		t.Fatalf("the grants are %+v, %v", g, err)
	}
	if err := c.Listen("live.scan.site.>", 0, deliver); err != nil {
		t.Fatal(err)
	}
	if subject := <-heard; !strings.HasPrefix(subject, "live.scan.site.") {
		t.Errorf("heard %s", subject)
	}
	a, err := client.Do(ctx, r.Client, agents.Get, agents.Agent{Name: "watch"})
	if err != nil || a.Online == nil || a.Online.Out.Messages == 0 || a.Public != key.Public() || a.Revoked != nil {
		t.Errorf("the agent is %+v, %v", a, err)
	}
	if _, err := client.Do(ctx, r.Client, agents.SetGrants, agents.Grants{Agent: agents.Agent{Name: "watch"}, Grants: identity.Grants{}}); err != nil {
		t.Fatal(err)
	}
	if err := <-trouble; !strings.Contains(err.Error(), "permissions violation") {
		t.Errorf("after it was withdrawn: %v", err)
	}
	if _, err := client.Do(ctx, r.Client, agents.Revoke, agents.Agent{Name: "watch"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.dial(dir, key); !fault.Is(err, fault.Unreachable) {
		t.Errorf("a revoked agent returns: %v", err)
	}
	eventually(t, "the audit log has the refusals", func() bool {
		return len(r.told(client.AuditFilter{Action: "refused", Actor: "agent:watch"})) >= 2
	})
	lines := r.told(client.AuditFilter{Action: "refused", Actor: "agent:watch"})
	if want := `agent:watch refused missing: subscribe site/** {"tried":"subscribe","missing":"subscribe site/**","key":"` + key.Public() + `","count":1}`; lines[0] != want {
		t.Errorf("the audit log says %q, want %q", lines[0], want)
	}
	lines = r.told(client.AuditFilter{Action: "grants.set"})
	if want := `person:admin grants.set ok {"before":null,"after":["subscribe site"]}`; len(lines) != 2 || lines[0] != want {
		t.Errorf("the audit log says %q, want %q first", lines, want)
	}
}

func TestAgentsOutliveARestart(t *testing.T) {
	dir := t.TempDir()
	cfg := load(t, dir, listenAnywhere)
	r := run(t, cfg)
	r.register("platform.actuator", identity.Grants{
		Publish: []point.Pattern{"a/**"}, Call: []identity.CallGrant{{Agent: "x", Where: identity.Constraints{"d": {Pattern: "a/*"}}}},
	})
	before, err := client.Do(t.Context(), r.Client, agents.List, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	r.halt()
	r = run(t, cfg)
	after, err := client.Do(t.Context(), r.Client, agents.List, struct{}{})
	if err != nil || len(after.Agents) != 1 || after.Agents[0].Name != "platform.actuator" ||
		strings.Join(after.Agents[0].Grants.Capabilities(), ";") != strings.Join(before.Agents[0].Grants.Capabilities(), ";") {
		t.Errorf("the agents are %+v, %v; before %+v", after, err, before)
	}
	if err := client.Tell(t.Context(), r.Client, agents.Remove, agents.Agent{Name: "platform.actuator"}); err != nil {
		t.Error(err)
	}
	if _, err := client.Do(t.Context(), r.Client, agents.Get, agents.Agent{Name: "platform.actuator"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a removed agent: %v", err)
	}
}

func TestOnlyAnAdministratorGrants(t *testing.T) {
	r := run(t, load(t, t.TempDir(), listenAnywhere))
	r.register("a", identity.Grants{})
	token, err := r.Issue(t.Context(), identity.User{Name: "eve", Role: identity.Engineer})
	if err != nil {
		t.Fatal(err)
	}
	eve, err := client.New(r.HTTPAddr(), token, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, setErr := client.Do(t.Context(), eve, agents.SetGrants, agents.Grants{Agent: agents.Agent{Name: "a"}, Grants: identity.Grants{Administer: true}})
	_, changeErr := client.Do(t.Context(), eve, agents.ChangeGrants, agents.Change{Agent: agents.Agent{Name: "a"}, Regranting: operation.Regranting{Grant: identity.Grants{Administer: true}, Withdraw: identity.Grants{}}})
	_, revokeErr := client.Do(t.Context(), eve, agents.Revoke, agents.Agent{Name: "a"})
	for _, err := range []error{setErr, changeErr, revokeErr, client.Tell(t.Context(), eve, agents.Remove, agents.Agent{Name: "a"})} {
		if !fault.Is(err, fault.Refused) {
			t.Errorf("an engineer gets %v", err)
		}
	}
	if _, err := client.Do(t.Context(), eve, agents.List, struct{}{}); err != nil {
		t.Error(errors.Join(errors.New("an engineer may look"), err))
	}
}
